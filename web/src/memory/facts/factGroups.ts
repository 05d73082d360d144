/** Facts below their categories. */

import type { Fact } from "../../api";

/** Facts below one heading. */
export interface FactGroup {
  category: string | null;
  facts: Fact[];
}

/** Return the facts of each category, in the order of the file. */
export function groupByCategory(facts: Fact[]): FactGroup[] {
  const groups = new Map<string | null, FactGroup>();
  for (const fact of facts) {
    const group = groups.get(fact.category) ?? { category: fact.category, facts: [] };
    group.facts.push(fact);
    groups.set(fact.category, group);
  }
  return [...groups.values()];
}

/** A part of a group, which may begin before it and go on after it. */
export interface FactPart {
  group: FactGroup;
  /** How many facts of the group stand before it. */
  start: number;
  facts: Fact[];
}

/** Parts that are drawn together, or not at all while nobody looks there. */
export interface FactChunk {
  parts: FactPart[];
  rows: number;
}

/** Split groups into chunks of about so many facts; a large group goes on in the next chunk. */
export function splitIntoChunks(groups: FactGroup[], rows: number): FactChunk[] {
  const chunks: FactChunk[] = [];
  let chunk: FactChunk = { parts: [], rows: 0 };
  for (const group of groups) {
    for (let start = 0; start < group.facts.length; ) {
      const facts = group.facts.slice(start, start + rows - chunk.rows);
      chunk.parts.push({ group, start, facts });
      chunk.rows += facts.length;
      start += facts.length;
      if (chunk.rows < rows) continue;
      chunks.push(chunk);
      chunk = { parts: [], rows: 0 };
    }
  }
  return chunk.rows ? [...chunks, chunk] : chunks;
}
