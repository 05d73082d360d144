/** Put into the page's words what the server reports for its command line: parts and files in English, problems in the reader's language. */

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

/** Write the days that a sentence names as the reader's language does. */
export function writeDays(text: string, write: (day: string) => string): string {
  return text.replace(/\b\d{4}-\d\d-\d\d\b(?!T)/g, write);
}

/** Split "what it is (why)" or "what it is; more" into the two. */
export function splitWhy(text: string): { main: string; why: string | null } {
  const [, main = text, why = ""] = /^([^(（;；]*?)\s*(?:[(（;；]\s*(.*?)[)）]?)?$/s.exec(text) ?? [];
  return { main: main || text, why: why || null };
}
