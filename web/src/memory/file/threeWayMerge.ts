/** Joining two texts that were written from the same third one. */

import { diff } from "@codemirror/merge";

interface MergeResult {
  text: string;
  /** How many places both changed, each in another way; there the text is yours. */
  conflicts: number;
}

/** Some lines of the base, and what one side has in their place. */
interface Edit {
  from: number;
  to: number;
  lines: string[];
}

const FIRST_CODE = 0x20;
const LAST_CODE = 0xd7ff;

/** Put their changes into your text wherever they do not touch what you changed. */
export function mergeTexts(base: string, theirs: string, yours: string): MergeResult {
  const [old, left, right] = [base, theirs, yours].map(splitLines) as [string[], string[], string[]];
  const codes = assignCodes([old, left, right]);
  if (!codes) return { text: yours, conflicts: 1 };
  const edits = [diffLines(old, left, codes), diffLines(old, right, codes)] as const;
  return mergeEdits(old, edits[0], edits[1]);
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Let a character stand for each different line, so that lines are compared as letters are. */
function assignCodes(texts: string[][]): Map<string, string> | null {
  const lines = new Set(texts.flat());
  if (lines.size > LAST_CODE - FIRST_CODE) return null;
  return new Map([...lines].map((line, at) => [line, String.fromCharCode(FIRST_CODE + at)]));
}

function diffLines(old: string[], now: string[], codes: Map<string, string>): Edit[] {
  const coded = (lines: string[]) => lines.map((line) => codes.get(line)!).join("");
  return diff(coded(old), coded(now)).map((change) => ({
    from: change.fromA,
    to: change.toA,
    lines: now.slice(change.fromB, change.toB),
  }));
}

function mergeEdits(old: string[], theirs: readonly Edit[], yours: readonly Edit[]): MergeResult {
  const left = [...theirs];
  const right = [...yours];
  const lines: string[] = [];
  let conflicts = 0;
  let at = 0;
  while (left.length || right.length) {
    const { mine, other, from, to } = takeNextPlace(left, right);
    lines.push(...old.slice(at, from));
    const [ours, others] = [applyEdits(old, mine, from, to), applyEdits(old, other, from, to)];
    if (!mine.length) lines.push(...others);
    else if (!other.length || isSame(ours, others)) lines.push(...ours);
    else if (from === to) lines.push(...endLines(others), ...ours);
    else {
      lines.push(...ours);
      conflicts += 1;
    }
    at = to;
  }
  return { text: [...lines, ...old.slice(at)].join(""), conflicts };
}

/** Take the next edit, with all that overlap it; what both insert at one place counts as such. */
function takeNextPlace(left: Edit[], right: Edit[]): { mine: Edit[]; other: Edit[]; from: number; to: number } {
  const place = { mine: [] as Edit[], other: [] as Edit[], ...findEarlier(left[0], right[0]) };
  const isInsertion = place.from === place.to;
  const touches = (edit: Edit | undefined) =>
    edit !== undefined && (edit.from < place.to || (isInsertion && edit.from === place.from && edit.to === place.to));
  for (;;) {
    const queue = touches(left[0]) ? left : touches(right[0]) ? right : null;
    if (!queue) return place;
    const edit = queue.shift()!;
    (queue === left ? place.other : place.mine).push(edit);
    place.to = Math.max(place.to, edit.to);
  }
}

function findEarlier(one: Edit | undefined, other: Edit | undefined): { from: number; to: number } {
  const [first] = [one, other].filter((edit) => edit !== undefined).sort((a, b) => a.from - b.from || a.to - b.to);
  return { from: first!.from, to: first!.to };
}

/** Return what some lines of the base become by one side's edits. */
function applyEdits(old: string[], edits: Edit[], from: number, to: number): string[] {
  const lines: string[] = [];
  let at = from;
  for (const edit of edits) {
    lines.push(...old.slice(at, edit.from), ...edit.lines);
    at = edit.to;
  }
  return [...lines, ...old.slice(at, to)];
}

function endLines(lines: string[]): string[] {
  return lines.map((line) => (line.endsWith("\n") ? line : `${line}\n`));
}

function isSame(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at]);
}
