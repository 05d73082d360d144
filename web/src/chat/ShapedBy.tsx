import { useId, useMemo, useState } from "react";
import { describeScore, getHitAddress, isForeign } from "../hits";
import { useFormat, useWords, type Words } from "../i18n";
import { buildAddress } from "../route";
import { Button, Icon, type IconName } from "../ui";
import { MessageLink } from "./MessageLink";
import { findNearest } from "./nearestFacts";
import { PromptDialog } from "./PromptDialog";
import { getAnswer, type Shaped, type Turn, type UsedFact, type UsedHit } from "./turns";

const FEW = 3;
const FEW_FOUND = 2;
const QUERY_CHARS = 60;
const ICONS: Record<UsedHit["source"], IconName> = {
  memory: "leaf",
  older: "leaf",
  daily: "calendar",
  conversations: "chat",
};

interface ShapedByProps {
  turn: Turn;
  shaped: Shaped;
  isPrivate: boolean;
}

/** What shaped an answer: of all memories in the prompt those that share words with it, and what was found. */
export function ShapedBy({ turn, shaped, isPrivate }: ShapedByProps) {
  const words = useWords().chat;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const isDone = turn.state === "done";
  const close = useMemo(
    () => findNearest(shaped.facts, turn.question, isDone ? getAnswer(turn) : ""),
    [shaped.facts, turn.question, isDone],
  );
  const count = Math.min(close.length, FEW) + shaped.hits.length;
  const isNothing = !shaped.facts.length && !shaped.hits.length;
  const none = isPrivate ? words.privateUsed : words.nothingUsed;
  return (
    <div role="group" className={`chat-shaped${isOpen ? " chat-shaped-open" : ""}`} aria-label={words.shapedBy}>
      <button
        type="button"
        className="chat-shaped-toggle"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="leaf" />
        {count ? words.shapedCount(count) : words.shapedBy}
        <Icon name="chevronDown" />
      </button>
      <div id={id} className="chat-shaped-body">
        <h3>{words.shapedBy}</h3>
        {isNothing && <p className="chat-none">{none}</p>}
        <Facts facts={shaped.facts} close={close} />
        <Hits hits={shaped.hits} />
        {shaped.leftOut.map((text) => (
          <p key={text} className="chat-left-out" lang="en">
            {text}
          </p>
        ))}
        {turn.prompt && <ShowPrompt turn={turn} />}
      </div>
    </div>
  );
}

function Facts({ facts, close }: { facts: UsedFact[]; close: UsedFact[] }) {
  const words = useWords().chat;
  const [isAll, setAll] = useState(false);
  const few = close.slice(0, FEW);
  const others = facts.filter((fact) => !few.includes(fact));
  const more = few.length ? words.moreInPrompt(others.length) : words.inPrompt(others.length);
  return (
    <>
      {few.length > 0 && <p className="chat-shaped-head">{words.nearest}</p>}
      {(few.length > 0 || isAll) && (
        <ul>
          {(isAll ? [...few, ...others] : few).map((fact) => (
            <li key={fact.id}>
              <FactView fact={fact} />
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <button type="button" className="chat-more" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? words.fewer : more}
        </button>
      )}
    </>
  );
}

function FactView({ fact }: { fact: UsedFact }) {
  const words = useWords().chat;
  if (fact.content === null) return <p className="chat-used chat-none">{words.goneFact}</p>;
  const query = new URLSearchParams({ q: fact.content.slice(0, QUERY_CHARS) });
  const address = fact.line
    ? `${buildAddress("memory", "file")}?line=${fact.line}`
    : `${buildAddress("memory")}?${query}`;
  return (
    <a className="chat-used" href={address}>
      <Icon name="leaf" />
      <span className="chat-used-text">{fact.content}</span>
    </a>
  );
}

function Hits({ hits }: { hits: UsedHit[] }) {
  const words = useWords().chat;
  const [isAll, setAll] = useState(false);
  const more = hits.length - FEW_FOUND;
  if (!hits.length) return null;
  return (
    <>
      <p className="chat-shaped-head">{words.found}</p>
      <ul>
        {(isAll ? hits : hits.slice(0, FEW_FOUND)).map((hit, at) => (
          <li key={at}>
            <HitView hit={hit} />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button type="button" className="chat-more" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? words.fewer : words.moreFound(more)}
        </button>
      )}
    </>
  );
}

function HitView({ hit }: { hit: UsedHit }) {
  const { chat, hits: words } = useWords();
  const format = useFormat();
  const place = [
    words.sources[hit.source],
    hit.date && format.shortDate(hit.date),
    hit.trust && isForeign({ trust: hit.trust }) && words.foreign,
    hit.shown === false && words.notShown,
  ];
  const inside = (
    <>
      <Icon name={ICONS[hit.source]} />
      <span className="chat-used-text">{hit.text ?? nameHit(hit, chat)}</span>
      <span className="chat-used-meta">
        {place.filter(Boolean).join(" · ")}
        <Score hit={hit} />
      </span>
    </>
  );
  const { conversation, message } = hit;
  if (conversation && message) {
    return (
      <MessageLink className="chat-used" conversation={conversation} message={message}>
        {inside}
      </MessageLink>
    );
  }
  const address = getHitAddress(hit);
  return address ? (
    <a className="chat-used" href={address}>
      {inside}
    </a>
  ) : (
    <div className="chat-used">{inside}</div>
  );
}

/** Name a hit of which only the place is known. */
function nameHit({ source, line, file, time }: UsedHit, words: Words["chat"]): string {
  if (source === "conversations") return words.aMessage;
  return line && !time ? words.line(line) : file;
}

/** How well it fits, and whether by its words or by its meaning. */
function Score({ hit }: { hit: UsedHit }) {
  const words = useWords().hits;
  const format = useFormat();
  if (typeof hit.score !== "number") return null;
  const score = format.percent(Math.min(hit.score, 1));
  const why = describeScore(hit, words, format);
  const by = [(hit.bm25 ?? 0) > 0 && words.byWords, (hit.vector ?? 0) > 0 && words.byMeaning];
  return (
    <span className="chat-score" title={why}>
      <span className="chat-score-track" aria-hidden="true">
        <span style={{ width: score }} />
      </span>
      <span className="visually-hidden">{why}</span>
      <span aria-hidden="true">{by.filter(Boolean).join(" + ")}</span>
    </span>
  );
}

function ShowPrompt({ turn }: { turn: Turn }) {
  const words = useWords().chat;
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  const prompt = turn.prompt!;
  return (
    <div className="chat-show-prompt">
      <Button small icon="eye" onClick={() => setOpen(true)}>
        {words.showPrompt}
      </Button>
      <span>{words.tokens(format.number(prompt.tokens))}</span>
      {isOpen && <PromptDialog prompt={prompt} question={turn.question} onClose={() => setOpen(false)} />}
    </div>
  );
}
