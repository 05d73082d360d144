import type { ReactNode } from "react";

const UNSPACED = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}]";
const LETTER = `[[\\p{L}\\p{N}]--${UNSPACED}]`;
const LONG = 280;
const BEFORE = 60;

/** A text with what was asked for marked; a long one begins shortly before the first mark. */
export function Marked({ text, terms }: { text: string; terms: string[] }) {
  const pattern = patternOf(terms);
  if (!pattern) return text;
  const first = text.search(pattern);
  const start = text.length > LONG && first > BEFORE ? startOfWord(text, first - BEFORE) : 0;
  return (
    <>
      {start > 0 && "… "}
      {marked(text.slice(start), pattern)}
    </>
  );
}

function marked(text: string, pattern: RegExp): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(at, match.index), <mark key={match.index}>{match[0]}</mark>);
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

/** Words are found whole; scripts that put no space between words have no such edges. */
function patternOf(terms: string[]): RegExp | null {
  const longestFirst = [...terms].sort((one, other) => other.length - one.length);
  const parts = longestFirst.map((term) => {
    const literal = term.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return new RegExp(UNSPACED, "v").test(term) ? literal : `(?<!${LETTER})${literal}(?!${LETTER})`;
  });
  return parts.length ? new RegExp(parts.join("|"), "gv") : null;
}

function startOfWord(text: string, at: number): number {
  const space = text.slice(at, at + BEFORE / 2).search(/\s/);
  if (space >= 0) return at + space + 1;
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at + 1 : at;
}
