import { describe, expect, test } from "vitest";
import { mergeTexts } from "../../src/memory/file/threeWayMerge";

const BASE = "# Memory\n- one\n- two\n- three\n";

describe("two edits of one file", () => {
  test("that do not touch are both kept", () => {
    const theirs = BASE.replace("- one", "- one, theirs");
    const yours = BASE.replace("- three", "- three, yours");
    expect(mergeTexts(BASE, theirs, yours)).toEqual({
      text: "# Memory\n- one, theirs\n- two\n- three, yours\n",
      conflicts: 0,
    });
  });

  test("that change one line differently are a conflict, in which yours stands", () => {
    const merged = mergeTexts(BASE, BASE.replace("two", "二"), BASE.replace("two", "兩"));
    expect(merged).toEqual({ text: BASE.replace("two", "兩"), conflicts: 1 });
  });

  test("that are the same are one", () => {
    const both = BASE.replace("two", "二");
    expect(mergeTexts(BASE, both, both)).toEqual({ text: both, conflicts: 0 });
  });

  test("that add at one place are kept one after the other", () => {
    expect(mergeTexts(BASE, `${BASE}- 四\n`, `${BASE}- 五\n`)).toEqual({ text: `${BASE}- 四\n- 五\n`, conflicts: 0 });
  });

  test("that add after a last line without an end stay lines of their own", () => {
    const { text } = mergeTexts("- one\n", "- one\n- theirs", "- one\n- yours");
    expect(text).toBe("- one\n- theirs\n- yours");
  });

  test("of which one deletes what the other changes are a conflict", () => {
    const merged = mergeTexts(BASE, BASE.replace("- two\n", ""), BASE.replace("two", "two, yours"));
    expect(merged).toEqual({ text: BASE.replace("two", "two, yours"), conflicts: 1 });
  });

  test("of which one is none give the other", () => {
    const theirs = "# Memory\n\n- 小明\n";
    expect(mergeTexts(BASE, theirs, BASE)).toEqual({ text: theirs, conflicts: 0 });
    expect(mergeTexts(BASE, BASE, theirs)).toEqual({ text: theirs, conflicts: 0 });
  });

  test("of an empty file are both kept", () => {
    expect(mergeTexts("", "- a\n", "- b\n").text).toBe("- a\n- b\n");
  });
});

test("whatever is edited where, nothing that one side alone added is lost", () => {
  const lines = Array.from({ length: 12 }, (_, at) => `- line ${at}\n`);
  const insert = (at: number, line: string) => [...lines.slice(0, at), line, ...lines.slice(at)].join("");
  for (let theirs = 0; theirs <= lines.length; theirs += 1) {
    for (let yours = 0; yours <= lines.length; yours += 1) {
      const { text, conflicts } = mergeTexts(lines.join(""), insert(theirs, "- 她的\n"), insert(yours, "- 我的\n"));
      expect([text.includes("- 她的\n"), text.includes("- 我的\n"), conflicts]).toEqual([true, true, 0]);
    }
  }
});
