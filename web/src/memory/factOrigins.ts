/** Who brought a fact, in words. */

import type { Words } from "../i18n";
import type { IconName } from "../ui";

type KnownOrigin = keyof Words["memory"]["origins"];

const ICONS: Record<KnownOrigin, IconName> = {
  user: "edit",
  request: "chat",
  learnt: "spark",
  tool: "leaf",
  import: "save",
  hand: "file",
};

/** Say who brought a fact; what has no origin was typed into the file. */
export function describeOrigin(origin: string | null | undefined, words: Words): string {
  if (!origin) return words.memory.origins.hand;
  return words.memory.origins[origin as KnownOrigin] ?? origin;
}

/** Draw who brought a fact. */
export function getOriginIcon(origin: string | null | undefined): IconName {
  return ICONS[(origin || "hand") as KnownOrigin] ?? "leaf";
}
