import { memo, useEffect, useMemo, useRef, useState } from "react";
import { isForeign } from "../hits";
import { useFormat, useWords } from "../i18n";
import { NO_MODEL } from "../models/modelChoices";
import { Button, IconButton, Notice, ProblemText } from "../ui";
import { CopyButton } from "../ui/CopyButton";
import { Markdown } from "../ui/Markdown";
import { refreshStored } from "./conversationLoading";
import { LearnedNote } from "./LearnedNote";
import { undoNote } from "./learnedNotes";
import { MessageLink } from "./MessageLink";
import { ForgottenNote, Origin } from "./Origin";
import { Question } from "./Question";
import { findReferences } from "./references";
import { say, sayAgain } from "./sending";
import { ToolLine } from "./ToolLine";
import { getAnswer, isLongWait, isUnderWay, type Turn } from "./turns";
import { VersionSwitcher } from "./VersionSwitcher";
import { WhyAnswer } from "./WhyAnswer";

interface TurnViewProps {
  turn: Turn;
  /** The conversation that it is part of. */
  conversation: string;
  isPrivate: boolean;
  /** An answer is on its way there. */
  isBusy: boolean;
  /** Nothing was said after it. */
  isLast: boolean;
  /** Something is to be announced: an answer that is whole, or that the wait for it is long. */
  onWhole: (text: string) => void;
}

/** A message, its answer, and beside it why it is as it is. */
export const TurnView = memo(function TurnView(props: TurnViewProps) {
  const { turn, isPrivate } = props;
  return (
    <article className="chat-turn">
      {(turn.question || turn.asked) && <Question {...props} />}
      {hasAnswer(turn) && <AnswerView {...props} />}
      {turn.shaped ? (
        <WhyAnswer turn={turn} shaped={turn.shaped} isPrivate={isPrivate} />
      ) : (
        <div className="chat-shaped" />
      )}
    </article>
  );
});

/** Whether there is anything to show: what others say may never have been answered. */
function hasAnswer({ state, pieces, notes }: Turn): boolean {
  return state !== "done" || pieces.length > 0 || notes.length > 0;
}

function AnswerView(props: TurnViewProps) {
  const { turn, conversation, isBusy, isLast, onWhole } = props;
  const words = useWords().chat;
  const text = useRef<HTMLDivElement>(null);
  const said = turn.replied.filter(({ role }) => role === "assistant");
  const foreign = said.find(isForeign);
  const other = said.find(({ versions }) => versions.length > 1);
  const ids = turn.replied.flatMap(({ id }) => id ?? []).join(" ");
  const isGoing = isUnderWay(turn);
  const wasGoing = useRef(isGoing);
  useEffect(() => {
    if (wasGoing.current && !isGoing) onWhole(text.current!.innerText);
    wasGoing.current = isGoing;
  }, [isGoing, onWhole]);
  const last = turn.pieces.at(-1);
  const links = useMemo(() => findReferences(turn.shaped), [turn.shaped]);
  const undo = async (change: number) => {
    await undoNote(conversation, turn.id, change);
    await refreshStored(conversation, true);
  };
  const isForgotten = said.some(({ hidden }) => hidden);
  return (
    <div
      className={`chat-answer${isForgotten ? " chat-forgotten" : ""}`}
      aria-busy={isGoing}
      data-message={ids || undefined}
      tabIndex={-1}
    >
      <h2 className="visually-hidden">{words.answer}</h2>
      {foreign && <Origin of={foreign} />}
      <div ref={text} className="chat-answer-text">
        {turn.pieces.map((piece, at) =>
          piece.kind === "tool" ? (
            <ToolLine key={piece.id} tool={piece} isGoing={isGoing} />
          ) : (
            <Markdown key={at} text={piece.text} isGrowing={isGoing && piece === last} links={links} />
          ),
        )}
        {isGoing && last?.kind !== "text" && (
          <Thinking model={turn.model} onLong={onWhole} />
        )}
        {turn.notes.map((note) => (
          <LearnedNote key={`${note.action} ${note.change} ${note.fact.id}`} note={note} onUndo={undo} />
        ))}
        <TurnEnding {...props} />
      </div>
      {turn.asksToKeep && isLast && (
        <Button small disabled={isBusy} onClick={() => void say(conversation, false, words.keepSaid, [])}>
          {words.keep}
        </Button>
      )}
      {isForgotten && !turn.asked?.hidden && <ForgottenNote />}
      {other && <VersionSwitcher conversation={conversation} of={other} isBusy={isBusy} />}
      {isGoing ? <p className="chat-small" /> : <SmallPrint {...props} />}
    </div>
  );
}

