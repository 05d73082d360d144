import { useState } from "react";
import { api, type Hit, type HitSource } from "../../api";
import { describeScore, getHitAddress, isForeign } from "../../hits";
import { useFormat, useWords } from "../../i18n";
import { useServerEvent } from "../../serverEvents";
import { Badge, EmptyState, Icon, type IconName, ProblemNotice, Segmented, Skeleton } from "../../ui";
import { useLoaded } from "../../useLoaded";
import { MarkedText } from "./MarkedText";

const LIMIT = 20;
const ICONS: Record<HitSource, IconName> = { memory: "leaf", older: "leaf", daily: "calendar", conversations: "chat" };
const PLACES = Object.keys(ICONS) as HitSource[];
type SearchScope = HitSource | "everywhere";

/** What fits best, from everywhere or from one place. */
export function SearchResults({ query }: { query: string }) {
  const { memory, hits } = useWords();
  const words = memory.search;
  const [where, setWhere] = useState<SearchScope>("everywhere");
  const source = where === "everywhere" ? undefined : where;
  const options = { limit: LIMIT, source, explain: true };
  const found = useLoaded((signal) => api.search(query, options, signal), [query, source]);
  useServerEvent("memory", found.reload);
  useServerEvent("settings", found.reload);
  useServerEvent("index", ({ done, total }) => {
    if (done === total) found.reload();
  });

  const choices: { value: SearchScope; label: string }[] = [
    { value: "everywhere", label: words.everywhere },
    ...PLACES.map((value) => ({ value, label: hits.sources[value] })),
  ];
  const results = found.value?.results ?? [];
  const count = results.length === LIMIT ? words.most(LIMIT) : words.found(results.length);
  return (
    <section className="results" aria-label={words.results} aria-busy={found.isLoading}>
      <div className="results-head">
        <Segmented label={words.where} choices={choices} value={where} onChange={setWhere} />
        <p role="status">{found.value && words.summary(count, words.modes[found.value.mode])}</p>
      </div>
      {found.problem && <ProblemNotice problem={found.problem} onRetry={found.reload} />}
      {!found.value && !found.problem && <Skeleton lines={6} />}
      {found.value && !found.problem && !results.length && (
        <EmptyState icon="search" title={words.nothingTitle(found.value.query)}>
          <p>{words.nothing}</p>
        </EmptyState>
      )}
      {results.length > 0 && (
        <ol role="list" className="card hits">
          {results.map((hit, rank) => (
            <li key={rank}>
              <HitRow hit={hit} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function HitRow({ hit }: { hit: Hit }) {
  const { memory, hits: words } = useWords();
  const format = useFormat();
  const { speakers } = memory.search;
  const speaker = speakers[hit.speaker as keyof typeof speakers] ?? hit.speaker;
  const inside = (
    <>
      <p className="hit-text">
        <MarkedText text={hit.text} terms={hit.terms} />
      </p>
      <p className="hit-meta">
        <Badge>
          <Icon name={ICONS[hit.source]} />
          {words.sources[hit.source]}
        </Badge>
        {hit.source === "memory" && hit.heading && <span>{hit.heading}</span>}
        {speaker && <span>{speaker}</span>}
        {hit.date && <span>{format.date(hit.date)}</span>}
        {isForeign(hit) && <Badge tone="warn">{words.foreign}</Badge>}
        {!hit.shown && <Badge>{words.notShown}</Badge>}
        {hit.newer && <span>{words.replaced(format.date(hit.newer.since), hit.newer.content)}</span>}
        <HitScore hit={hit} />
      </p>
    </>
  );
  const address = getHitAddress(hit);
  return address ? (
    <a className="hit" href={address}>
      {inside}
    </a>
  ) : (
    <div className="hit">{inside}</div>
  );
}

function HitScore({ hit }: { hit: Hit }) {
  const words = useWords().hits;
  const format = useFormat();
  const fit = Math.min(hit.score ?? 0, 1);
  const why = describeScore(hit, words, format);
  return (
    <span className="score" title={why}>
      <span className="visually-hidden">{why}</span>
      <span className="score-track" aria-hidden="true">
        <span className="score-fill" style={{ width: `${fit * 100}%` }} />
      </span>
    </span>
  );
}
