/** What the server says of itself is written for the command line: here it is put in the page's words. */

/** A pattern of the server's English, and what stands in its place. */
export type Phrase = [RegExp, string];

/** Put what the server says into the reader's words, as far as they are known. */
export function rephrase(text: string, phrases: Phrase[]): string {
  return phrases.reduce((said, [pattern, words]) => said.replace(pattern, words), text);
}

/** Write the moments that a sentence names as the reader's language does. */
export function writeMoments(text: string, write: (iso: string) => string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, write);
}

/** Split "what it is (why)" or "what it is; more" into the two. */
export function splitWhy(text: string): { main: string; why: string | null } {
  const [, main = text, why = ""] = /^([^(（;；]*?)\s*(?:[(（;；]\s*(.*?)[)）]?)?$/s.exec(text) ?? [];
  return { main: main || text, why: why || null };
}
