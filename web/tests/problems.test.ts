import { describe, expect, test } from "vitest";
import { makeUnreachable, Problem, type ProblemCode } from "../src/api";
import { en } from "../src/locales/en";
import { zhTW } from "../src/locales/zh-TW";
import { dropCommands, endSentence, explainProblem, rewriteMessage } from "../src/problems";

function refuse(code: ProblemCode | null, detail = "the timing 'x' says no time"): Problem {
  return new Problem({ title: "Refused", status: 422, detail, code: code ?? undefined });
}

describe("a problem", () => {
  test("that is expected is told in the page's own words alone", () => {
    expect(explainProblem(refuse("memory-full", "set MEMORY_MAX_ITEMS"), en.errors)).toEqual({
      text: en.errors.codes["memory-full"],
      detail: null,
    });
  });

  test("with a value is told by the server to who reads English", () => {
    expect(explainProblem(refuse("invalid"), en.errors)).toEqual({ text: "The timing 'x' says no time.", detail: null });
    expect(explainProblem(refuse("invalid"), zhTW.errors)).toEqual({
      text: zhTW.errors.codes.invalid,
      detail: "The timing 'x' says no time.",
    });
  });

  test("with a model says what to click, and what happened", () => {
    const { text, detail } = explainProblem(refuse("model", "openai:x: connection refused"), en.errors);
    expect(text).toContain("Settings");
    expect(detail).toBe("openai:x: connection refused.");
  });

  test("of a server that is away is that", () => {
    expect(explainProblem(makeUnreachable(), zhTW.errors).text).toBe(zhTW.errors.unreachable);
  });

  test("of the page itself is told as far as it is known", () => {
    expect(explainProblem(new Error("out of memory"), en.errors).text).toBe("Out of memory.");
    expect(explainProblem("odd", zhTW.errors)).toEqual({ text: zhTW.errors.unknown, detail: "Odd." });
  });
});

test.each([
  ["Copy it again", "Copy it again."],
  ["Copy it again.", "Copy it again."],
  ["請重新複製", "請重新複製。"],
  ["請重新複製。", "請重新複製。"],
  ["the schedule 早安 has failed (no route)", "the schedule 早安 has failed (no route)."],
  ["連不上（Name or service not known）；請檢查 https://api.example.com/v1", "連不上（Name or service not known）；請檢查 https://api.example.com/v1。"],
])("%s ends as a sentence", (text, sentence) => {
  expect(endSentence(text)).toBe(sentence);
});

describe("advice for the command line", () => {
  test.each([
    ["x cannot be reached (no route); check the network, and TURNLEAF_MODEL_URL if you use it", "x cannot be reached (no route)"],
    ["連不上 x（no route）；請檢查網路；如果有設定 TURNLEAF_MODEL_URL，也請檢查它", "連不上 x（no route）；請檢查網路"],
    ["nothing waits by the id a1; turnleaf review lists what does", "nothing waits by the id a1"],
    ["x is not running; start it with `x serve`; then try again", "x is not running; then try again"],
    ["there is a second folder; --data-dir chooses between them", "there is a second folder"],
    ["the disk is full; make room", "the disk is full; make room"],
  ])("is left out of %s", (message, said) => {
    expect(dropCommands(message)).toBe(said);
  });

  test("is replaced where the message stands alone", () => {
    const message = "x cannot be reached (no route); set TURNLEAF_MODEL_URL";
    expect(rewriteMessage(message, en.errors)).toBe(`X cannot be reached (no route). ${en.errors.checkSettings}`);
    expect(rewriteMessage("連不上 x；請執行 turnleaf setup", zhTW.errors)).toBe(`連不上 x。${zhTW.errors.checkSettings}`);
    expect(rewriteMessage("the disk is full; make room", en.errors)).toBe("The disk is full; make room.");
  });
});
