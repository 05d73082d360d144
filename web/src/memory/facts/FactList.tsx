import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { api, type Fact } from "../../api";
import { useWords } from "../../i18n";
import { useToasts } from "../../ui";
import { FactRow } from "./FactRow";
import { getGroupId, groupByCategory } from "./factGroups";

interface FactListProps {
  facts: Fact[];
  /** Something was saved: load again. */
  onChanged: () => void;
  /** Show these until then. */
  onShown: (facts: Fact[]) => void;
}

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Facts below their categories; the keys that move between them, edit and delete. */
export function FactList({ facts, onChanged, onShown }: FactListProps) {
  const words = useWords().memory.facts;
  const toasts = useToasts();
  const list = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const [edited, setEdited] = useState<Fact | null>(null);
  const focusOn = useRef<string | null>(null);
  const isGone = edited !== null && facts.every((fact) => fact.id !== edited.id);
  const groups = groupByCategory(isGone ? [...facts, edited] : facts); // nobody's words vanish while they write
  const order = groups.flatMap(([, some]) => some.map((fact) => fact.id));
  const reachable = current && order.includes(current) ? current : order[0];

  useEffect(() => {
    if (focusOn.current === null) return;
    row(list.current, focusOn.current)?.focus();
    focusOn.current = null;
  });

  const moveTo = (id: string | undefined) => {
    if (id === undefined) return;
    setCurrent(id);
    row(list.current, id)?.focus();
  };
  const stopEditing = (id: string) => {
    focusOn.current = id;
    setEdited(null);
  };
  const remove = async (fact: Fact) => {
    const at = order.indexOf(fact.id);
    focusOn.current = order[at + 1] ?? order[at - 1] ?? null;
    setCurrent(focusOn.current);
    onShown(facts.filter((one) => one.id !== fact.id));
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
    const fact = facts.find((one) => one.id === (event.target as HTMLElement).dataset.id);
    if (!fact || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = order.indexOf(fact.id);
    const step = STEPS[event.key];
    if (step !== undefined) moveTo(order[at + step]);
    else if (event.key === "Home") moveTo(order[0]);
    else if (event.key === "End") moveTo(order.at(-1));
    else if (event.key === "e" || event.key === "Enter") setEdited(fact);
    else if (event.key === "Delete" || event.key === "Backspace") void remove(fact);
    else return;
    event.preventDefault();
  };

  return (
    <div ref={list} className="fact-groups" onKeyDown={onKeyDown}>
      {groups.map(([category, some]) => (
        <section key={category ?? ""} className="fact-group" aria-labelledby={getGroupId(category)}>
          <h2 id={getGroupId(category)}>
            {category ?? words.uncategorised} <span className="fact-count">{some.length}</span>
          </h2>
          <ul role="list" className="card" aria-label={words.list(category ?? words.uncategorised)}>
            {some.map((fact) => (
              <FactRow
                key={fact.id}
                fact={fact}
                isCurrent={fact.id === reachable}
                isEditing={fact.id === edited?.id}
                onCurrent={() => setCurrent(fact.id)}
                onEdit={() => setEdited(fact)}
                onStop={() => stopEditing(fact.id)}
                onSaved={onChanged}
                onDelete={() => void remove(fact)}
              />
            ))}
          </ul>
        </section>
      ))}
      <p className="fact-keys">{words.keys}</p>
    </div>
  );
}

function row(list: HTMLElement | null, id: string): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`) ?? null;
}
