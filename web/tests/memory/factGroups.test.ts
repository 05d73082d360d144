import { expect, test } from "vitest";
import type { Fact } from "../../src/api";
import { groupByCategory, splitIntoChunks } from "../../src/memory/facts/factGroups";

function makeFacts(...facts: [string | null, string][]): Fact[] {
  return facts.map(([category, content]) => ({ category, content }) as Fact);
}

test("facts stand below their categories, in the order of the file", () => {
  const groups = groupByCategory(makeFacts(["家", "燈"], [null, "茶"], ["家", "窗"]));
  expect(groups.map(({ category, facts }) => [category, facts.map((fact) => fact.content)])).toEqual([
    ["家", ["燈", "窗"]],
    [null, ["茶"]],
  ]);
});

test("a category that is too large for a chunk goes on in the next", () => {
  const groups = groupByCategory(makeFacts(["a", "1"], ["b", "2"], ["b", "3"], ["b", "4"], ["c", "5"]));
  const chunks = splitIntoChunks(groups, 2);
  expect(
    chunks.map(({ parts }) => parts.map(({ group, start, facts }) => [group.category, start, facts.length])),
  ).toEqual([
    [["a", 0, 1], ["b", 0, 1]],
    [["b", 1, 2]],
    [["c", 0, 1]],
  ]);
  expect(chunks.map((chunk) => chunk.rows)).toEqual([2, 2, 1]);
  expect(splitIntoChunks([], 2)).toEqual([]);
});
