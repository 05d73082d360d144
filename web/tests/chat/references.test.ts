import { expect, test } from "vitest";
import { findReferences } from "../../src/chat/references";
import type { Shaped } from "../../src/chat/sources";

const shaped = {
  facts: [{ id: "k7m2q9x4vd", content: "客廳的燈叫做小明", line: 3 }],
  hits: [
    { source: "conversations", conversation: "web:4f1c", message: 17 },
    { source: "daily", date: "2026-11-15", line: 2, message: null },
  ],
  leftOut: [],
} as unknown as Shaped;

test("a fact leads to its line, and a message to its conversation", () => {
  expect([...findReferences(shaped)]).toEqual([
    ["#k7m2q9x4vd", "#/memory/file?line=3"],
    ["#17", "#/chat/web%3A4f1c?message=17"],
  ]);
});

test("an answer of which nothing is known has no links", () => {
  expect(findReferences(null).size).toBe(0);
});
