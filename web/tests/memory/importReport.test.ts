import { describe, expect, test } from "vitest";
import type { Import, Imported } from "../../src/api";
import { makeFormat } from "../../src/format";
import { en } from "../../src/locales/en";
import { zhTW } from "../../src/locales/zh-TW";
import { findStep, isNothingNew, listFound } from "../../src/memory/import/importReport";

const NOTHING: Imported = {
  conversations: 0,
  messages: 0,
  oldest: null,
  newest: null,
  programs: {},
  memories: 0,
  knownMemories: 0,
  older: 0,
  toReview: 0,
  leftOut: [],
  problems: [],
};
const PAST: Imported = {
  ...NOTHING,
  conversations: 1204,
  messages: 30_000,
  oldest: "2023-01-02T12:00:00.000Z",
  newest: "2026-10-01T12:00:00.000Z",
  programs: { chatgpt: 1200, other: 4 },
  memories: 35,
  toReview: 1,
};

test("what is in an export is told with its dates", () => {
  expect(listFound(PAST, en.memory.importing, makeFormat("en"))).toEqual([
    "1,204 conversations (ChatGPT, other) from Jan 2, 2023 to Oct 1, 2026",
    "30,000 new messages",
    "35 saved facts",
    "1 fact found in your own messages, for you to review",
  ]);
  expect(listFound(PAST, zhTW.memory.importing, makeFormat("zh-TW"))[0]).toBe(
    "1,204 段對話（ChatGPT、other），2023年1月2日至2026年10月1日",
  );
});

test("an export that is here already adds nothing", () => {
  expect(isNothingNew({ ...PAST, messages: 0, memories: 0, toReview: 0, knownMemories: 35 })).toBe(true);
  expect(isNothingNew(PAST)).toBe(false);
});

describe("what is shown follows from how an import stands", () => {
  test.each([
    ["receiving", true, "read"],
    ["running", true, "read"],
    ["running", false, "import"],
    ["done", true, "found"],
    ["done", false, "done"],
    ["stopped", true, "choose"],
    ["stopped", false, "stopped"],
    ["failed", true, "failed"],
  ] as const)("%s, dry run %s: %s", (state, dryRun, step) => {
    expect(findStep({ state, dryRun } as Import)).toBe(step);
  });
  test("nothing was imported yet", () => expect(findStep(null)).toBe("choose"));
});
