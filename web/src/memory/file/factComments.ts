/** The invisible comments that name our facts, shown as small marks that stay at the ends of lines. */

import { insertNewlineAndIndent } from "@codemirror/commands";
import { insertNewlineContinueMarkup } from "@codemirror/lang-markdown";
import { EditorSelection, EditorState, type Extension, Prec, type Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";

// One space before it belongs to a comment; more are being typed at the end of the text.
const COMMENT = / ?<!-- turnleaf ([^>]*?) ?-->/g;
const AT_END = /(?: ?<!-- turnleaf [^>]*?-->)+[ \t]*$/;

/** What a comment says of its fact. */
export interface Marking {
  origin: string | null;
  time: string | null;
}

function parseMarking(fields: string): Marking {
  const values = new URLSearchParams(fields.trim().replaceAll(" ", "&"));
  return { origin: values.get("origin"), time: values.get("updated") ?? values.get("created") };
}

class Mark extends WidgetType {
  constructor(readonly words: string) {
    super();
  }

  override eq(other: Mark): boolean {
    return other.words === this.words;
  }

  override toDOM(): HTMLElement {
    const mark = document.createElement("span");
    mark.className = "cm-mark";
    mark.title = this.words;
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", this.words);
    return mark;
  }
}

/** Show each comment as a mark that says in words what it holds. */
export function showMarks(describe: (marking: Marking) => string): Extension {
  const matcher = new MatchDecorator({
    regexp: COMMENT,
    decoration: (match) => Decoration.replace({ widget: new Mark(describe(parseMarking(match[1]!))) }),
  });
  const folded = ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = matcher.createDeco(view);
      }
      update(update: ViewUpdate) {
        this.decorations = matcher.updateDeco(update, this.decorations);
      }
    },
    {
      decorations: (plugin) => plugin.decorations,
      provide: (plugin) => EditorView.atomicRanges.of((view) => view.plugin(plugin)?.decorations ?? Decoration.none),
    },
  );
  return [folded, cursorBefore, Prec.highest(keymap.of(KEYS))];
}

/** Return where the marks at the end of a line begin, if the position is at or behind that. */
function findMarks(doc: Text, position: number): number | null {
  const line = doc.lineAt(position);
  const found = AT_END.exec(line.text);
  const begin = found && line.from + found.index;
  return begin !== null && position >= begin ? begin : null;
}

/** What is typed at the end of a line belongs to its text: the cursor stays before the marks. */
const cursorBefore = EditorState.transactionFilter.of((transaction) => {
  if (!transaction.selection) return transaction;
  const { newDoc: doc, newSelection: chosen } = transaction;
  const ranges = chosen.ranges.map((range) => {
    const begin = range.empty ? findMarks(doc, range.head) : null;
    return begin === null || begin === range.head ? range : EditorSelection.cursor(begin);
  });
  if (ranges.every((range, at) => range === chosen.ranges[at])) return transaction;
  return [transaction, { selection: EditorSelection.create(ranges, chosen.mainIndex), sequential: true }];
});

/** Return the end of the line if the cursor stands before its last marks. */
function findEndBehindMarks(state: EditorState): number | null {
  const { head, empty } = state.selection.main;
  const isBefore = empty && findMarks(state.doc, head) === head;
  return isBefore ? state.doc.lineAt(head).to : null;
}

function insertLine(view: EditorView): boolean {
  const end = findEndBehindMarks(view.state);
  if (end === null) return false;
  view.dispatch(view.state.update({ selection: { anchor: end }, filter: false }));
  return insertNewlineContinueMarkup(view) || insertNewlineAndIndent(view);
}

function moveOnward(view: EditorView): boolean {
  const end = findEndBehindMarks(view.state);
  if (end === null) return false;
  view.dispatch({ selection: { anchor: Math.min(end + 1, view.state.doc.length) }, scrollIntoView: true });
  return true;
}

function joinLines(view: EditorView): boolean {
  const end = findEndBehindMarks(view.state);
  if (end === null || end === view.state.doc.length) return end !== null;
  view.dispatch({ changes: { from: end, to: end + 1 }, userEvent: "delete.forward" });
  return true;
}

const KEYS = [
  { key: "Enter", run: insertLine },
  { key: "Delete", run: joinLines },
  ...["ArrowRight", "Ctrl-ArrowRight", "Alt-ArrowRight"].map((key) => ({ key, run: moveOnward })),
];
