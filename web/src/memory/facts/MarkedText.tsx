import { markTerms } from "./markTerms";

/** A text with what was searched for marked. */
export function MarkedText({ text, terms }: { text: string; terms: string[] }) {
  return markTerms(text, terms).map((part, at) => (part.isMarked ? <mark key={at}>{part.text}</mark> : part.text));
}
