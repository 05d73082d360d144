import { api } from "../api";
import { useServerEvent } from "../events";
import { useFormat, useWords } from "../i18n";
import { useLoaded } from "../loading";
import { to } from "../route";
import { Icon } from "../ui";

const KINDS = ["facts", "days", "conversations"] as const;

/** How much there is to remember, where later stands what shaped an answer. */
export function Remembered() {
  const words = useWords().chat.remembered;
  const format = useFormat();
  const stats = useLoaded((signal) => api.stats(signal), []);
  useServerEvent("memory", stats.reload);
  return (
    <aside className="chat-remembered" aria-label={words.title}>
      <h3>{words.title}</h3>
      <ul>
        {KINDS.map((kind) => (
          <li key={kind}>
            <strong>{stats.value ? format.number(stats.value[kind]) : "–"}</strong> {words[kind](stats.value?.[kind] ?? 0)}
          </li>
        ))}
      </ul>
      <a href={to("memory")}>
        <Icon name="leaf" /> {words.open}
      </a>
    </aside>
  );
}