interface ThinkingProps {
  /** The model that was asked; null until that is known. */
  model: string | null;
  /** It takes long, which is announced once. */
  onLong: (text: string) => void;
}

/** That no word came yet; after a while, why: most of the wait for a small machine's model is for reading. */
function Thinking({ model, onLong }: ThinkingProps) {
  const words = useWords().chat;
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const since = Date.now();
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - since) / 1000)), 1000);
    return () => clearInterval(timer);
  }, []);
  const isLong = isLongWait(seconds, model);
  useEffect(() => {
    if (isLong) onLong(words.reading);
  }, [isLong, onLong, words]);
  return (
    <p className="chat-thinking">
      <span aria-hidden="true" />
      {isLong ? words.readingFor(seconds) : words.thinking}
    </p>
  );
}

/** How an answer ended that did not end well. */
function TurnEnding({ turn, conversation, isBusy, isLast }: TurnViewProps) {
  const words = useWords();
  if (turn.state === "elsewhere") {
    return (
      <p className="chat-thinking">
        <span aria-hidden="true" />
        {words.chat.answeredElsewhere}
      </p>
    );
  }
  if (turn.state !== "failed" && turn.state !== "stopped") return null;
  const again = (
    <Button small icon="refresh" disabled={isBusy} onClick={() => sayAgain(conversation, turn.id)}>
      {words.common.tryAgain}
    </Button>
  );
  if (turn.state === "stopped") {
    return (
      <p className="chat-stopped">
        {turn.pieces.length ? words.chat.stopped : words.chat.stoppedEarly} {isLast && again}
      </p>
    );
  }
  return (
    <Notice tone="danger">
      <p>
        <Failure turn={turn} />
      </p>
      <p className="chat-again">{again}</p>
    </Notice>
  );
}

/** Why there is no answer; of an earlier visit only that it broke off is known. */
function Failure({ turn }: { turn: Turn }) {
  const words = useWords().chat;
  const { problem, pieces, model } = turn;
  if (!problem) return pieces.length ? words.failed : words.failedEarly;
  return problem.isUnreachable && model !== null ? words.brokenOff : <ProblemText problem={problem} />;
}

function SmallPrint({ turn, conversation, isPrivate, isBusy, isLast }: TurnViewProps) {
  const { chat: words, models } = useWords();
  const format = useFormat();
  const { usage } = turn;
  const answer = getAnswer(turn);
  if (!answer) return null;
  const used = usage && usage.inputTokens + usage.outputTokens;
  const parts = [
    turn.model === NO_MODEL ? models.noModel : turn.model,
    usage && words.usage(format.number(usage.inputTokens), format.number(usage.outputTokens)),
    used && usage.contextWindow && words.context(format.percent(used / usage.contextWindow)),
  ].filter(Boolean);
  return (
    <p className="chat-small">
      <CopyButton text={answer} label={words.copyAnswer} />
      {isLast && !isPrivate && canRepeat(turn) && (
        <IconButton
          small
          icon="refresh"
          label={words.regenerate}
          disabled={isBusy}
          onClick={() => sayAgain(conversation, turn.id)}
        />
      )}
      <MessageTime turn={turn} conversation={conversation} />
      {parts.length > 0 && <span>·</span>}
      {parts.map((part, at) => (
        <span key={part}>{at < parts.length - 1 ? `${part} ·` : part}</span>
      ))}
    </p>
  );
}

/** Whether the same can be asked again: of an earlier visit the documents are not there any more. */
function canRepeat({ state, question, replied, documents }: Turn): boolean {
  const isBeside = replied.some(({ trust }) => trust === "document");
  return state === "done" && question !== "" && (!isBeside || documents.length > 0);
}

/** When it was said; that is also the link to it. */
function MessageTime({ turn, conversation }: { turn: Turn; conversation: string }) {
  const words = useWords().chat;
  const format = useFormat();
  if (!turn.time) return null;
  const time = <time dateTime={turn.time}>{format.time(turn.time)}</time>;
  const message = turn.asked?.id ?? turn.replied[0]?.id ?? null;
  if (message === null) return time;
  return (
    <MessageLink className="chat-time" conversation={conversation} message={message} title={words.linkToMessage}>
      {time}
    </MessageLink>
  );
}
