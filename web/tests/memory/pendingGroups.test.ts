import { expect, test } from "vitest";
import type { PendingFact } from "../../src/api";
import { groupBySource, splitInto, takeFirst } from "../../src/memory/learned/pendingGroups";

function makeFact(id: string, part: Partial<PendingFact>): PendingFact {
  return { id, content: id, conversation: null, source: null, title: null, ...part } as PendingFact;
}

const TRIP = { conversation: "import:chatgpt:c1", title: "A trip" };
const FACTS = [
  makeFact("1", TRIP),
  makeFact("2", { source: "document:信.md", conversation: "web:1" }),
  makeFact("3", TRIP),
  makeFact("4", {}),
];

test("facts stand below the conversation, the document or nothing that they come from", () => {
  const groups = groupBySource(FACTS);
  expect(groups.map(({ name, conversation, facts }) => [name, conversation, facts.map((fact) => fact.id)])).toEqual([
    ["A trip", "import:chatgpt:c1", ["1", "3"]],
    ["信.md", null, ["2"]],
    [null, null, ["4"]],
  ]);
});

test("a group of which not all is shown still has all", () => {
  const [first, ...others] = takeFirst(groupBySource(FACTS), 1);
  expect(others).toEqual([]);
  expect(first!.shown.map((fact) => fact.id)).toEqual(["1"]);
  expect(first!.group.facts.length).toBe(2);
});

test("a list is split into pieces", () => {
  expect(splitInto([1, 2, 3], 2)).toEqual([[1, 2], [3]]);
  expect(splitInto([], 2)).toEqual([]);
});
