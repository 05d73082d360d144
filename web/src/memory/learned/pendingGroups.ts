/** Facts that are pending review, below what they come from. */

import type { PendingFact } from "../../api";

export interface PendingGroup {
  key: string;
  /** A conversation's title, or the name of a document or tool; null where it is not known. */
  name: string | null;
  conversation: string | null;
  facts: PendingFact[];
}

/** Group facts by conversation, or else by document or tool, each group where its first fact stands. */
export function groupBySource(facts: PendingFact[]): PendingGroup[] {
  const groups = new Map<string, PendingGroup>();
  for (const fact of facts) {
    const { conversation, source, title } = fact;
    const key = source ? `source ${source}` : `conversation ${conversation}`;
    const group = groups.get(key) ?? {
      key,
      name: source ? source.replace(/^\w+:/, "") : title,
      conversation: source ? null : conversation,
      facts: [],
    };
    group.facts.push(fact);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Return the groups of the first so many facts, each with those of them that it has. */
export function takeFirst(groups: PendingGroup[], most: number): { group: PendingGroup; shown: PendingFact[] }[] {
  let left = most;
  return groups.flatMap((group) => {
    const shown = group.facts.slice(0, left);
    left -= shown.length;
    return shown.length ? [{ group, shown }] : [];
  });
}

/** Split a list into pieces of so many. */
export function splitInto<Item>(items: Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
