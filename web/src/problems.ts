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
  /** What to do where the server's own advice was only for its command line. */
  checkSettings: string;
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
  const said = endSentence(capitalise(dropCommands(problem.message || problem.title)));
  return isByServer && words.isServersLanguage ? { text: said, detail: null } : { text, detail: said };
}

/** An environment variable, a command, an option, or a program in backquotes. */
const COMMAND = /\b[A-Z]+(?:_[A-Z]+)+\b|\bturnleaf [a-z]+|\bpip install\b|\B--[a-z]|`/;

/**
 * Leave out what the server advises to whoever sits at its command line: "what happened; what to do".
 * What to do in the page is said beside it.
 */
export function dropCommands(text: string): string {
  const [what = "", ...advice] = text.split(/(?=[;；])/);
  return [what, ...advice.filter((clause) => !COMMAND.test(clause))].join("");
}

/** Put a message of the server, which stands alone, as sentences of the page. */
export function rewriteMessage(message: string, words: Pick<ProblemWords, "checkSettings">): string {
  const said = dropCommands(message);
  const sentence = endSentence(capitalise(said));
  if (said === message) return sentence;
  return `${sentence}${sentence.endsWith("。") ? "" : " "}${words.checkSettings}`;
}

/** Return a text with a full stop at its end, as its language writes it; an English one may name something Chinese. */
export function endSentence(text: string): string {
  if (/[.!?。！？]$/.test(text)) return text;
  return `${text}${/^[\u4e00-\u9fff]|[，、；：（）「」]|[\u4e00-\u9fff]$/.test(text) ? "。" : "."}`;
}
