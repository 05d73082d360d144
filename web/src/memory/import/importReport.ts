/** What an import found, in lines of words. */

import type { Import, Imported } from "../../api";
import type { Format } from "../../format";
import type { Words } from "../../i18n";

type ImportWords = Words["memory"]["importing"];

/** Where an import stands: what is shown of it depends on that alone. */
export type Step = "choose" | "read" | "found" | "import" | "done" | "stopped" | "failed";

/** Return where an import stands. */
export function findStep(latest: Import | null): Step {
  if (!latest) return "choose";
  const { state, dryRun } = latest;
  if (state === "receiving" || state === "running") return dryRun ? "read" : "import";
  if (state === "done") return dryRun ? "found" : "done";
  // What was only looked at and then left is nothing to report.
  return state === "stopped" && dryRun ? "choose" : state;
}

/** List what is in an export, the most important first. */
export function listFound(found: Imported, words: ImportWords, format: Format): string[] {
  const say = (count: number, text: (count: number, number: string) => string) =>
    count ? [text(count, format.number(count))] : [];
  return [
    ...say(found.conversations, (count, number) =>
      describeConversations(found, words.conversations(count, number), words, format),
    ),
    ...(found.conversations ? say(found.messages, words.messages) : []),
    ...say(found.memories, words.memories),
    ...say(found.older, words.older),
    ...say(found.knownMemories, words.known),
    ...say(found.toReview, words.toReview),
  ];
}

function describeConversations(found: Imported, count: string, words: ImportWords, format: Format): string {
  const names = Object.keys(found.programs).map((name) => words.programs[name] ?? name);
  const [from, to] = [found.oldest, found.newest].map((time) => time && format.shortDate(time));
  const span = from && to ? words.span(from, to) : "";
  return words.from(count, names.join(words.comma), span);
}

/** Whether an import would add nothing. */
export function isNothingNew(found: Imported): boolean {
  return !found.messages && !found.memories && !found.toReview;
}
