import { describe, expect, test } from "vitest";
import type { Preview } from "../../src/api";
import { countBytes, readFiles, Refusal } from "../../src/chat/documents";
import { getTitle, groupByAge } from "../../src/chat/pastConversations";
import { splitPrompt } from "../../src/chat/promptParts";
import { explainUncited, markCited, splitSources } from "../../src/chat/sources";
import { makeEmptyThread } from "../../src/chat/threads";
import { newTurn } from "../../src/chat/turns";

describe("files that are attached", () => {
  test("are texts, and one of the same name takes the place of another", async () => {
    const first = await readFiles([new File(["燈"], "a.md"), new File(["one"], "b.txt")], []);
    expect(first.map(countBytes)).toEqual([3, 3]);
    const second = await readFiles([new File(["two"], "b.txt")], first);
    expect(second.map(({ name, text }) => `${name}: ${text}`)).toEqual(["a.md: 燈", "b.txt: two"]);
  });

  test.each([
    ["a picture", new File(["x"], "a.png"), "notText"],
    ["bytes that are no text", new File([new Uint8Array([0xff, 0xfe])], "a.txt"), "notText"],
    ["a text with zeros", new File(["a\0b"], "a.txt"), "notText"],
    ["a huge text", new File(["x".repeat(1_000_001)], "a.txt"), "tooLarge"],
  ])("are refused if they are %s", async (_, file, why) => {
    await expect(readFiles([file], [])).rejects.toEqual(new Refusal(why as "notText", file.name));
  });

  test("are refused if they are too large together", async () => {
    const half = (name: string) => new File(["x".repeat(600_000)], name);
    await expect(readFiles([half("a.txt"), half("b.txt")], [])).rejects.toMatchObject({ why: "tooLarge", file: "b.txt" });
  });
});

describe("what an answer rests on", () => {
  const nowhere = { file: "", line: 1, date: null, id: null, score: null, conversation: null, message: null, text: "" };
  const shaped = {
    facts: [
      { id: "a", content: "客廳的燈叫做小明" },
      { id: "b", content: "I live in Taichung" },
    ],
    hits: [
      { ...nowhere, source: "daily" as const },
      { ...nowhere, source: "conversations" as const },
    ],
    leftOut: [],
  };

  test("stands apart from what else was in the prompt", () => {
    const { cited, others } = splitSources(markCited(shaped, { facts: ["b", "gone"], hits: [1] }));
    expect(cited.map((one) => (one.kind === "fact" ? one.fact.id : one.hit.source))).toEqual(["b", "conversations"]);
    expect(others.map((one) => (one.kind === "fact" ? one.fact.id : one.hit.source))).toEqual(["a", "daily"]);
  });

  test("is nothing while the answer is on its way", () => {
    expect(splitSources(shaped).cited).toEqual([]);
  });

  test.each([
    ["recall", "done", "nothing"],
    ["ollama:qwen3", "done", "notMarked"],
    ["ollama:qwen3", "answering", null],
  ] as const)("is explained where none is marked: %s, %s", (model, state, why) => {
    expect(explainUncited(splitSources(shaped), { model, state })).toBe(why);
  });
});

describe("past conversations", () => {
  const now = new Date("2026-11-17T12:00");
  const at = (updatedAt: string) => ({ key: updatedAt, title: "", updatedAt, searched: true });

  test("are put together by how long ago they were", () => {
    const past = ["2026-11-17T00:01", "2026-11-16T23:59", "2026-11-11T08:00", "2026-11-10T23:00"].map(at);
    expect(groupByAge(past, now).map(([group, some]) => [group, some.length])).toEqual([
      ["today", 1],
      ["yesterday", 1],
      ["week", 1],
      ["earlier", 1],
    ]);
  });

  test("of a clock that is ahead are today's", () => {
    expect(groupByAge([at("2026-11-18T09:00")], now).map(([group]) => group)).toEqual(["today"]);
  });

  test("are called by their first question, cut between characters", () => {
    const thread = { ...makeEmptyThread("web:1", false), turns: [newTurn(`${"燈".repeat(59)}🌱🌱`, [], null)] };
    expect(getTitle(thread)).toBe(`${"燈".repeat(59)}🌱…`);
    expect(getTitle({ ...thread, title: "燈" })).toBe("燈");
    expect(getTitle({ ...thread, turns: [] })).toBeNull();
  });
});

test("a prompt is shown in the parts that it was made of", () => {
  const prompt = {
    system: "Be kind.\n\n## Long-term Memory\n<memory>小明</memory>",
    messages: [
      { role: "user", content: "嗨" },
      { role: "user", content: "<context>found</context>\n\n燈？" },
    ],
    sections: ["System prompt", "Long-term Memory", "History", "Relevant Past Context", "Message"].map((name) => ({ name, tokens: 1 })),
  } as unknown as Preview;
  expect(splitPrompt(prompt, "燈？").map(({ name, text }) => [name, text])).toEqual([
    ["system", "Be kind."],
    ["memory", "## Long-term Memory\n<memory>小明</memory>"],
    ["history", "[user]\n嗨"],
    ["context", "<context>found</context>"],
    ["message", "燈？"],
  ]);
});
