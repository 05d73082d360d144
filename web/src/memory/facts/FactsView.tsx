import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { api, type Capacity, type Fact } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { buildAddress, go, useRoute } from "../../route";
import { useServerEvent } from "../../serverEvents";
import { Button, EmptyState, LinkButton, Meter, Notice, ProblemNotice, SearchBox, Skeleton } from "../../ui";
import { type LoadedValue, useLoaded } from "../../useLoaded";
import { AddFact } from "./AddFact";
import { FactFilters } from "./FactFilters";
import { FactList, type FactListHandle } from "./FactList";
import { FactSelection } from "./FactSelection";
import { EVERYTHING, filterFacts, isFiltering } from "./factFilter";
import { groupByCategory } from "./factGroups";
import { SearchResults } from "./SearchResults";

interface LoadedFacts {
  facts: Fact[];
  /** The ids of those that an answer rests on. */
  used: string[];
  capacity: Capacity;
}

/** The facts by category, or what a search finds. */
export function FactsView() {
  const words = useWords().memory.search;
  const [query, setQuery] = useQuery();
  const list = useRef<FactListHandle>(null);
  const loaded = useLoaded((signal) => api.getFacts(undefined, signal), []);
  useServerEvent("memory", loaded.reload);
  useServerEvent("hello", loaded.reload);
  return (
    <div className="facts">
      <SearchBox query={query} onChange={setQuery} words={words} />
      <div className="facts-columns">
        <div className="facts-main">
          {query.trim() ? <SearchResults query={query} /> : <FactsOrNothing loaded={loaded} list={list} />}
        </div>
        {(loaded.value || !loaded.problem) && <CapacityPanel facts={loaded.value} onCategory={(name) => list.current?.goTo(name)} />}
      </div>
    </div>
  );
}

/** What is searched for stands in the address, so that Back leads to it again. */
function useQuery(): [string, (query: string) => void] {
  const wanted = useRoute().query.get("q") ?? "";
  const [query, setQuery] = useState(wanted);
  const shown = useRef(wanted);
  useEffect(() => {
    if (wanted !== shown.current) setQuery(wanted);
    shown.current = wanted;
  }, [wanted]);
  const change = (next: string) => {
    shown.current = next;
    setQuery(next);
    go(next ? `${buildAddress("memory")}?${new URLSearchParams({ q: next })}` : buildAddress("memory"), {
      replace: true,
    });
  };
  return [query, change];
}

function FactsOrNothing({ loaded, list }: { loaded: LoadedValue<LoadedFacts>; list: RefObject<FactListHandle | null> }) {
  const { value, problem, reload, set } = loaded;
  if (!value) return problem ? <ProblemNotice problem={problem} onRetry={reload} /> : <Skeleton lines={8} />;
  return (
    <>
      <AddFact categories={listCategories(value.facts)} onAdded={reload} />
      {value.facts.length ? (
        <FilteredFacts
          list={list}
          facts={value.facts}
          used={value.used}
          onChanged={reload}
          onRemoved={(id) => set({ ...value, facts: value.facts.filter((fact) => fact.id !== id) })}
        />
      ) : (
        <NoFacts />
      )}
    </>
  );
}

interface FilteredFactsProps {
  list: RefObject<FactListHandle | null>;
  facts: Fact[];
  used: string[];
  onChanged: () => void;
  onRemoved: (id: string) => void;
}

const NONE: ReadonlySet<string> = new Set();
/** Fewer facts are seen at one glance, and need no filter. */
const MANY = 8;

