/** Text files that go with a message. */

import type { Document } from "../api";

const MOST_BYTES = 1_000_000;
const NAMES = /\.(txt|md|markdown)$/i;

/** Why a file cannot be attached. */
export class Refusal extends Error {
  constructor(
    readonly why: "notText" | "tooLarge",
    readonly file: string,
  ) {
    super(why);
  }
}

/** Return a document's size. */
export function countBytes({ text }: Document): number {
  return new TextEncoder().encode(text).length;
}

/** Add files to what is attached already; one of the same name takes its place. */
export async function readFiles(files: Iterable<File>, attached: Document[]): Promise<Document[]> {
  let documents = attached;
  for (const file of files) {
    if (file.size > MOST_BYTES) throw new Refusal("tooLarge", file.name);
    const others = documents.filter(({ name }) => name !== file.name);
    documents = [...others, { name: file.name, text: await readText(file) }];
    if (documents.reduce((sum, one) => sum + countBytes(one), 0) > MOST_BYTES) throw new Refusal("tooLarge", file.name);
  }
  return documents;
}

async function readText(file: File): Promise<string> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (NAMES.test(file.name) && !text.includes("\0")) return text;
  } catch {
    // The bytes are no text.
  }
  throw new Refusal("notText", file.name);
}
