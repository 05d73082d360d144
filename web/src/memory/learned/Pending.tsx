import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { api, type PendingFact } from "../../api";
import { useWords } from "../../i18n";
import { Button, Field, FieldError, ProblemNotice, ProblemText, TextArea, useToasts } from "../../ui";
import { isComposing } from "../../ui/keyboard";
import type { Loaded } from "../../useLoaded";
import { Provenance } from "./Provenance";

/** What is used only once somebody has accepted it. */
export function Pending({ loaded }: { loaded: Loaded<{ pending: PendingFact[] }> }) {
  const words = useWords().memory.learned;
  const heading = useRef<HTMLHeadingElement>(null);
  const pending = loaded.value?.pending ?? [];
  const removeDecided = (id: string) => {
    loaded.set({ pending: pending.filter((fact) => fact.id !== id) });
    heading.current?.focus();
    loaded.reload();
  };
  return (
    <section aria-labelledby="pending">
      <header className="learned-head">
        <h2 id="pending" ref={heading} tabIndex={-1}>
          {words.pendingTitle}
        </h2>
        <p>{loaded.value && !pending.length ? words.nothingPending : words.pendingText}</p>
      </header>
      {loaded.problem && <ProblemNotice problem={loaded.problem} onRetry={loaded.reload} />}
      {pending.length > 0 && (
        <ul role="list" className="pending" aria-labelledby="pending">
          {pending.map((fact) => (
            <PendingRow key={fact.id} fact={fact} onDecided={() => removeDecided(fact.id)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function PendingRow({ fact, onDecided }: { fact: PendingFact; onDecided: () => void }) {
  const words = useWords();
  const own = words.memory.learned;
  const toasts = useToasts();
  const [edited, setEdited] = useState<string | null>(null);
  const [isDeciding, setDeciding] = useState(false);
  const [error, setError] = useState<ReactNode>(null);

  const decide = async (action: "accept" | "reject") => {
    if (isDeciding) return;
    setDeciding(true);
    try {
      const decided = await api.decidePending(fact.id, action, action === "accept" ? (edited ?? undefined) : undefined);
      const content = decided.fact?.content ?? fact.content;
      toasts.show({ text: action === "accept" ? own.accepted(content) : own.rejected(content) });
      onDecided();
    } catch (problem) {
      setDeciding(false);
      setError(<ProblemText problem={problem} />);
    }
  };
  return (
    <li className="card pending-fact">
      {edited === null ? (
        <p className="fact-text">{fact.content}</p>
      ) : (
        <FactTextArea
          value={edited}
          onChange={setEdited}
          onDone={() => void decide("accept")}
          onCancel={() => setEdited(null)}
        />
      )}
      <Provenance of={fact} time={fact.createdAt} />
      {error !== null && <FieldError>{error}</FieldError>}
      <div className="pending-actions">
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

interface FactTextAreaProps {
  value: string;
  onChange: (value: string) => void;
  onDone: () => void;
  onCancel: () => void;
}

function FactTextArea({ value, onChange, onDone, onCancel }: FactTextAreaProps) {
  const words = useWords().memory.facts;
  const text = useRef<HTMLTextAreaElement>(null);
  useEffect(() => text.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
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
