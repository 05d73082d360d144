/** The editor of a Markdown file: how it looks, what its keys do. */

import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { markdown, markdownLanguage } from "@codemirror/lang-markdown";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { diff } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { type ChangeSpec, EditorState, type Extension, StateEffect, StateField, Transaction } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  MatchDecorator,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { readNonce } from "../../nonce";
import { type Marking, showMarks } from "./factComments";

export interface EditorLook {
  /** The text's name for who listens. */
  label: string;
  empty: string;
  phrases: Record<string, string>;
  describe: (marking: Marking) => string;
  isMarkdown: boolean;
}

const HIGHLIGHTS = HighlightStyle.define([
  { tag: tags.heading1, class: "tok-heading tok-heading1" },
  { tag: tags.heading2, class: "tok-heading tok-heading2" },
  { tag: tags.heading, class: "tok-heading" },
  { tag: tags.strong, class: "tok-strong" },
  { tag: tags.emphasis, class: "tok-emphasis" },
  { tag: tags.strikethrough, class: "tok-strikethrough" },
  { tag: tags.monospace, class: "tok-code" },
  { tag: tags.link, class: "tok-link" },
  { tag: tags.quote, class: "tok-quote" },
  { tag: [tags.processingInstruction, tags.url, tags.comment, tags.meta, tags.contentSeparator], class: "tok-sign" },
]);

const MARKDOWN = markdown({ base: markdownLanguage, completeHTMLTags: false });
const CONTENT = { tabindex: "0", spellcheck: "true", autocapitalize: "sentences" };

const BULLET = Decoration.line({ class: "cm-bullet" });
const BULLETS = new MatchDecorator({
  regexp: /^[-*+] /g,
  decorate: (add, from) => add(from, from, BULLET),
});

/** What a bullet says stays to the right of its sign when it takes several lines. */
const bullets = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = BULLETS.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = BULLETS.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/** Return what every editor of the file needs, in whatever arrangement. */
export function styleEditor(look: EditorLook, text: string): Extension {
  return [
    EditorView.cspNonce.of(readNonce()),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ ...CONTENT, "aria-label": look.label }),
    EditorState.lineSeparator.of(findSeparator(text)),
    EditorState.phrases.of(look.phrases),
    syntaxHighlighting(HIGHLIGHTS),
    look.isMarkdown ? [MARKDOWN, bullets, showMarks(look.describe)] : [],
  ];
}

/** Return what an editor needs in which one can write. */
export function enableWriting(look: EditorLook): Extension {
  return [
    history(),
    search({ top: true }),
    highlightSelectionMatches(),
    placeholder(look.empty),
    found,
    keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
  ];
}

/** One kind of line ending is kept as it is; where several are mixed, all but \n count as text. */
function findSeparator(text: string): string {
  const returns = text.match(/\r/g)?.length ?? 0;
  const pairs = text.match(/\r\n/g)?.length ?? 0;
  const newlines = text.match(/\n/g)?.length ?? 0;
  return pairs > 0 && pairs === returns && pairs === newlines ? "\r\n" : "\n";
}

/** Begin to edit a text. */
export function newState(text: string, look: EditorLook): EditorState {
  return EditorState.create({ doc: text, extensions: [enableWriting(look), styleEditor(look, text)] });
}

/** Return the text, to the byte as it would be saved. */
export function getText(state: EditorState): string {
  return state.sliceDoc();
}

const QUICK = { scanLimit: 1_000 };

/** Let the editor show another text, and keep cursor and scrolling where they are in it. */
export function replaceText(view: EditorView, text: string, { undoable = false } = {}): void {
  const now = view.state.doc.toString();
  const next = view.state.toText(text).toString();
  const changes: ChangeSpec[] = diff(now, next, QUICK).map((change) => ({
    from: change.fromA,
    to: change.toA,
    insert: next.slice(change.fromB, change.toB),
  }));
  // What was typed just before must not be taken back together with it.
  const annotations = [Transaction.addToHistory.of(undoable), isolateHistory.of("full")];
  view.dispatch({ changes, annotations });
}

// The line that somebody was looking for

const find = StateEffect.define<number | null>();
const LINE = Decoration.line({ class: "cm-found" });

const found = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(lines, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(find)) return effect.value === null ? Decoration.none : Decoration.set(LINE.range(effect.value));
    }
    return transaction.docChanged ? Decoration.none : lines;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Show a line in the middle, with the cursor on it. */
export function jumpTo(view: EditorView, wanted: number): void {
  const { doc } = view.state;
  const line = doc.line(Math.min(Math.max(wanted, 1), doc.lines));
  view.dispatch({
    selection: { anchor: line.from },
    effects: [EditorView.scrollIntoView(line.from, { y: "center" }), find.of(line.from)],
  });
  view.focus();
}
