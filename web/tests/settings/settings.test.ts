import { describe, expect, test } from "vitest";
import type { Setting } from "../../src/api";
import { en } from "../../src/settings/en";
import { formatPercent, parsePercent, parseWholeNumber } from "../../src/settings/parseValue";
import { FIRST, groupSettings } from "../../src/settings/settingGroups";
import { zhTW } from "../../src/settings/zh-TW";

function make(key: string, value: unknown = null, from = "file"): Setting {
  return { key, value, from } as Setting;
}

describe("settings", () => {
  test("stand in their groups, in the page's order whatever the server's", () => {
    const groups = groupSettings([make("contextWindow"), make("memoryMaxItems"), make("enabled")]);
    expect(groups.map(([group, some]) => [group, some.map(({ key }) => key)])).toEqual([
      ["memory", ["enabled", "memoryMaxItems"]],
      ["model", ["contextWindow"]],
    ]);
  });

  test("that the page does not know come last; the first one and the model have places of their own", () => {
    expect(groupSettings([make(FIRST), make("model"), make("modelUrl"), make("tomorrows")]).map(([group]) => group)).toEqual(["other"]);
  });

  test("are described in both languages", () => {
    expect(Object.keys(zhTW.fields)).toEqual(Object.keys(en.fields));
    const units = (words: typeof en) => Object.keys(words.fields).filter((key) => words.fields[key]!.unit);
    expect(units(zhTW)).toEqual(units(en));
  });
});

describe("what is typed", () => {
  test.each([
    ["12", 12],
    ["", null],
    ["0", undefined],
    ["1.5", undefined],
    ["1e99", undefined],
    ["twelve", undefined],
  ])("%j as a whole number of at least one is %j", (typed, value) => {
    expect(parseWholeNumber(typed, 1)).toBe(value);
  });

  test.each([
    ["70", 0.7],
    ["33.3", 0.333],
    ["0", 0],
    ["100", 1],
    ["", null],
    ["101", undefined],
    ["-1", undefined],
    ["half", undefined],
  ])("%j as a percentage is %j", (typed, value) => {
    expect(parsePercent(typed)).toBe(value);
  });

  test("is read as it was written", () => {
    for (const share of [0, 0.07, 0.333, 0.7, 1]) expect(parsePercent(formatPercent(share))).toBe(share);
  });
});
