import { Fragment, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { countDays } from "../calendar";
import { useFormat, useWords } from "../i18n";
import { buildAddress, go } from "../route";
import { Button, EmptyState, IconButton, Notice, ProblemNotice, Skeleton, Spinner, useToasts } from "../ui";
import { loadEarlier, loadLater, openConversation, showVersion } from "./conversationLoading";
import { hasMessage } from "./storedTurns";
import { TurnView } from "./TurnView";
import type { Thread } from "./threads";
import { isUnderWay, type Turn } from "./turns";
import { useScroll } from "./useScroll";

/** How far from what is seen more is loaded. */
const NEAR = "900px";
/** How long an answer stays where screen readers take it from; they have heard of it by then. */
const ANNOUNCED_MS = 1000;

/** What was said, the newest at the bottom, where one stays unless one scrolls away. */
export function ThreadView({ thread, welcome }: { thread: Thread; welcome: ReactNode }) {
  const words = useWords().chat;
  const { region, inner, isAway, toBottom } = useScroll(thread);
  const [announced, setAnnounced] = useState("");
  useEffect(() => {
    if (!announced) return;
    const timer = setTimeout(() => setAnnounced(""), ANNOUNCED_MS);
    return () => clearTimeout(timer);
  }, [announced]);
  const toNewest = () => {
    if (thread.hasLater) void openConversation(thread.key, null, true);
    else toBottom();
  };
  return (
    <div className="chat-thread">
      <section ref={region} className="chat-scroll" aria-label={words.region} tabIndex={0}>
        <div ref={inner} className="chat-column">
          {thread.isPrivate && (
            <Notice icon="mask">
              <p>{words.privateNotice}</p>
            </Notice>
          )}
          <ThreadContent thread={thread} region={region} welcome={welcome} onWhole={setAnnounced} />
        </div>
      </section>
      {/* Not the answer itself: some screen readers read text that grows again with each piece. */}
      <p className="visually-hidden" role="status">
        {announced}
      </p>
      {(isAway || thread.hasLater) && (
        <IconButton className="chat-newest" tone="plain" icon="chevronDown" label={words.newest} onClick={toNewest} />
      )}
    </div>
  );
}

interface ThreadContentProps {
  thread: Thread;
  region: RefObject<HTMLElement | null>;
  /** What is shown where nothing was said yet. */
  welcome: ReactNode;
  onWhole: (text: string) => void;
}

function ThreadContent({ thread, region, welcome, onWhole }: ThreadContentProps) {
  if (thread.state === "loading") return <Skeleton lines={6} />;
  if (thread.state === "failed")
    return <ProblemNotice problem={thread.problem} onRetry={() => void openConversation(thread.key, null, true)} />;
  if (thread.state === "missing") return <Missing />;
  if (!thread.turns.length) return thread.isPrivate ? null : welcome;
  const { key, isPrivate, turns } = thread;
  const isBusy = isUnderWay(turns.at(-1));
  return (
    <>
      {thread.hasEarlier && <RemainingMessages thread={thread} region={region} which="earlier" />}
      {turns.map((turn, at) => (
        <Fragment key={turn.id}>
          <Day turn={turn} before={turns[at - 1]} />
          <TurnView
            turn={turn}
            conversation={key}
            isPrivate={isPrivate}
            isBusy={isBusy}
            isLast={at === turns.length - 1 && !thread.hasLater}
            onWhole={onWhole}
          />
        </Fragment>
      ))}
      {thread.hasLater && <RemainingMessages thread={thread} region={region} which="later" />}
      <OtherVersionNotice thread={thread} />
    </>
  );
}

function Missing() {
  const words = useWords().chat;
  const begin = (
    <Button icon="plus" onClick={() => go(buildAddress("chat"))}>
      {words.newConversation}
    </Button>
  );
  return (
    <EmptyState icon="chat" title={words.missing} actions={begin}>
      <p>{words.missingText}</p>
    </EmptyState>
  );
}

interface RemainingMessagesProps {
  thread: Thread;
  region: RefObject<HTMLElement | null>;
  which: "earlier" | "later";
}

/** What is not loaded yet: it comes as soon as one scrolls near to it, or at a press. */
function RemainingMessages({ thread, region, which }: RemainingMessagesProps) {
  const words = useWords().chat;
  const place = useRef<HTMLDivElement>(null);
  const { key, isLoading, loadProblem, turns } = thread;
  const load = which === "earlier" ? loadEarlier : loadLater;
  const edge = which === "earlier" ? turns[0]?.id : turns.at(-1)?.id;

  useEffect(() => {
    if (loadProblem || !place.current) return;
    const root = region.current;
    const near = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && void load(key), {
      root,
      rootMargin: `${NEAR} 0px`,
    });
    near.observe(place.current);
    return () => near.disconnect();
  }, [key, load, region, loadProblem, edge, turns.length]);

  return (
    <div ref={place} className="chat-rest">
      {isLoading === which ? (
        <p>
          <Spinner /> {words.loading[which]}
        </p>
      ) : (
        <>
          {loadProblem && <p className="chat-rest-problem">{words.loading.failed}</p>}
          <Button small tone="quiet" icon={loadProblem ? "refresh" : undefined} onClick={() => void load(key)}>
            {words.show[which]}
          </Button>
        </>
      )}
    </div>
  );
}

/** The day on which a turn was, where it is another one than that of the turn before. */
function Day({ turn, before }: { turn: Turn; before: Turn | undefined }) {
  const words = useWords().chat;
  const format = useFormat();
  if (!turn.time) return null;
  const days = countDays(before?.time ? new Date(before.time) : new Date(), new Date(turn.time));
  if (days === 0) return null;
  return (
    <p className="chat-day">
      <span>
        <time dateTime={turn.time}>{format.date(turn.time)}</time>
        {days > 1 && ` · ${words.daysLater(days)}`}
      </span>
    </p>
  );
}

/** A message that was to be shown is in a version that is not: it can be. */
function OtherVersionNotice({ thread }: { thread: Thread }) {
  const words = useWords().chat;
  const toasts = useToasts();
  const message = thread.aim?.message;
  if (message === undefined || hasMessage(thread.turns, message)) return null;
  const show = () => showVersion(thread.key, message).catch(toasts.fail);
  return (
    <Notice icon="history">
      <p>{words.otherVersion}</p>
      <p className="chat-again">
        <Button small onClick={() => void show()}>
          {words.showOtherVersion}
        </Button>
      </p>
    </Notice>
  );
}
