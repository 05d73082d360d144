import { describe, expect, test } from "vitest";
import { en } from "../src/locales/en";
import { zhTW } from "../src/locales/zh-TW";

/** List every text of a locale with its place; functions are called with numbers and names. */
function listTexts(words: unknown, place = ""): [string, string][] {
  if (typeof words === "string") return [[place, words]];
  if (typeof words === "function") return callWith(words as (...values: unknown[]) => unknown, place);
  if (words === null || typeof words !== "object" || words instanceof RegExp) return [];
  return Object.entries(words).flatMap(([key, value]) => listTexts(value, place ? `${place}.${key}` : key));
}

function callWith(say: (...values: unknown[]) => unknown, place: string): [string, string][] {
  for (const values of [["1", "2", "3"], [["甲", "乙"], "2"]]) {
    try {
      return listTexts(say(...values), place);
    } catch {
      // It takes other values.
    }
  }
  throw new Error(`${place} can be called with no values that are known here`);
}

const english = new Map(listTexts(en));
const chinese = new Map(listTexts(zhTW));
/** Texts in which something must be typed just so, and words of CodeMirror that are its keys. */
const TYPED = /^(settings\.fields\.|schedules\.(choices|example|form\.(timingHint|noTime))|memory\.file\.phrases|status\.phrases)/;

test("both languages say the same things", () => {
  const isShared = (place: string) => !/^(status\.phrases|chat\.leftOut|memory\.file\.phrases|schedules\.form\.noTime\.detail)\b/.test(place);
  expect([...chinese.keys()].filter(isShared)).toEqual([...english.keys()].filter(isShared));
});

describe.each([
  ["English", english],
  ["Chinese", chinese],
])("no text in %s", (_, texts) => {
  test("names an environment variable, an option or a command", () => {
    const commands = [...texts].filter(([, text]) => /\b[A-Z]+_[A-Z_]+\b|--\w|\bturnleaf \w|\bpip\b/.test(text));
    expect(commands).toEqual([]);
  });

  test("is empty, or has spaces at its ends by mistake", () => {
    const spaced = [...texts].filter(([, text]) => /^\s|\s{2}/.test(text.replace(/^ \(/, "(")));
    expect(spaced).toEqual([]);
  });
});

describe("Chinese texts", () => {
  test("have full-width punctuation", () => {
    const half = [...chinese].filter(([, text]) => /[一-鿿][,;:!?()]|[,;!?()][一-鿿]|\.\.\./.test(text));
    expect(half).toEqual([]);
  });

  test("hold no English sentence", () => {
    const sentences = [...chinese].filter(([place, text]) => !TYPED.test(place) && /[a-z]{2,} [a-z]{2,} [a-z]{2,}/.test(text));
    expect(sentences).toEqual([]);
  });

  test("are sentences that end as the English ones do", () => {
    const differing = [...chinese].filter(([place, text]) => {
      const other = english.get(place);
      return other !== undefined && !TYPED.test(place) && /[.…]$/.test(other) !== /[。…]$/.test(text);
    });
    expect(differing).toEqual([]);
  });
});

test("the same number has one name in every view", () => {
  const names = [...chinese.values()].filter((text) => /(相關|符合|相似)度/.test(text));
  expect(new Set(names.map((text) => /(相關|符合|相似)度/.exec(text)![0]))).toEqual(new Set(["相關度"]));
});

test("English texts have no space before an ellipsis", () => {
  expect([...english].filter(([, text]) => / …/.test(text))).toEqual([]);
});
