import { expect, test } from "vitest";
import type { Fact } from "../../src/api";
import { getGroupId, groupByCategory } from "../../src/memory/facts/factGroups";

test("facts stand below their categories, in the order of the file", () => {
  const facts = [["家", "燈"], [null, "茶"], ["家", "窗"]].map(([category, content]) => ({ category, content }) as Fact);
  const groups = groupByCategory(facts).map(([category, some]) => [category, some.map((fact) => fact.content)]);
  expect(groups).toEqual([["家", ["燈", "窗"]], [null, ["茶"]]]);
});

test("a category without a name and one of any name have different places", () => {
  expect(new Set([null, "家", "a b", "a/b"].map(getGroupId)).size).toBe(4);
});
