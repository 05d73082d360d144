import { useId, useMemo, useState } from "react";
import { describeScore, getHitAddress, isForeign } from "../hits";
import { useFormat, useWords, type Words } from "../i18n";
import { rephrase } from "../status/phrases";
import { Button, Icon, type IconName } from "../ui";
import { MessageLink } from "./MessageLink";
import { PromptDialog } from "./PromptDialog";
import { explainUncited, type Shaped, type AnswerSource, splitSources } from "./sources";
import type { Turn, UsedHit } from "./turns";
import { UsedFactView } from "./UsedFactView";

const ICONS: Record<UsedHit["source"], IconName> = {
  memory: "leaf",
  older: "leaf",
  daily: "calendar",
  conversations: "chat",
};

const LEAST_SCORE = 0.005;

interface WhyAnswerProps {
  turn: Turn;
  shaped: Shaped;
  isPrivate: boolean;
}

/** Why an answer is as it is: what it rests on, and what else was in its prompt. */
export function WhyAnswer({ turn, shaped, isPrivate }: WhyAnswerProps) {
  const words = useWords().chat;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const split = useMemo(() => splitSources(shaped), [shaped]);
  const { cited, others } = split;
  const uncited = explainUncited(split, turn);
  const none = isPrivate ? words.privateUsed : words.nothingUsed;
  return (
    <div role="group" className={`chat-shaped${isOpen ? " chat-shaped-open" : ""}`} aria-label={words.why}>
      <button
        type="button"
        className="chat-shaped-toggle"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="leaf" />
        {cited.length ? words.whyCount(cited.length) : words.why}
        <Icon name="chevronDown" />
      </button>
      <div id={id} className="chat-shaped-body">
        <h3>{words.why}</h3>
        {uncited && <p className="chat-none">{uncited === "nothing" ? none : words.notMarked}</p>}
        {cited.length > 0 && <p className="chat-shaped-head">{words.used}</p>}
        <Sources sources={cited} />
        <OtherSources sources={others} isAlone={!cited.length} />
        {shaped.leftOut.map((text) => (
          <p key={text} className="chat-left-out">
            {rephrase(text, words.leftOut)}
          </p>
        ))}
        {turn.prompt && <ShowPrompt turn={turn} />}
      </div>
    </div>
  );
}

function Sources({ sources }: { sources: AnswerSource[] }) {
  if (!sources.length) return null;
  return (
    <ul>
      {sources.map((one, at) => (
        <li key={at}>{one.kind === "fact" ? <UsedFactView fact={one.fact} /> : <HitView hit={one.hit} />}</li>
      ))}
    </ul>
  );
}

/** What was in the prompt without being used, as far as is known. */
function OtherSources({ sources, isAlone }: { sources: AnswerSource[]; isAlone: boolean }) {
  const words = useWords().chat;
  const [isAll, setAll] = useState(false);
  if (!sources.length) return null;
  const label = isAlone ? words.inPrompt(sources.length) : words.moreInPrompt(sources.length);
  return (
    <>
      {isAll && <Sources sources={sources} />}
      <button type="button" className="chat-more" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
        {isAll ? words.fewer : label}
      </button>
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
        <SourceScore hit={hit} />
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
function SourceScore({ hit }: { hit: UsedHit }) {
  const words = useWords().hits;
  const format = useFormat();
  // What was found by the words around it may fit by less than half a percent: no figure helps then.
  if (typeof hit.score !== "number" || hit.score < LEAST_SCORE) return null;
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
