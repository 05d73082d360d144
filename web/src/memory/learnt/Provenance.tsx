import type { Source } from "../../api";
import { useFormat, useWords, type Words } from "../../i18n";
import { to } from "../../route";
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
        {of.source && <span>{sourceWords(of.source, words)}</span>}
        {of.conversation && <a href={to("chat", of.conversation)}>{words.memory.learnt.conversation}</a>}
      </p>
    </div>
  );
}

function sourceWords(source: string, words: Words): string {
  const [kind, ...name] = source.split(":");
  if (kind === "document") return words.memory.learnt.document(name.join(":"));
  if (kind === "tool") return words.memory.learnt.tool(name.join(":"));
  return source;
}
