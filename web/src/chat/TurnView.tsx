import { memo } from "react";
import { useFormat, useWords } from "../i18n";
import { Button, Icon, Notice, ProblemText } from "../ui";
import { CopyButton } from "../ui/CopyButton";
import { Markdown } from "../ui/Markdown";
import { LearntNote } from "./LearntNote";
import { ShapedBy } from "./ShapedBy";
import { answerOf, isUnderWay, type Turn } from "./thread";
import { sayAgain, takeBack } from "./threads";
import { ToolLine } from "./ToolLine";

interface TurnViewProps {
  turn: Turn;
  /** The conversation that it is part of. */
  conversation: string;
  isPrivate: boolean;
  /** An answer is on its way there. */
  isBusy: boolean;
}

/** A message, its answer, and beside it what shaped it. */
export const TurnView = memo(function TurnView({ turn, isPrivate, ...rest }: TurnViewProps) {
  return (
    <article className="chat-turn">
      {turn.question && <Question turn={turn} />}
      <AnswerView turn={turn} {...rest} />
      {turn.shaped ? <ShapedBy turn={turn} shaped={turn.shaped} isPrivate={isPrivate} /> : <div className="chat-shaped" />}
    </article>
  );
});

function Question({ turn }: { turn: Turn }) {
  const words = useWords().chat;
  const names = turn.documents.map(({ name }) => name).join(", ");
  return (
    <div className="chat-question">
      <h2 className="visually-hidden">{words.you}</h2>
      <p>{turn.question}</p>
      {names && (
        <p className="chat-with">
          <Icon name="file" /> {words.withDocuments(names)}
        </p>
      )}
    </div>
  );
}

type AnswerProps = Omit<TurnViewProps, "isPrivate">;

function AnswerView({ turn, conversation, isBusy }: AnswerProps) {
  const words = useWords().chat;
  const isGoing = isUnderWay(turn);
  const last = turn.pieces.at(-1);
  const undo = (change: number) => takeBack(conversation, turn.id, change);
  return (
    <div className="chat-answer" aria-live={turn.model ? "polite" : undefined} aria-busy={isGoing}>
      <h2 className="visually-hidden">{words.answer}</h2>
      {turn.pieces.map((piece, at) =>
        piece.kind === "tool" ? (
          <ToolLine key={piece.id} tool={piece} isGoing={isGoing} />
        ) : (
          <Markdown key={at} text={piece.text} isGrowing={isGoing && piece === last} />
        ),
      )}
      {isGoing && last?.kind !== "text" && (
        <p className="chat-thinking">
          <span aria-hidden="true" />
          {words.thinking}
        </p>
      )}
      {turn.notes.map((note) => (
        <LearntNote key={`${note.action} ${note.change} ${note.fact.id}`} note={note} onUndo={undo} />
      ))}
      <Ending turn={turn} conversation={conversation} isBusy={isBusy} />
      {isGoing ? <p className="chat-small" /> : <SmallPrint turn={turn} />}
    </div>
  );
}

/** How an answer ended that did not end well. */
function Ending({ turn, conversation, isBusy }: AnswerProps) {
  const words = useWords();
  if (turn.state !== "failed" && turn.state !== "stopped") return null;
  const again = (
    <Button small icon="refresh" disabled={isBusy} onClick={() => sayAgain(conversation, turn.id)}>
      {words.common.tryAgain}
    </Button>
  );
  if (turn.state === "stopped") {
    const isEarly = !turn.pieces.length;
    return (
      <p className="chat-stopped">
        {isEarly ? words.chat.stoppedEarly : words.chat.stopped} {isEarly && again}
      </p>
    );
  }
  const isCut = turn.problem?.isUnreachable && turn.model !== null;
  return (
    <Notice tone="danger">
      <p>{isCut ? words.chat.brokenOff : <ProblemText problem={turn.problem} />}</p>
      <p className="chat-again">{again}</p>
    </Notice>
  );
}

function SmallPrint({ turn }: { turn: Turn }) {
  const words = useWords().chat;
  const format = useFormat();
  const { usage } = turn;
  const answer = answerOf(turn);
  if (!answer) return null;
  const used = usage && usage.inputTokens + usage.outputTokens;
  const parts = [
    turn.time && format.time(turn.time),
    turn.model,
    usage && words.usage(format.number(usage.inputTokens), format.number(usage.outputTokens)),
    used && usage.contextWindow && words.context(format.percent(used / usage.contextWindow)),
  ];
  return (
    <p className="chat-small">
      <CopyButton text={answer} label={words.copyAnswer} />
      {parts.filter(Boolean).join(" · ")}
    </p>
  );
}
