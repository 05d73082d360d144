/** What went wrong, in words that tell the reader what to do next. */

import { type ProblemCode, toProblem } from "./api";
import { capitalise } from "./format";

/** A sentence for the reader, and what only the server can say, in its own English. */
export interface Explanation {
  text: string;
  detail: string | null;
}

interface ProblemWords {
  unreachable: string;
  unknown: string;
  codes: Record<ProblemCode, string>;
  isServersLanguage: boolean;
}

/** Only the server knows what is wrong with a value or a file: who reads English needs no other sentence. */
const EXPLAINED_BY_SERVER: ProblemCode[] = ["invalid", "settings", "invalid-request", "corrupt-file", "storage"];
/** Our sentence says what to do in the page, the server's what happened. */
const EXPLAINED_BY_BOTH: ProblemCode[] = ["embedding", "model"];

/** Explain whatever was thrown. */
export function explainProblem(error: unknown, words: ProblemWords): Explanation {
  const problem = toProblem(error);
  const { code } = problem;
  if (problem.isUnreachable) return { text: words.unreachable, detail: null };
  const text = code === null ? words.unknown : words.codes[code];
  const isByServer = code === null || EXPLAINED_BY_SERVER.includes(code);
  if (!isByServer && !EXPLAINED_BY_BOTH.includes(code)) return { text, detail: null };
  const said = endSentence(capitalise(problem.message || problem.title));
  return isByServer && words.isServersLanguage ? { text: said, detail: null } : { text, detail: said };
}

/** Return a text with a full stop at its end. */
export function endSentence(text: string): string {
  if (/[.!?。！？]$/.test(text)) return text;
  return `${text}${/[\u4e00-\u9fff」）]$/.test(text) ? "。" : "."}`;
}
