import { type KeyboardEvent, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { api, type Fact } from "../../api";
import { useWords } from "../../i18n";
import { useToasts } from "../../ui";
import { Chunk } from "./Chunk";
import { FactRow } from "./FactRow";
import { sortFacts, type Sorting } from "./factFilter";
import { type FactPart, splitIntoChunks } from "./factGroups";

/** Leads to a place in the list, also where nothing is drawn yet. */
export interface FactListHandle {
  goTo: (category: string | null) => void;
}

interface FactListProps {
  ref?: Ref<FactListHandle>;
  facts: Fact[];
  sorting: Sorting;
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  /** Something was saved: load again. */
  onChanged: () => void;
  /** Show the list without this one until then. */
  onRemoved: (id: string) => void;
}

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
const CHUNK_ROWS = 40;

/** Facts below their categories; the keys that move between them, edit, choose, pin and delete. */
export function FactList({ ref, facts, sorting, selected, onSelect, onChanged, onRemoved }: FactListProps) {
  const words = useWords().memory.facts;
  const toasts = useToasts();
  const list = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const [edited, setEdited] = useState<Fact | null>(null);
  const focusOn = useRef<string | null>(null);
  const isGone = edited !== null && facts.every((fact) => fact.id !== edited.id);
  const groups = useMemo(
    () => sortFacts(isGone ? [...facts, edited] : facts, sorting), // nobody's words vanish while they write
    [facts, sorting, isGone],
  );
  const chunks = useMemo(() => splitIntoChunks(groups, CHUNK_ROWS), [groups]);
  const order = useMemo(() => groups.flatMap((group) => group.facts.map((fact) => fact.id)), [groups]);
  const reachable = current && order.includes(current) ? current : order[0];

  useEffect(() => {
    if (focusOn.current === null) return;
    findRow(list.current, focusOn.current)?.focus();
    focusOn.current = null;
  });
  const moveTo = (id: string | null | undefined) => {
    if (!id) return;
    focusOn.current = id; // it may not be drawn yet
    setCurrent(id);
    findRow(list.current, id)?.focus();
  };
  useImperativeHandle(ref, () => ({
    goTo: (category) => moveTo(groups.find((group) => group.category === category)?.facts[0]?.id),
  }));

  const stopEditing = (id: string) => {
    focusOn.current = id;
    setEdited(null);
  };
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  const pin = async (fact: Fact) => {
    try {
      await api.changeFacts([fact.id], fact.pinned ? "unpin" : "pin");
    } catch (problem) {
      toasts.fail(problem);
    }
    onChanged();
  };
  const remove = async (fact: Fact) => {
    const at = order.indexOf(fact.id);
    focusOn.current = order[at + 1] ?? order[at - 1] ?? null;
    setCurrent(focusOn.current);
    onRemoved(fact.id);
    try {
      const { change } = await api.deleteFact(fact.id);
      const undo = async () => {
        await api.undo(change);
        onChanged();
      };
      toasts.show({ text: words.deleted(fact.content), undo });
    } catch (problem) {
      toasts.fail(problem);
    }
    onChanged();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const id = (event.target as HTMLElement).dataset.id;
    const fact = id === undefined ? undefined : facts.find((one) => one.id === id);
    if (!fact || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step !== undefined) moveTo(order[order.indexOf(fact.id) + step]);
    else if (event.key === "Home") moveTo(order[0]);
    else if (event.key === "End") moveTo(order.at(-1));
    else if (event.key === "e" || event.key === "Enter") setEdited(fact);
    else if (event.key === "x") toggle(fact.id);
    else if (event.key === "p") void pin(fact);
    else if (event.key === "Delete" || event.key === "Backspace") void remove(fact);
    else return;
    event.preventDefault();
  };

  const drawRow = (fact: Fact, place: number, size: number) => (
    <FactRow
      key={fact.id}
      fact={fact}
      place={place}
      size={size}
      isCurrent={fact.id === reachable}
      isEditing={fact.id === edited?.id}
      isSelected={selected.has(fact.id)}
      onCurrent={() => setCurrent(fact.id)}
      onEdit={() => setEdited(fact)}
      onStop={() => stopEditing(fact.id)}
      onSaved={onChanged}
      onDelete={() => void remove(fact)}
      onToggle={() => toggle(fact.id)}
      onPin={() => void pin(fact)}
    />
  );
  const holds = (parts: FactPart[], id: string | null | undefined) =>
    !!id && parts.some((part) => part.facts.some((fact) => fact.id === id));
  return (
    <div ref={list} className="fact-groups" onKeyDown={onKeyDown}>
      {chunks.map(({ parts, rows }, at) => (
        <Chunk key={at} rows={rows} isNeeded={at === 0 || holds(parts, current) || holds(parts, edited?.id)}>
          {() => parts.map((part) => <GroupPart key={part.group.category ?? ""} part={part} drawRow={drawRow} />)}
        </Chunk>
      ))}
      <p className="fact-keys">{words.keys}</p>
    </div>
  );
}

interface GroupPartProps {
  part: FactPart;
  drawRow: (fact: Fact, place: number, size: number) => React.ReactNode;
}

/** The facts of a category, or some of them; only the first part has the heading. */
function GroupPart({ part: { group, start, facts }, drawRow }: GroupPartProps) {
  const words = useWords().memory.facts;
  const size = group.facts.length;
  const name = group.category ?? words.uncategorised;
  const isLast = start + facts.length === size;
  const look = `${start ? " is-continued" : ""}${isLast ? "" : " goes-on"}`;
  return (
    <section className={`fact-group${look}`} aria-label={name}>
      {start === 0 && (
        <h2>
          {name} <span className="fact-count">{size}</span>
        </h2>
      )}
      <ul role="list" className="card" aria-label={words.list(name)}>
        {facts.map((fact, at) => drawRow(fact, start + at + 1, size))}
      </ul>
    </section>
  );
}

function findRow(list: HTMLElement | null, id: string): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`) ?? null;
}
