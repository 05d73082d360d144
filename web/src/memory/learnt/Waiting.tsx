import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { api, type PendingFact } from "../../api";
import { useWords } from "../../i18n";
import type { Loaded } from "../../loading";
import { Button, Field, FieldError, ProblemNotice, ProblemText, TextArea, useToasts } from "../../ui";
import { Provenance } from "./Provenance";

/** What is used only once somebody has accepted it. */
export function Waiting({ loaded }: { loaded: Loaded<{ pending: PendingFact[] }> }) {
  const words = useWords().memory.learnt;
  const heading = useRef<HTMLHeadingElement>(null);
  const waiting = loaded.value?.pending ?? [];
  const gone = (id: string) => {
    loaded.set({ pending: waiting.filter((fact) => fact.id !== id) });
    heading.current?.focus();
    loaded.reload();
  };
  return (
    <section aria-labelledby="waiting">
      <header className="learnt-head">
        <h2 id="waiting" ref={heading} tabIndex={-1}>
          {words.waitingTitle}
        </h2>
        <p>{loaded.value && !waiting.length ? words.nothingWaits : words.waitingText}</p>
      </header>
      {loaded.problem && <ProblemNotice problem={loaded.problem} onRetry={loaded.reload} />}
      {waiting.length > 0 && (
        <ul role="list" className="waiting" aria-labelledby="waiting">
          {waiting.map((fact) => (
            <WaitingFact key={fact.id} fact={fact} onDecided={() => gone(fact.id)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function WaitingFact({ fact, onDecided }: { fact: PendingFact; onDecided: () => void }) {
  const words = useWords();
  const own = words.memory.learnt;
  const toasts = useToasts();
  const [edited, setEdited] = useState<string | null>(null);
  const [isDeciding, setDeciding] = useState(false);
  const [error, setError] = useState<ReactNode>(null);

  const decide = async (action: "accept" | "reject") => {
    if (isDeciding) return;
    setDeciding(true);
    try {
      const decided = await api.decide(fact.id, action, action === "accept" ? (edited ?? undefined) : undefined);
      const content = decided.fact?.content ?? fact.content;
      toasts.show({ text: action === "accept" ? own.accepted(content) : own.rejected(content) });
      onDecided();
    } catch (problem) {
      setDeciding(false);
      setError(<ProblemText problem={problem} />);
    }
  };
  return (
    <li className="card waiting-fact">
      {edited === null ? (
        <p className="fact-text">{fact.content}</p>
      ) : (
        <Words
          value={edited}
          onChange={setEdited}
          onDone={() => void decide("accept")}
          onCancel={() => setEdited(null)}
        />
      )}
      <Provenance of={fact} time={fact.createdAt} />
      {error !== null && <FieldError>{error}</FieldError>}
      <div className="waiting-actions">
        <Button tone="primary" icon="check" busy={isDeciding} onClick={() => void decide("accept")}>
          {edited === null ? own.accept : own.acceptEdited}
        </Button>
        {edited === null ? (
          <Button icon="edit" onClick={() => setEdited(fact.content)}>
            {words.common.edit}
          </Button>
        ) : (
          <Button onClick={() => setEdited(null)}>{words.common.cancel}</Button>
        )}
        <Button tone="danger" icon="close" disabled={isDeciding} onClick={() => void decide("reject")}>
          {own.reject}
        </Button>
      </div>
    </li>
  );
}

interface WordsProps {
  value: string;
  onChange: (value: string) => void;
  onDone: () => void;
  onCancel: () => void;
}

function Words({ value, onChange, onDone, onCancel }: WordsProps) {
  const words = useWords().memory.facts;
  const text = useRef<HTMLTextAreaElement>(null);
  useEffect(() => text.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") onCancel();
    else if (event.key === "Enter" && !event.shiftKey) onDone();
    else return;
    event.preventDefault();
  };
  return (
    <Field label={words.text} hideLabel>
      {(ids) => (
        <TextArea
          {...ids}
          ref={text}
          rows={1}
          value={value}
          onKeyDown={onKeyDown}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
