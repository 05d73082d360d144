import { useEffect, useRef, useState } from "react";
import { api, type Capacity, type Fact } from "../../api";
import { useFormat, useWords } from "../../i18n";
import { buildAddress, go, useRoute } from "../../route";
import { useServerEvent } from "../../serverEvents";
import { EmptyState, LinkButton, Meter, Notice, ProblemNotice, SearchBox, Skeleton } from "../../ui";
import { type Loaded, useLoaded } from "../../useLoaded";
import { AddFact } from "./AddFact";
import { FactList } from "./FactList";
import { getGroupId } from "./factGroups";
import { SearchResults } from "./SearchResults";

interface Facts {
  facts: Fact[];
  capacity: Capacity;
}

/** The facts by category, or what a search finds. */
export function FactsView() {
  const words = useWords().memory.search;
  const [query, setQuery] = useQuery();
  const loaded = useLoaded((signal) => api.getFacts(undefined, signal), []);
  useServerEvent("memory", loaded.reload);
  useServerEvent("hello", loaded.reload);
  return (
    <div className="facts">
      <SearchBox query={query} onChange={setQuery} words={words} />
      <div className="facts-columns">
        <div className="facts-main">
          {query.trim() ? <SearchResults query={query} /> : <FactsOrNothing loaded={loaded} />}
        </div>
        {(loaded.value || !loaded.problem) && <Room facts={loaded.value} />}
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

function FactsOrNothing({ loaded }: { loaded: Loaded<Facts> }) {
  const { value, problem, reload, set } = loaded;
  if (!value) return problem ? <ProblemNotice problem={problem} onRetry={reload} /> : <Skeleton lines={8} />;
  return (
    <>
      <AddFact categories={listCategories(value.facts)} onAdded={reload} />
      {value.facts.length ? (
        <FactList facts={value.facts} onChanged={reload} onShown={(facts) => set({ ...value, facts })} />
      ) : (
        <NoFacts />
      )}
    </>
  );
}

function NoFacts() {
  const words = useWords().memory.facts;
  const chat = (
    <LinkButton icon="chat" href={buildAddress("chat")}>
      {words.toChat}
    </LinkButton>
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
function Room({ facts }: { facts: Facts | null }) {
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
        <p className="room-tokens">{stats.value ? words.tokens(format.number(stats.value.tokens)) : "\u00a0"}</p>
      </div>
      {facts && (items >= maxItems || chars >= maxChars) && <Notice tone="warn">{words.full}</Notice>}
      {facts && <Contents facts={facts.facts} />}
    </aside>
  );
}

function Contents({ facts }: { facts: Fact[] }) {
  const words = useWords().memory.facts;
  const names = [...new Set(facts.map((fact) => fact.category))];
  if (names.length < 2) return null;
  return (
    <nav className="contents" aria-label={words.categories}>
      <h2>{words.categories}</h2>
      <ul>
        {names.map((name) => (
          <li key={name ?? ""}>
            <button type="button" onClick={() => document.getElementById(getGroupId(name))?.scrollIntoView()}>
              <span>{name ?? words.uncategorised}</span>
              <span>{facts.filter((fact) => fact.category === name).length}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
