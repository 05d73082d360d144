import { type RefObject, useId, useState } from "react";
import type { Fact } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { Button, Input, Select } from "../../ui";
import { describeOrigin } from "../factOrigins";
import { type Age, EVERYTHING, type FactFilter, isFiltering, type Sorting } from "./factFilter";

/** Any category or origin: no name of one begins so. */
const ANY = "\u0000any";
const AGES: Age[] = ["any", "today", "week", "month", "year"];
const SORTINGS: Sorting[] = ["category", "newest", "oldest", "text"];

interface FactFiltersProps {
  facts: Fact[];
  shown: number;
  filter: FactFilter;
  onChange: (filter: FactFilter) => void;
  text: RefObject<HTMLInputElement | null>;
}

/** Which facts are shown, and in which order. */
export function FactFilters({ facts, shown, filter, onChange, text }: FactFiltersProps) {
  const words = useWords();
  const own = words.memory.filters;
  const format = useFormat();
  const change = (part: Partial<FactFilter>) => onChange({ ...filter, ...part });
  const categories = [...new Set(facts.map((fact) => fact.category ?? ""))];
  const origins = [...new Set(facts.map((fact) => fact.origin || "hand"))];
  const isOn = isFiltering(filter);
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="fact-filters" role="group" aria-label={own.label}>
      <Input
        ref={text}
        icon="search"
        aria-label={own.text}
        placeholder={own.text}
        value={filter.text}
        autoComplete="off"
        onChange={(event) => change({ text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !event.nativeEvent.isComposing) change({ text: "" });
        }}
      />
      <Button
        small
        tone="quiet"
        icon="settings"
        className="fact-filters-more"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {own.more}
      </Button>
      <div className={`fact-filters-rest${isOpen ? " is-open" : ""}`}>
        <Select
          label={own.category}
          value={filter.category ?? ANY}
          choices={[
            { value: ANY, label: own.anyCategory },
            ...categories.map((value) => ({ value, label: value || words.memory.facts.uncategorised })),
          ]}
          onChange={(value) => change({ category: value === ANY ? null : value })}
        />
        <Select
          label={own.origin}
          value={filter.origin ?? ANY}
          choices={[
            { value: ANY, label: own.anyOrigin },
            ...origins.map((value) => ({ value, label: describeOrigin(value, words) })),
          ]}
          onChange={(value) => change({ origin: value === ANY ? null : value })}
        />
        <Select
          label={own.age}
          value={filter.age}
          choices={AGES.map((value) => ({ value, label: own.ages[value] }))}
          onChange={(age) => change({ age })}
        />
        <Select
          label={own.sorting}
          value={filter.sorting}
          choices={SORTINGS.map((value) => ({ value, label: own.sortings[value] }))}
          onChange={(sorting) => change({ sorting })}
        />
        <Check label={own.pinned} checked={filter.isPinned} onChange={(isPinned) => change({ isPinned })} />
        <Check
          label={own.unused}
          title={own.unusedMeans}
          checked={filter.isUnused}
          onChange={(isUnused) => change({ isUnused })}
        />
      </div>
      <p role="status" className="fact-filters-shown">
        {isOn && own.shown(format.number(shown), format.number(facts.length))}
      </p>
      {isOn && (
        <Button small tone="quiet" icon="close" onClick={() => onChange({ ...EVERYTHING, sorting: filter.sorting })}>
          {own.clear}
        </Button>
      )}
    </div>
  );
}

interface CheckProps {
  label: string;
  /** What it means, more exactly. */
  title?: string;
  checked: boolean;
  onChange: (isChecked: boolean) => void;
}

function Check({ label, title, checked, onChange }: CheckProps) {
  const id = useId();
  const hint = useId();
  return (
    <span className="fact-filters-check" title={title}>
      <input
        id={id}
        type="checkbox"
        aria-describedby={title && hint}
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {title && (
        <span id={hint} className="visually-hidden">
          {title}
        </span>
      )}
    </span>
  );
}
