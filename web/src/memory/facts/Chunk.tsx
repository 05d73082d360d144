import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

/** So far from what is seen, rows are drawn already. */
const MARGIN = "800px 0px";
/** How high a row is, as the last one that was drawn; until then, a guess. */
let rowHeight = 46;

interface ChunkProps {
  rows: number;
  /** It is drawn at once, because it is at the top or because the focus goes there. */
  isNeeded: boolean;
  children: () => ReactNode;
}

/** Rows that are drawn only while somebody may see them; else their room is kept free. */
export function Chunk({ rows, isNeeded, children }: ChunkProps) {
  const box = useRef<HTMLDivElement>(null);
  const height = useRef<number | null>(null);
  const [isNear, setNear] = useState(false);
  const isDrawn = isNear || isNeeded;

  useEffect(() => {
    const watcher = new IntersectionObserver(([seen]) => setNear(seen!.isIntersecting), { rootMargin: MARGIN });
    watcher.observe(box.current!);
    return () => watcher.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!isDrawn || !box.current) return;
    height.current = box.current.offsetHeight;
    rowHeight = height.current / rows;
  });
  return (
    <div ref={box} className="fact-chunk" style={isDrawn ? undefined : { height: height.current ?? rows * rowHeight }}>
      {isDrawn && children()}
    </div>
  );
}