/** The list, what narrows it, and what can be done with several facts of it. */
function FilteredFacts({ list, facts, used, onChanged, onRemoved }: FilteredFactsProps) {
  const words = useWords().memory.filters;
  const text = useRef<HTMLInputElement>(null);
  const [filter, setFilter] = useState(EVERYTHING);
  const [selected, setSelected] = useState(NONE);
  const usedIds = useMemo(() => new Set(used), [used]);
  const shown = useMemo(() => filterFacts(facts, filter, new Date(), usedIds), [facts, filter, usedIds]);
  useFindKey(text);
  return (
    <>
      {(facts.length >= MANY || isFiltering(filter)) && (
        <FactFilters facts={facts} shown={shown.length} filter={filter} onChange={setFilter} text={text} />
      )}
      <FactSelection facts={shown} selected={selected} onSelect={setSelected} onChanged={onChanged} />
      {shown.length ? (
        <>
          {facts.length >= MANY && (
            <Button
              small
              tone="quiet"
              className="fact-select-all"
              onClick={() => setSelected(new Set(shown.map((fact) => fact.id)))}
            >
              {words.selectAll(shown.length)}
            </Button>
          )}
          <FactList
            ref={list}
            facts={shown}
            sorting={filter.sorting}
            selected={selected}
            onSelect={setSelected}
            onChanged={onChanged}
            onRemoved={onRemoved}
          />
        </>
      ) : (
        <EmptyState icon="search" title={words.nothing} />
      )}
    </>
  );
}

/** The browser finds only what is drawn, so its key leads to the filter; pressed there, it is the browser's. */
function useFindKey(text: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isFind = event.key === "f" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      if (!isFind || !text.current || document.activeElement === text.current) return;
      event.preventDefault();
      text.current.focus();
      text.current.select();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function NoFacts() {
  const words = useWords().memory.facts;
  const chat = (
    <>
      <LinkButton icon="chat" href={buildAddress("chat")}>
        {words.toChat}
      </LinkButton>
      <LinkButton icon="history" href={buildAddress("memory", "import")}>
        {words.toImport}
      </LinkButton>
    </>
  );
  return (
    <EmptyState icon="leaf" title={words.emptyTitle} actions={chat}>
      <p>{words.emptyText}</p>
    </EmptyState>
  );
}

function listCategories(facts: Fact[]): string[] {
  return [...new Set(facts.flatMap((fact) => fact.category ?? []))];
}

/** How much room is left, and where to find what. */
function CapacityPanel({ facts, onCategory }: { facts: LoadedFacts | null; onCategory: (name: string | null) => void }) {
  const words = useWords().memory.facts;
  const format = useFormat();
  const stats = useLoaded((signal) => api.getStats(signal), [facts]);
  const { items = 0, maxItems = 100, chars = 0, maxChars = 10_000 } = facts?.capacity ?? {};
  const of = (used: number, most: number) => words.of(format.number(used), format.number(most));
  return (
    <aside className="room" aria-label={words.capacity}>
      <div className="room-meters">
        <Meter label={words.items} value={items} max={maxItems} words={of(items, maxItems)} />
        <Meter label={words.chars} value={chars} max={maxChars} words={of(chars, maxChars)} />
        <p className="room-tokens">
          {stats.value ? words.tokens(format.number(stats.value.tokens)) : "\u00a0"}
          {stats.value && stats.value.inPrompt < stats.value.facts && (
            <> {words.inPrompt(format.number(stats.value.inPrompt), format.number(stats.value.facts))}</>
          )}
        </p>
      </div>
      {facts && (items >= maxItems || chars >= maxChars) && <Notice tone="warn">{words.full}</Notice>}
      {facts && <Contents facts={facts.facts} onCategory={onCategory} />}
    </aside>
  );
}

function Contents({ facts, onCategory }: { facts: Fact[]; onCategory: (name: string | null) => void }) {
  const words = useWords().memory.facts;
  const groups = groupByCategory(facts);
  if (groups.length < 2) return null;
  return (
    <nav className="contents" aria-label={words.categories}>
      <h2>{words.categories}</h2>
      <ul>
        {groups.map(({ category, facts }) => (
          <li key={category ?? ""}>
            <button type="button" onClick={() => onCategory(category)}>
              <span>{category ?? words.uncategorised}</span>
              <span>{facts.length}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
