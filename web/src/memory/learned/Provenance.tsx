import type { Source } from "../../api";
import { useFormat, useWords, type Words } from "../../i18n";
import { buildAddress } from "../../route";
import { Icon } from "../../ui";

interface ProvenanceProps {
  of: Partial<Source>;
  /** When it was written down. */
  time: string;
}

/** The words that something rests on, when they were said, and where. */
export function Provenance({ of, time }: ProvenanceProps) {
  const words = useWords();
  const format = useFormat();
  const when = of.messageTime ?? time;
  return (
    <div className="provenance">
      {of.quote && (
        <blockquote>
          <Icon name="quote" />
          <span>{of.quote}</span>
        </blockquote>
      )}
      <p className="fact-meta">
        <time dateTime={when} title={format.dateTime(when)}>
          {format.ago(when)}
        </time>
        {of.source && <span>{describeSource(of.source, words)}</span>}
        {of.conversation && <a href={buildAddress("chat", of.conversation)}>{words.memory.learned.conversation}</a>}
      </p>
    </div>
  );
}

function describeSource(source: string, words: Words): string {
  const [kind, ...name] = source.split(":");
  if (kind === "document") return words.memory.learned.document(name.join(":"));
  if (kind === "tool") return words.memory.learned.tool(name.join(":"));
  return source;
}
