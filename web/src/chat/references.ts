/** The references in an answer that quotes: `#k7m2q9x4vd` is a fact, `#17` a message. */

import { getHitAddress } from "../hits";
import { buildAddress } from "../route";
import type { Shaped } from "./sources";

/** Return where the references of an answer lead, of all that went into it. */
export function findReferences(shaped: Shaped | null): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const { id, line } of shaped?.facts ?? []) {
    links.set(`#${id}`, `${buildAddress("memory", "file")}?line=${line ?? 1}`);
  }
  for (const hit of shaped?.hits ?? []) {
    const address = hit.message ? getHitAddress(hit) : null;
    if (address) links.set(`#${hit.message}`, address);
  }
  return links;
}
