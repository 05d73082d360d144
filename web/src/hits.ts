/** What a search found: whose words they are, where they lead, and how well they fit. */

import type { Hit } from "./api";
import type { Format } from "./format";
import type { Words } from "./i18n";
import { buildAddress, buildMessageAddress } from "./route";

type HitPlace = Pick<Hit, "source"> & Partial<Pick<Hit, "date" | "conversation" | "message">> & { line?: number | null };
type ScoredHit = Partial<Pick<Hit, "score" | "bm25" | "vector">>;

/** Whether these are neither the user's nor the assistant's own words. */
export function isForeign({ trust }: { trust: string }): boolean {
  return trust !== "user" && trust !== "assistant";
}

/** Return the address of the line of the file, of the day, or of the message; older facts have none. */
export function getHitAddress({ source, date, line, conversation, message }: HitPlace): string | null {
  if (source === "memory") return `${buildAddress("memory", "file")}?line=${line ?? 1}`;
  if (source === "daily") return date ? buildAddress("memory", "daily", date) : null;
  if (!conversation) return null;
  return message ? buildMessageAddress(conversation, message) : buildAddress("chat", conversation);
}

/** Say how well something fits, and whether by its words or by its meaning. */
export function describeScore({ score, bm25, vector }: ScoredHit, words: Words["hits"], format: Format): string {
  const fit = format.percent(Math.min(score ?? 0, 1));
  const isByWords = typeof bm25 === "number";
  const isByMeaning = typeof vector === "number";
  if (isByWords && isByMeaning) return words.both(fit, format.percent(bm25), format.percent(vector));
  if (isByWords) return words.byWordsAlone(fit);
  return isByMeaning ? words.byMeaningAlone(fit) : words.score(fit);
}
