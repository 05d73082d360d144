import { expect, test } from "vitest";
import { hasOnlyNotes, joinTime, keepEdited, removeTitle, splitTime } from "../../src/memory/daily/noteText";

test("a note is its time and what was noted then", () => {
  expect(splitTime("08:30 換了\n燈泡")).toEqual({ time: "08:30", text: "換了\n燈泡" });
  expect(splitTime("typed by hand")).toEqual({ time: "", text: "typed by hand" });
  expect(joinTime("08:30", "x")).toBe("08:30 x");
  expect(joinTime("", "x")).toBe("x");
});

test("a day has only notes unless somebody wrote something else", () => {
  expect(hasOnlyNotes("\n- 08:30 one\n  more\n- two\n")).toBe(true);
  expect(hasOnlyNotes("- one\n\n## Evening\n\n- two\n")).toBe(false);
  expect(hasOnlyNotes("It rained.\n")).toBe(false);
});

test("the date above the notes is not shown twice", () => {
  expect(removeTitle("# 2026-11-17\n\n- x\n", "2026-11-17")).toBe("\n- x\n");
  expect(removeTitle("# Mine\n", "2026-11-17")).toBe("# Mine\n");
});

test("a note that is edited stays there whatever others do to it", () => {
  const edited = { at: 1, entry: "tea" };
  expect(keepEdited(["milk", "tea"], null)).toEqual({ entries: ["milk", "tea"], at: -1 });
  expect(keepEdited(["milk", "tea"], edited)).toEqual({ entries: ["milk", "tea"], at: 1 });
  expect(keepEdited(["tea", "jam"], edited).at).toBe(0);
  expect(keepEdited(["milk", "cocoa"], edited)).toEqual({ entries: ["milk", "tea", "cocoa"], at: 1 });
  expect(keepEdited([], edited)).toEqual({ entries: ["tea"], at: 0 });
});
