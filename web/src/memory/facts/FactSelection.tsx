import { type FormEvent, useState } from "react";
import { api, type Fact, type FactsAction } from "../../api";
import { useWords } from "../../i18n";
import { Button, Input, useToasts } from "../../ui";

interface FactSelectionProps {
  /** The facts that are shown, and which of them are chosen. */
  facts: Fact[];
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  onChanged: () => void;
}

/** What can be done with several facts at once. */
export function FactSelection({ facts, selected, onSelect, onChanged }: FactSelectionProps) {
  const words = useWords();
  const own = words.memory.selection;
  const toasts = useToasts();
  const [category, setCategory] = useState("");
  const [isBusy, setBusy] = useState(false);
  const chosen = facts.filter((fact) => selected.has(fact.id));
  if (!chosen.length) return null;
  const act = async (action: FactsAction, heading?: string) => {
    setBusy(true);
    try {
      const { change, facts } = await api.changeFacts(chosen.map((fact) => fact.id), action, heading);
      const undo = async () => {
        await api.undo(change!);
        onChanged();
      };
      toasts.show({ text: own.done[action](facts.length), undo: change === null ? undefined : undo });
      if (action === "forget") onSelect(new Set());
    } catch (problem) {
      toasts.fail(problem);
    }
    setBusy(false);
    onChanged();
  };
  const move = (event: FormEvent) => {
    event.preventDefault();
    void act("categorize", category.trim());
    setCategory("");
  };
  return (
    <div className="fact-selection card" role="group" aria-label={own.label}>
      <strong role="status">{own.count(chosen.length)}</strong>
      <Button small icon="pin" disabled={isBusy} onClick={() => void act("pin")}>
        {own.pin}
      </Button>
      <Button small icon="pin" disabled={isBusy} onClick={() => void act("unpin")}>
        {own.unpin}
      </Button>
      <form onSubmit={move}>
        <Input
          aria-label={own.category}
          placeholder={own.category}
          maxLength={100}
          autoComplete="off"
          value={category}
          onChange={(event) => setCategory(event.target.value)}
        />
        <Button small type="submit" disabled={isBusy}>
          {own.move}
        </Button>
      </form>
      <Button small tone="danger" icon="trash" disabled={isBusy} onClick={() => void act("forget")}>
        {own.forget}
      </Button>
      <Button small tone="quiet" icon="close" onClick={() => onSelect(new Set())}>
        {own.none}
      </Button>
    </div>
  );
}
