/** Where in a text the words stand that were searched for. */

const UNSPACED = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}]";
const LETTER = `[[\\p{L}\\p{N}]--${UNSPACED}]`;
const LONG_CHARS = 280;
const CHARS_BEFORE = 60;

export interface MarkedPart {
  text: string;
  isMarked: boolean;
}

/** Split a text where it is marked; a long one begins shortly before the first mark. */
export function markTerms(text: string, terms: string[]): MarkedPart[] {
  const pattern = buildPattern(terms);
  if (!pattern) return [{ text, isMarked: false }];
  const first = text.search(pattern);
  const isCut = text.length > LONG_CHARS && first > CHARS_BEFORE;
  const shown = isCut ? `… ${text.slice(findWordStart(text, first - CHARS_BEFORE))}` : text;
  const parts = shown.split(pattern).map((part, at) => ({ text: part, isMarked: at % 2 === 1 }));
  return parts.filter((part) => part.text !== "");
}

/** Words are found whole; scripts that put no space between words have no such edges. */
function buildPattern(terms: string[]): RegExp | null {
  const longestFirst = [...terms].sort((one, other) => other.length - one.length);
  const parts = longestFirst.map((term) => {
    const literal = term.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return new RegExp(UNSPACED, "v").test(term) ? literal : `(?<!${LETTER})${literal}(?!${LETTER})`;
  });
  return parts.length ? new RegExp(`(${parts.join("|")})`, "v") : null;
}

function findWordStart(text: string, at: number): number {
  const space = text.slice(at, at + CHARS_BEFORE / 2).search(/\s/);
  if (space >= 0) return at + space + 1;
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at + 1 : at;
}
