import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useWords } from "../i18n";
import { go, to } from "../route";
import { Button, EmptyState, IconButton, Notice, ProblemNotice, Skeleton } from "../ui";
import { isUnderWay } from "./thread";
import { open, type Thread } from "./threads";
import { TurnView } from "./TurnView";
import { Welcome } from "./Welcome";

const NEAR_PX = 48;
const LEAST_PX = 2;

/** What was said, the newest at the bottom, where one stays unless one scrolls away. */
export function ThreadView({ thread, onPick }: { thread: Thread; onPick: (example: string) => void }) {
  const words = useWords().chat;
  const { region, inner, isAway, toBottom } = useBottom(thread.turns.length);
  return (
    <div className="chat-thread">
      <section ref={region} className="chat-scroll" aria-label={words.region} tabIndex={0}>
        <div ref={inner} className="chat-column">
          {thread.isPrivate && (
            <Notice icon="mask">
              <p>{words.privateNotice}</p>
            </Notice>
          )}
          <Inside thread={thread} onPick={onPick} />
        </div>
      </section>
      {isAway && <IconButton className="chat-newest" tone="plain" icon="chevronDown" label={words.newest} onClick={toBottom} />}
    </div>
  );
}

function Inside({ thread, onPick }: { thread: Thread; onPick: (example: string) => void }) {
  const words = useWords().chat;
  if (thread.state === "loading") return <Skeleton lines={6} />;
  if (thread.state === "failed") return <ProblemNotice problem={thread.problem} onRetry={() => void open(thread.key, true)} />;
  if (thread.state === "missing") {
    const begin = (
      <Button icon="plus" onClick={() => go(to("chat"))}>
        {words.newConversation}
      </Button>
    );
    return (
      <EmptyState icon="chat" title={words.missing} actions={begin}>
        <p>{words.missingText}</p>
      </EmptyState>
    );
  }
  if (!thread.turns.length) return thread.isPrivate ? null : <Welcome onPick={onPick} />;
  const { key, isPrivate } = thread;
  const isBusy = isUnderWay(thread.turns.at(-1));
  return thread.turns.map((turn) => (
    <TurnView key={turn.id} turn={turn} conversation={key} isPrivate={isPrivate} isBusy={isBusy} />
  ));
}

/** Stay at the bottom while what is above it grows, unless somebody has scrolled up to read. */
function useBottom(turns: number) {
  const region = useRef<HTMLElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const isHeld = useRef(false);
  const hasTurns = turns > 0;
  const [isAway, setAway] = useState(false);

  const toBottom = () => {
    isHeld.current = true;
    region.current?.scrollTo({ top: region.current.scrollHeight });
  };
  useLayoutEffect(() => {
    if (turns) toBottom();
  }, [turns]);
  useEffect(() => {
    const { current } = region;
    if (!hasTurns || !current || !inner.current) return;
    let before = current.scrollTop;
    const look = () => {
      const below = current.scrollHeight - current.scrollTop - current.clientHeight;
      const isUp = current.scrollTop < before;
      before = current.scrollTop;
      isHeld.current = below < (isUp ? LEAST_PX : NEAR_PX);
      setAway(below >= NEAR_PX);
    };
    const grown = new ResizeObserver(() => (isHeld.current ? toBottom() : look()));
    grown.observe(inner.current);
    grown.observe(current);
    current.addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      current.removeEventListener("scroll", look);
    };
  }, [hasTurns]);
  return { region, inner, isAway, toBottom };
}
