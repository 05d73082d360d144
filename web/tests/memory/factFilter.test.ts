import { describe, expect, test } from "vitest";
import type { Fact } from "../../src/api";
import { EVERYTHING, type FactFilter, filterFacts, isFiltering, sortFacts } from "../../src/memory/facts/factFilter";

const NOW = new Date(2026, 10, 17, 12);

function makeFact(id: string, part: Partial<Fact>): Fact {
  const updatedAt = NOW.toISOString();
  return { id, content: id, category: null, origin: "user", pinned: false, updatedAt, ...part } as Fact;
}

const FACTS = [
  makeFact("lamp", { content: "The Lamp is in the hall", category: "Home" }),
  makeFact("tea", { content: "我早上喝烏龍茶", origin: "learnt", pinned: true }),
  makeFact("old", { content: "An old lamp", origin: null, updatedAt: new Date(2026, 9, 1).toISOString() }),
  makeFact("week", { content: "Seen", updatedAt: new Date(2026, 10, 11).toISOString() }),
];

describe("a filter leaves", () => {
  test.each<[Partial<FactFilter>, string[]]>([
    [{}, ["lamp", "tea", "old", "week"]],
    [{ text: "lamp" }, ["lamp", "old"]],
    [{ text: " HALL lamp " }, ["lamp"]],
    [{ text: "烏龍" }, ["tea"]],
    [{ category: "Home" }, ["lamp"]],
    [{ category: "" }, ["tea", "old", "week"]],
    [{ origin: "learnt" }, ["tea"]],
    [{ origin: "hand" }, ["old"]],
    [{ age: "today" }, ["lamp", "tea"]],
    [{ age: "week" }, ["lamp", "tea", "week"]],
    [{ isPinned: true }, ["tea"]],
    [{ isUnused: true }, ["lamp", "old", "week"]],
    [{ isUnused: true, isPinned: true }, []],
    [{ text: "lamp", origin: "user" }, ["lamp"]],
  ])("%o", (part, left) => {
    const filter = { ...EVERYTHING, ...part };
    expect(filterFacts(FACTS, filter, NOW, new Set(["tea", "gone"])).map((fact) => fact.id)).toEqual(left);
    expect(isFiltering(filter)).toBe(Object.keys(part).length > 0);
  });
});

test("an order is none of a filter's doing", () => {
  expect(isFiltering({ ...EVERYTHING, sorting: "newest" })).toBe(false);
});

test("facts stand by category as in the file, or all in one order", () => {
  expect(sortFacts(FACTS, "category").map((group) => group.category)).toEqual(["Home", null]);
  const [newest] = sortFacts(FACTS, "oldest");
  expect(newest!.facts.map((fact) => fact.id)).toEqual(["old", "week", "lamp", "tea"]);
  expect(sortFacts(FACTS, "text")[0]!.facts[0]!.id).toBe("old");
  expect(sortFacts([], "text")).toEqual([]);
});
