/** Two versions of one file, until they are one again. */

import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { useWords } from "../../i18n";
import { Notice } from "../../ui";
import { enableWriting, getText, type EditorLook, styleEditor } from "./editor";
import { mergeTexts } from "./threeWayMerge";

export interface ComparedVersions {
  /** What both were written from. */
  base: string;
  theirs: string;
  yours: string;
}

/** Gives the text to save. */
export interface Comparison {
  text: () => string;
}

interface CompareProps {
  versions: ComparedVersions;
  look: EditorLook;
  ref: Ref<Comparison>;
}

interface Sides {
  theirs: string;
  yours: string;
  look: EditorLook;
  names: { take: string; both: string; drop: string; keep: string; theirsLabel: string; yoursLabel: string };
  parent: HTMLElement;
}

const COMMENT = / ?<!-- turnleaf [^>]*-->/;
const NARROW = "(max-width: 55rem)";
const UNCHANGED = { margin: 3, minSize: 6 };

/** Show theirs beside yours, and let each difference be chosen. */
export function Compare({ versions, look, ref }: CompareProps) {
  const words = useWords().memory.merging;
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<EditorView | null>(null);
  const [isNarrow] = useState(() => matchMedia(NARROW).matches);
  const [joined] = useState(() => mergeTexts(versions.base, versions.theirs, versions.yours));
  useImperativeHandle(ref, () => ({ text: () => (shown.current ? getText(shown.current.state) : joined.text) }));

  useEffect(() => {
    const sides = { theirs: versions.theirs, yours: joined.text, look, names: words, parent: box.current! };
    const merge = isNarrow ? showUnified(sides) : showSideBySide(sides);
    shown.current = merge.view;
    merge.view.focus();
    return () => {
      shown.current = null;
      merge.destroy();
    };
  }, []);

  return (
    <section className="merging" aria-label={words.title}>
      <Notice tone="warn">
        <strong>{words.title}</strong>
        <p>{isNarrow ? words.explanationNarrow : words.explanation}</p>
        <p>{joined.conflicts ? words.conflicts(joined.conflicts) : words.none}</p>
      </Notice>
      <div className="card merging-card">
        {!isNarrow && (
          <div className="merging-heads" aria-hidden="true">
            <span>{words.theirs}</span>
            <span>{words.yours}</span>
          </div>
        )}
        <div ref={box} className={`editor ${isNarrow ? "editor-unified" : "editor-merge"}`} />
      </div>
    </section>
  );
}

interface Merge {
  /** The editor whose text will be saved. */
  view: EditorView;
  destroy: () => void;
}

function showSideBySide({ theirs, yours, look, names, parent }: Sides): Merge {
  const left = { ...look, label: names.theirsLabel };
  const right = { ...look, label: names.yoursLabel };
  const still = [EditorState.readOnly.of(true), EditorView.editable.of(false)];
  const merge: MergeView = new MergeView({
    parent,
    a: { doc: theirs, extensions: [styleEditor(left, theirs), still] },
    b: { doc: yours, extensions: [enableWriting(right), styleEditor(right, yours)] },
    revertControls: "a-to-b",
    renderRevertControl: () => makeChoices(() => merge, names),
    collapseUnchanged: UNCHANGED,
  });
  const fitting = new MutationObserver(() => fitChoices(merge, names));
  fitting.observe(merge.dom.querySelector(".cm-merge-revert")!, { childList: true });
  const destroy = () => {
    fitting.disconnect();
    merge.destroy();
  };
  return { view: merge.b, destroy };
}

/** Where only one side has text there is no both, and taking theirs is dropping yours. */
function fitChoices(merge: MergeView, names: Sides["names"]): void {
  for (const box of merge.dom.querySelectorAll<HTMLElement>(".merge-choices")) {
    const chunk = merge.chunks[Number(box.dataset.chunk)];
    const [instead, both] = box.children as unknown as [HTMLElement, HTMLElement];
    if (!chunk) continue;
    instead.textContent = chunk.fromA === chunk.toA ? names.drop : names.take;
    both.hidden = chunk.fromA === chunk.toA || chunk.fromB === chunk.toB;
  }
}

/** The buttons beside a difference: theirs in the place of yours, or before it. */
function makeChoices(merge: () => MergeView, names: Sides["names"]): HTMLElement {
  const box = document.createElement("div");
  box.className = "merge-choices";
  box.append(
    makeChoice(names.take, "take", () => takeTheirs(merge(), Number(box.dataset.chunk), true)),
    makeChoice(names.both, "both", () => takeTheirs(merge(), Number(box.dataset.chunk), false)),
  );
  return box;
}

function makeChoice(words: string, kind: string, act: (event: MouseEvent) => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `merge-choice merge-${kind}`;
  button.textContent = words;
  button.addEventListener("mousedown", (event) => {
    event.preventDefault();
    event.stopPropagation(); // the merge view would take any press here for one on its own button
  });
  button.addEventListener("click", act);
  return button;
}

function takeTheirs({ a, b, chunks }: MergeView, number: number, isInstead: boolean): void {
  const chunk = chunks[number];
  if (!chunk) return;
  const length = b.state.doc.length;
  const from = Math.min(chunk.fromB, length);
  const to = isInstead ? Math.min(chunk.toB, length) : from;
  const lines = a.state.sliceDoc(chunk.fromA, chunk.endA);
  const isWhole = chunk.fromA !== chunk.toA && (!isInstead || chunk.toB <= length);
  b.dispatch({ changes: { from, to, insert: isWhole ? lines + b.state.lineBreak : lines }, userEvent: "input.merge" });
  b.focus();
}

function showUnified({ theirs, yours, look, names, parent }: Sides): Merge {
  const named = { ...look, label: names.yoursLabel };
  const controls = (type: "reject" | "accept", act: (event: MouseEvent) => void) =>
    type === "reject" ? makeChoice(names.take, "take", act) : makeChoice(names.keep, "keep", act);
  const merging = unifiedMergeView({
    original: theirs,
    mergeControls: controls,
    syntaxHighlightDeletions: false,
    collapseUnchanged: UNCHANGED,
  });
  const state = EditorState.create({
    doc: yours,
    extensions: [enableWriting(named), styleEditor(named, yours), merging],
  });
  const view = new EditorView({ state, parent });
  const hide = () => view.dom.querySelectorAll(".cm-deletedLine").forEach(hideComments);
  const hiding = new MutationObserver(hide);
  hiding.observe(view.contentDOM, { childList: true, subtree: true });
  hide();
  const destroy = () => {
    hiding.disconnect();
    view.destroy();
  };
  return { view, destroy };
}

/** Take our comments out of a line that is only shown. */
function hideComments(line: Element): void {
  const found = COMMENT.exec(line.textContent ?? "");
  if (!found) return;
  const range = document.createRange();
  range.setStart(...findPlace(line, found.index));
  range.setEnd(...findPlace(line, found.index + found[0].length));
  range.deleteContents();
}

/** Find the text, and the place in it, that a place in a line is at. */
function findPlace(line: Element, at: number): [Node, number] {
  const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let rest = at;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const length = text.textContent!.length;
    if (rest <= length) return [text, rest];
    rest -= length;
  }
  return [line, line.childNodes.length];
}
