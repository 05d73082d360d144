import { api } from "../api";
import { useFormat, useWords } from "../i18n";
import { buildAddress } from "../route";
import { useServerEvent } from "../serverEvents";
import { Icon } from "../ui";
import { useLoaded } from "../useLoaded";

const KINDS = ["facts", "days", "conversations"] as const;

/** How much is remembered, in the place where answers later show what shaped them. */
export function MemorySummary() {
  const words = useWords().chat.summary;
  const format = useFormat();
  const stats = useLoaded((signal) => api.getStats(signal), []);
  useServerEvent("memory", stats.reload);
  return (
    <aside className="chat-summary" aria-label={words.title}>
      <h3>{words.title}</h3>
      <ul>
        {KINDS.map((kind) => (
          <li key={kind}>
            <strong>{stats.value ? format.number(stats.value[kind]) : "–"}</strong>{" "}
            {words[kind](stats.value?.[kind] ?? 0)}
          </li>
        ))}
      </ul>
      <a href={buildAddress("memory")}>
        <Icon name="leaf" /> {words.open}
      </a>
      {stats.value?.conversations === 0 && (
        <a href={buildAddress("memory", "import")}>
          <Icon name="history" /> {words.bring}
        </a>
      )}
    </aside>
  );
}
