import { describe, expect, test } from "vitest";
import { makeFormat } from "../src/format";
import { describeScore, getHitAddress, isForeign } from "../src/hits";
import { en } from "../src/locales/en";
import { zhTW } from "../src/locales/zh-TW";

describe("what was found leads", () => {
  test.each([
    [{ source: "memory", line: 3 }, "#/memory/file?line=3"],
    [{ source: "memory", line: null }, "#/memory/file?line=1"],
    [{ source: "older", line: 3 }, null],
    [{ source: "daily", date: "2026-11-15" }, "#/memory/daily/2026-11-15"],
    [{ source: "daily", date: null }, null],
    [{ source: "conversations", conversation: "web:1", message: 7 }, "#/chat/web%3A1?message=7"],
    [{ source: "conversations", conversation: "web:1", message: null }, "#/chat/web%3A1"],
    [{ source: "conversations", conversation: null }, null],
  ] as const)("%j to %s", (hit, address) => {
    expect(getHitAddress(hit)).toBe(address);
  });
});

test("words of a tool, a document or a stranger are not one's own", () => {
  expect(["user", "assistant"].filter((trust) => isForeign({ trust }))).toEqual([]);
  expect(["tool", "document", "stranger"].filter((trust) => !isForeign({ trust }))).toEqual([]);
});

describe("a score", () => {
  test.each([
    [{ score: 0.87, bm25: 0.5, vector: 0.9 }, "87% match: words 50%, meaning 90%", "相關度 87%：字詞 50%，語意 90%"],
    [{ score: 0.5, bm25: 0.5, vector: null }, "50% match, by words alone", "相關度 50%，僅依字詞"],
    [{ score: 0.5, bm25: null, vector: 0.5 }, "50% match, by meaning alone", "相關度 50%，僅依語意"],
    [{ score: 1.2 }, "100% match", "相關度 100%"],
  ])("%j", (hit, english, chinese) => {
    expect(describeScore(hit, en.hits, makeFormat("en"))).toBe(english);
    expect(describeScore(hit, zhTW.hits, makeFormat("zh-TW"))).toBe(chinese);
  });
});
