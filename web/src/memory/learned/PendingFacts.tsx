import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { api, type PendingFact } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { buildAddress } from "../../route";
import { Button, Field, FieldError, Notice, ProblemNotice, ProblemText, ServerMessage, TextArea, useToasts } from "../../ui";
import { isComposing } from "../../ui/keyboard";
import type { LoadedValue } from "../../useLoaded";
import { groupBySource, type PendingGroup, splitInto, takeFirst } from "./pendingGroups";
import { Provenance } from "./Provenance";

type Action = "accept" | "reject";

const PAGE = 50;
/** So many are decided by one request, so that progress can be shown. */
const AT_ONCE = 25;
const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** What is used only once somebody has accepted it. */
export function PendingFacts({ loaded }: { loaded: LoadedValue<{ pending: PendingFact[] }> }) {
  const words = useWords().memory.learned;
  const heading = useRef<HTMLHeadingElement>(null);
  const pending = loaded.value?.pending ?? [];
  const batch = useBatch(loaded.reload);
  return (
    <section aria-labelledby="pending">
      <header className="learned-head">
        <h2 id="pending" ref={heading} tabIndex={-1}>
          {words.pendingTitle}
        </h2>
        <p>{loaded.value && !pending.length ? words.nothingPending : words.pendingText}</p>
      </header>
      {loaded.problem && <ProblemNotice problem={loaded.problem} onRetry={loaded.reload} />}
      {batch.problem && <Notice tone="warn"><ServerMessage text={batch.problem} /></Notice>}
      {pending.length > 1 && (
        <div className="pending-all">
          <span role="status">{batch.progress ?? words.all(pending.length)}</span>
          <DecideAll facts={pending} batch={batch} onDone={() => heading.current?.focus()} />
        </div>
      )}
      {pending.length > 0 && <PendingList loaded={loaded} batch={batch} onEmpty={() => heading.current?.focus()} />}
    </section>
  );
}

interface Batch {
  /** How far it is, in words. */
  progress: string | null;
  /** Why some were not decided. */
  problem: string | null;
  decide: (facts: PendingFact[], action: Action) => Promise<void>;
}

/** Decides about many facts, some at a time. */
function useBatch(reload: () => void): Batch {
  const words = useWords().memory.learned;
  const format = useFormat();
  const toasts = useToasts();
  const [progress, setProgress] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const decide = async (facts: PendingFact[], action: Action) => {
    let count = 0;
    setProblem(null);
    try {
      for (const some of splitInto(facts, AT_ONCE)) {
        setProgress(words.deciding(format.number(count), format.number(facts.length)));
        const { decided, problem } = await api.decideAllPending(some.map((fact) => fact.id), action);
        count += decided.length;
        setProblem(problem);
        if (problem) break;
      }
    } catch (error) {
      toasts.fail(error);
    }
    setProgress(null);
    if (count) toasts.show({ text: (action === "accept" ? words.acceptedAll : words.rejectedAll)(count) });
    reload();
  };
  return { progress, problem, decide };
}

interface DecideAllProps {
  facts: PendingFact[];
  batch: Batch;
  /** What the facts come from, if they are not all. */
  name?: string;
  onDone: () => void;
}

function DecideAll({ facts, batch, name, onDone }: DecideAllProps) {
  const words = useWords().memory.learned;
  const decide = async (action: Action) => {
    await batch.decide(facts, action);
    onDone();
  };
  const isBusy = batch.progress !== null;
  return (
    <span className="pending-decide">
      <Button
        small
        icon="check"
        disabled={isBusy}
        aria-label={name && words.acceptGroup(name)}
        onClick={() => void decide("accept")}
      >
        {words.acceptAll}
      </Button>
      <Button
        small
        tone="quiet"
        icon="close"
        disabled={isBusy}
        aria-label={name && words.rejectGroup(name)}
        onClick={() => void decide("reject")}
      >
        {words.rejectAll}
      </Button>
    </span>
  );
}

interface PendingListProps {
  loaded: LoadedValue<{ pending: PendingFact[] }>;
  batch: Batch;
  /** The last of them was decided. */
  onEmpty: () => void;
}

