/** Which facts are shown, and in which order. */

import type { Fact } from "../../api";
import { type FactGroup, groupByCategory } from "./factGroups";

export type Sorting = "category" | "newest" | "oldest" | "text";
export type Age = "any" | "today" | "week" | "month" | "year";

export interface FactFilter {
  text: string;
  /** A category; "" is none of them, and null any. */
  category: string | null;
  /** An origin; "hand" is what was typed into the file, and null any. */
  origin: string | null;
  age: Age;
  isPinned: boolean;
  /** Only facts that no answer rests on. */
  isUnused: boolean;
  sorting: Sorting;
}

export const EVERYTHING: FactFilter = {
  text: "",
  category: null,
  origin: null,
  age: "any",
  isPinned: false,
  isUnused: false,
  sorting: "category",
};

const DAYS: Record<Exclude<Age, "any">, number> = { today: 0, week: 6, month: 29, year: 364 };

/** Whether a filter leaves something out. */
export function isFiltering(filter: FactFilter): boolean {
  return (Object.keys(EVERYTHING) as (keyof FactFilter)[]).some(
    (key) => key !== "sorting" && filter[key] !== EVERYTHING[key],
  );
}

/** Return the facts that a filter leaves; every word of its text has to be in a fact. `used` has the ids that answers rest on. */
export function filterFacts(facts: Fact[], filter: FactFilter, now: Date, used: ReadonlySet<string>): Fact[] {
  const words = filter.text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const since = findStart(filter.age, now);
  return facts.filter((fact) => {
    if (filter.category !== null && (fact.category ?? "") !== filter.category) return false;
    if (filter.origin !== null && (fact.origin || "hand") !== filter.origin) return false;
    if (filter.isPinned && !fact.pinned) return false;
    if (filter.isUnused && used.has(fact.id)) return false;
    if (since && new Date(fact.updatedAt) < since) return false;
    if (!words.length) return true;
    const text = fact.content.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function findStart(age: Age, now: Date): Date | null {
  if (age === "any") return null;
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - DAYS[age]);
}

/** Put facts in order: below their categories as in the file, or all below none. */
export function sortFacts(facts: Fact[], sorting: Sorting): FactGroup[] {
  if (sorting === "category") return groupByCategory(facts);
  const order: Record<Exclude<Sorting, "category">, (one: Fact, other: Fact) => number> = {
    newest: (one, other) => other.updatedAt.localeCompare(one.updatedAt),
    oldest: (one, other) => one.updatedAt.localeCompare(other.updatedAt),
    text: (one, other) => one.content.localeCompare(other.content),
  };
  return facts.length ? [{ category: null, facts: [...facts].sort(order[sorting]) }] : [];
}
