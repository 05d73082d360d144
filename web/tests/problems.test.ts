import { describe, expect, test } from "vitest";
import { makeUnreachable, Problem, type ProblemCode } from "../src/api";
import { en } from "../src/locales/en";
import { zhTW } from "../src/locales/zh-TW";
import { endSentence, explainProblem } from "../src/problems";

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
])("%s ends as a sentence", (text, sentence) => {
  expect(endSentence(text)).toBe(sentence);
});
