import { describe, expect, test } from "vitest";
import { markTerms } from "../../src/memory/facts/markTerms";

function listMarked(text: string, terms: string[]): string[] {
  return markTerms(text, terms).flatMap((part) => (part.isMarked ? [part.text] : []));
}

describe("what was searched for is marked", () => {
  test("as a whole word", () => {
    expect(listMarked("lamp lamps clamp lamp.", ["lamp"])).toEqual(["lamp", "lamp"]);
  });

  test("inside a text without spaces", () => {
    expect(listMarked("客廳的燈叫做小明", ["小明", "客廳"])).toEqual(["客廳", "小明"]);
    expect(listMarked("用lamp照明", ["lamp"])).toEqual(["lamp"]);
  });

  test("in its longest form", () => {
    expect(listMarked("living room", ["living", "living room"])).toEqual(["living room"]);
  });

  test("whatever signs it has", () => {
    expect(listMarked("a C++ (1.0) test", ["C++", "(1.0)"])).toEqual(["C++", "(1.0)"]);
  });
});

test("nothing of a short text is lost", () => {
  const parts = markTerms("客廳的燈叫做小明。", ["燈"]);
  expect(parts.map((part) => part.text).join("")).toBe("客廳的燈叫做小明。");
  expect(markTerms("a text", [])).toEqual([{ text: "a text", isMarked: false }]);
});

test("a long text begins shortly before the first mark, at a word", () => {
  const [first] = markTerms(`${"word ".repeat(100)}lamp`, ["lamp"]);
  expect(first!.text).toMatch(/^… word /);
  expect(first!.text.length).toBeLessThan(70);
});
