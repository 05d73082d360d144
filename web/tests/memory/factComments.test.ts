import { EditorState } from "@codemirror/state";
import { describe, expect, test } from "vitest";
import { getText, newState } from "../../src/memory/file/editor";

const LOOK = { label: "", empty: "", phrases: {}, describe: () => "", isMarkdown: true };
const LINE = "- 客廳的燈叫做小明 <!-- turnleaf id=1 origin=user -->";

function typeAt(state: EditorState, anchor: number, insert: string): string {
  const moved = state.update({ selection: { anchor } }).state;
  const at = moved.selection.main.head;
  return getText(moved.update({ changes: { from: at, insert } }).state);
}

describe("the editor of the memory's file", () => {
  test.each(["- a\n- b\n", "- a\r\n- b\r\n", "- a\r\n- b\n", "- a\rb\n", "no end", ""])("keeps %j to the byte", (text) => {
    expect(getText(newState(text, LOOK))).toBe(text);
  });

  test("puts what is typed at the end of a fact before the comment that names it", () => {
    expect(typeAt(newState(LINE, LOOK), LINE.length, "，很亮")).toBe(LINE.replace("小明", "小明，很亮"));
  });

  test("leaves the cursor where it is set inside the text", () => {
    expect(typeAt(newState(LINE, LOOK), 4, "的")).toBe(`${LINE.slice(0, 4)}的${LINE.slice(4)}`);
  });
});