/** The facts below what they come from; the keys that move between them and decide. */
function PendingList({ loaded, batch, onEmpty }: PendingListProps) {
  const words = useWords().memory.learned;
  const list = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const [edited, setEdited] = useState<string | null>(null);
  const [most, setMost] = useState(PAGE);
  const focusOn = useRef<string | null>(null);
  const pending = loaded.value?.pending ?? [];
  const groups = takeFirst(groupBySource(pending), most);
  const order = groups.flatMap(({ shown }) => shown.map((fact) => fact.id));
  const reachable = current && order.includes(current) ? current : order[0];

  useEffect(() => {
    if (focusOn.current === null) return;
    findRow(list.current, focusOn.current)?.focus();
    focusOn.current = null;
  });

  const leave = (id: string) => {
    const at = order.indexOf(id);
    focusOn.current = order[at + 1] ?? order[at - 1] ?? null;
    setCurrent(focusOn.current);
    setEdited(null);
    loaded.set({ pending: pending.filter((fact) => fact.id !== id) });
    if (focusOn.current === null) onEmpty();
    loaded.reload();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const id = (event.target as HTMLElement).dataset.id;
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step !== undefined) findRow(list.current, order[order.indexOf(id) + step])?.focus();
    else if (event.key === "Home") findRow(list.current, order[0])?.focus();
    else if (event.key === "End") findRow(list.current, order.at(-1))?.focus();
    else if (event.key === "e") setEdited(id);
    else if (event.key === "a") press(event.target, "accept");
    else if (event.key === "r") press(event.target, "reject");
    else return;
    event.preventDefault();
  };
  const stopEditing = (id: string) => {
    focusOn.current = id;
    setEdited(null);
  };
  const hidden = pending.length - order.length;
  return (
    <div ref={list} className="pending-groups" onKeyDown={onKeyDown}>
      {groups.map(({ group, shown }) => (
        <div key={group.key} className="pending-group">
          <GroupHead group={group} batch={batch} onDone={onEmpty} />
          <ul role="list" className="pending" aria-label={`${words.pendingTitle}: ${group.name ?? words.elsewhere}`}>
            {shown.map((fact) => (
              <PendingRow
                key={fact.id}
                fact={fact}
                isCurrent={fact.id === reachable}
                isEditing={fact.id === edited}
                onCurrent={() => setCurrent(fact.id)}
                onEdit={() => setEdited(fact.id)}
                onStop={() => stopEditing(fact.id)}
                onDecided={() => leave(fact.id)}
              />
            ))}
          </ul>
        </div>
      ))}
      {hidden > 0 && (
        <Button className="learned-older" onClick={() => setMost(most + PAGE)}>
          {words.morePending(Math.min(hidden, PAGE))}
        </Button>
      )}
      <p className="fact-keys">{words.pendingKeys}</p>
    </div>
  );
}

function findRow(list: HTMLElement | null, id: string | undefined): HTMLElement | null {
  return id === undefined ? null : (list?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`) ?? null);
}

function press(row: EventTarget, action: Action): void {
  (row as HTMLElement).querySelector<HTMLElement>(`[data-action=${action}]`)?.click();
}

function GroupHead({ group, batch, onDone }: { group: PendingGroup; batch: Batch; onDone: () => void }) {
  const words = useWords().memory.learned;
  const name = group.name ?? words.elsewhere;
  return (
    <div className="pending-group-head">
      <h3>{group.conversation ? <a href={buildAddress("chat", group.conversation)}>{name}</a> : name}</h3>
      {group.facts.length > 1 && <DecideAll facts={group.facts} batch={batch} name={name} onDone={onDone} />}
    </div>
  );
}

interface PendingRowProps {
  fact: PendingFact;
  /** The Tab key leads here. */
  isCurrent: boolean;
  isEditing: boolean;
  onCurrent: () => void;
  onEdit: () => void;
  onStop: () => void;
  onDecided: () => void;
}

function PendingRow({ fact, isCurrent, isEditing, onCurrent, onEdit, onStop, onDecided }: PendingRowProps) {
  const words = useWords();
  const own = words.memory.learned;
  const toasts = useToasts();
  const [text, setText] = useState(fact.content);
  const [isDeciding, setDeciding] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const reach = isCurrent ? 0 : -1;

  const decide = async (action: Action) => {
    if (isDeciding) return;
    setDeciding(true);
    try {
      const decided = await api.decidePending(fact.id, action, action === "accept" && isEditing ? text : undefined);
      const content = decided.fact?.content ?? fact.content;
      toasts.show({ text: action === "accept" ? own.accepted(content) : own.rejected(content) });
      onDecided();
    } catch (problem) {
      setDeciding(false);
      setError(<ProblemText problem={problem} />);
    }
  };
  const stop = () => {
    setText(fact.content);
    onStop();
  };
  return (
    <li
      className="card pending-fact"
      data-id={fact.id}
      tabIndex={isEditing ? undefined : reach}
      onFocus={(event) => event.target === event.currentTarget && onCurrent()}
    >
      {isEditing ? (
        <FactTextArea value={text} onChange={setText} onDone={() => void decide("accept")} onCancel={stop} />
      ) : (
        <p className="fact-text">{fact.content}</p>
      )}
      <Provenance of={fact} time={fact.createdAt} />
      {error !== null && <FieldError>{error}</FieldError>}
      <div className="pending-actions">
        <Button
          tone="primary"
          icon="check"
          tabIndex={reach}
          data-action="accept"
          busy={isDeciding}
          onClick={() => void decide("accept")}
        >
          {isEditing ? own.acceptEdited : own.accept}
        </Button>
        {isEditing ? (
          <Button onClick={stop}>{words.common.cancel}</Button>
        ) : (
          <Button icon="edit" tabIndex={reach} onClick={onEdit}>
            {words.common.edit}
          </Button>
        )}
        <Button
          tone="danger"
          icon="close"
          tabIndex={reach}
          data-action="reject"
          disabled={isDeciding}
          onClick={() => void decide("reject")}
        >
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
