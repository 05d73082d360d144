/** Facts below their categories. */

import type { Fact } from "../../api";

/** Return the facts of each category, in the order of the file. */
export function groupByCategory(facts: Fact[]): [string | null, Fact[]][] {
  const groups = new Map<string | null, Fact[]>();
  for (const fact of facts) groups.set(fact.category, [...(groups.get(fact.category) ?? []), fact]);
  return [...groups];
}

/** Name the heading of a category in the page. */
export function getGroupId(category: string | null): string {
  return `category-${encodeURIComponent(category ?? "")}`;
}
