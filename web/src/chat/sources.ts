/** What an answer rests on, and what else was in its prompt. */

import type { Cited } from "../api";
import { NO_MODEL } from "../models/modelChoices";
import type { Turn, UsedFact, UsedHit } from "./turns";

export interface Shaped {
  facts: UsedFact[];
  hits: UsedHit[];
  leftOut: string[];
}

export type AnswerSource = { kind: "fact"; fact: UsedFact } | { kind: "hit"; hit: UsedHit };

/** Return what was in the prompt, with a mark at what the answer cites. */
export function markCited(shaped: Shaped, cited: Cited): Shaped {
  return {
    ...shaped,
    facts: shaped.facts.map((fact) => ({ ...fact, cited: cited.facts.includes(fact.id) })),
    hits: shaped.hits.map((hit, at) => ({ ...hit, cited: cited.hits.includes(at) })),
  };
}

/** Return what the answer rests on apart from the rest. */
export function splitSources({ facts, hits }: Shaped): { cited: AnswerSource[]; others: AnswerSource[] } {
  const all: AnswerSource[] = [
    ...facts.map((fact) => ({ kind: "fact" as const, fact })),
    ...hits.map((hit) => ({ kind: "hit" as const, hit })),
  ];
  const isCited = (one: AnswerSource) => Boolean(one.kind === "fact" ? one.fact.cited : one.hit.cited);
  return { cited: all.filter(isCited), others: all.filter((one) => !isCited(one)) };
}

/** Return why no source is shown as used: there was none, or a model did not mark what it used. */
export function explainUncited(
  { cited, others }: { cited: AnswerSource[]; others: AnswerSource[] },
  { state, model }: Pick<Turn, "state" | "model">,
): "nothing" | "notMarked" | null {
  if (cited.length) return null;
  if (!others.length) return "nothing";
  if (state !== "done") return null;
  // Without a model the answer names all that it quotes, so what is not named was not used.
  return model === NO_MODEL ? "nothing" : "notMarked";
}
