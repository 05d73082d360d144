import { useState } from "react";
import { api, type Hit, type HitSource } from "../../api";
import { useServerEvent } from "../../events";
import { useFormat, useWords } from "../../i18n";
import { useLoaded } from "../../loading";
import { messageAddress, to } from "../../route";
import { Badge, EmptyState, Icon, type IconName, ProblemNotice, Segmented, Skeleton } from "../../ui";
import { Marked } from "./Marked";

const LIMIT = 20;
const ICONS: Record<HitSource, IconName> = { memory: "leaf", older: "leaf", daily: "calendar", conversations: "chat" };
const PLACES = Object.keys(ICONS) as HitSource[];
type Where = HitSource | "everywhere";

/** What fits best, from everywhere or from one place. */
export function SearchResults({ query }: { query: string }) {
  const words = useWords().memory.search;
  const [where, setWhere] = useState<Where>("everywhere");
  const source = where === "everywhere" ? undefined : where;
  const options = { limit: LIMIT, source, explain: true };
  const found = useLoaded((signal) => api.search(query, options, signal), [query, source]);
  useServerEvent("memory", found.reload);
  useServerEvent("settings", found.reload);
  useServerEvent("index", ({ done, total }) => {
    if (done === total) found.reload();
  });

  const choices: { value: Where; label: string }[] = [
    { value: "everywhere", label: words.everywhere },
    ...PLACES.map((value) => ({ value, label: words.sources[value] })),
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
              <Result hit={hit} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Result({ hit }: { hit: Hit }) {
  const words = useWords().memory.search;
  const format = useFormat();
  const speaker = words.speakers[hit.speaker as keyof typeof words.speakers] ?? hit.speaker;
  const inside = (
    <>
      <p className="hit-text">
        <Marked text={hit.text} terms={hit.terms} />
      </p>
      <p className="hit-meta">
        <Badge>
          <Icon name={ICONS[hit.source]} />
          {words.sources[hit.source]}
        </Badge>
        {hit.source === "memory" && hit.heading && <span>{hit.heading}</span>}
        {speaker && <span>{speaker}</span>}
        {hit.date && <span>{format.date(hit.date)}</span>}
        {isForeign(hit.trust) && <Badge tone="warn">{words.foreign}</Badge>}
        {!hit.shown && <Badge>{words.notShown}</Badge>}
        {hit.newer && <span>{words.replaced(format.date(hit.newer.since), hit.newer.content)}</span>}
        <Score hit={hit} />
      </p>
    </>
  );
  const address = addressOf(hit);
  return address ? (
    <a className="hit" href={address}>
      {inside}
    </a>
  ) : (
    <div className="hit">{inside}</div>
  );
}

function Score({ hit }: { hit: Hit }) {
  const words = useWords().memory.search;
  const format = useFormat();
  const explain = ({ bm25, vector }: Hit, score: string): string => {
    const isByWords = typeof bm25 === "number";
    const isByMeaning = typeof vector === "number";
    if (isByWords && isByMeaning) {
      return words.why(score, [words.byWords(format.percent(bm25)), words.byMeaning(format.percent(vector))]);
    }
    if (isByWords) return words.byWordsAlone(score);
    return isByMeaning ? words.byMeaningAlone(score) : score;
  };
  const fit = Math.min(hit.score ?? 0, 1);
  const why = explain(hit, words.score(format.percent(fit)));
  return (
    <span className="score" title={why}>
      <span className="visually-hidden">{why}</span>
      <span className="score-track" aria-hidden="true">
        <span className="score-fill" style={{ width: `${fit * 100}%` }} />
      </span>
    </span>
  );
}

/** Whether these are neither the user's nor the assistant's own words. */
function isForeign(trust: string): boolean {
  return trust !== "user" && trust !== "assistant";
}

/** Return the address of the line of the file, of the day, or of the message. */
function addressOf(hit: Hit): string | null {
  if (hit.source === "memory") return `${to("memory", "file")}?line=${hit.line}`;
  if (hit.source === "daily") return hit.date && to("memory", "daily", hit.date);
  if (!hit.conversation) return null;
  return hit.message ? messageAddress(hit.conversation, hit.message) : to("chat", hit.conversation);
}
