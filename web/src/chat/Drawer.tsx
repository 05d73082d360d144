import { type MouseEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { useWords } from "../i18n";
import { IconButton } from "../ui";

interface DrawerProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** What stands at the side on a wide screen, drawn out over a narrow one. */
export function Drawer({ title, onClose, children }: DrawerProps) {
  const words = useWords();
  const id = useId();
  const drawer = useRef<HTMLDialogElement>(null);

  useEffect(() => drawer.current?.showModal(), []);

  const close = () => drawer.current?.close();
  const closeOutside = (event: MouseEvent) => {
    if (event.target === drawer.current) close();
  };
  return (
    <dialog ref={drawer} className="chat-drawer" aria-labelledby={id} onClose={onClose} onMouseDown={closeOutside}>
      <div className="chat-drawer-head">
        <h2 id={id}>{title}</h2>
        <IconButton icon="close" label={words.common.close} onClick={close} />
      </div>
      {children}
    </dialog>
  );
}
