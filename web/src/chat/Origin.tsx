import { isForeign } from "../hits";
import { useFormat, useWords, type Words } from "../i18n";
import { Icon, type IconName } from "../ui";
import type { StoredMessage } from "./turns";

const ICONS: Record<string, IconName> = { stranger: "alert", tool: "settings", document: "file" };

/** Whose words they are, if they are not the user's or the assistant's own. */
export function Origin({ of }: { of: StoredMessage }) {
  const words = useWords().chat;
  const { trust, name } = of;
  if (!isForeign(of)) return name && of.role === "user" ? <p className="chat-origin">{name}</p> : null;
  return (
    <p className="chat-origin" title={words.originMeans}>
      <Icon name={ICONS[trust] ?? "alert"} />
      {describeOrigin(of, words)}
      <span className="visually-hidden">{words.originMeans}</span>
    </p>
  );
}

function describeOrigin({ trust, source, name, role }: StoredMessage, words: Words["chat"]): string {
  const [, ...rest] = (source ?? "").split(":");
  const named = name ?? rest.join(":");
  if (trust === "document" && role === "assistant") return words.origins.beside(named);
  return words.origins[trust as "stranger" | "tool" | "document"](named);
}

/** That a message was forgotten, and what that means. */
export function ForgottenNote() {
  const words = useWords().chat;
  return (
    <p className="chat-origin">
      <Icon name="mask" />
      {words.forgotten}
    </p>
  );
}

/** That something newer was said since, and what. */
export function ReplacedNote({ by }: { by: { since: string; content: string } }) {
  const words = useWords().hits;
  const format = useFormat();
  return (
    <p className="chat-origin">
      <Icon name="clock" />
      {words.replaced(format.date(by.since), by.content)}
    </p>
  );
}
