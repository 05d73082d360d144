/** A schedule as a form holds it, and as the server takes it. */

import type { Schedule, Wanted } from "../api";
import { formatPlace, type ResultPlace, parsePlace } from "./resultPlaces";

export type ScheduleDraft = Omit<Wanted, "deliver" | "name"> & { name: string; place: ResultPlace };

/** A schedule of which nothing is known yet. */
export const EMPTY: Wanted = { prompt: "", timing: "", timezone: "", name: null, deliver: "log" };

/** Fill a form with a schedule. */
export function makeDraft({ name, deliver, ...rest }: Wanted): ScheduleDraft {
  return { ...rest, name: name ?? "", place: parsePlace(deliver) };
}

/** Return what is not filled in yet. */
export function findMissing({
  prompt,
  timing,
  place,
}: ScheduleDraft): "emptyPrompt" | "emptyTiming" | "emptyPlace" | null {
  if (!prompt.trim()) return "emptyPrompt";
  if (!timing.trim()) return "emptyTiming";
  return place.kind !== "log" && !place.name.trim() ? "emptyPlace" : null;
}

/** Return the schedule that a form describes. */
export function readDraft({ prompt, timing, name, place }: ScheduleDraft, timezone: string): Wanted {
  return { prompt, timing, timezone, name: name.trim() || null, deliver: formatPlace(place) };
}

/** Return only what is other than before: somebody else may have changed the rest. */
export function pickChanges(before: Schedule, wanted: Wanted): Partial<Wanted> {
  const keys = Object.keys(wanted) as (keyof Wanted)[];
  return Object.fromEntries(keys.filter((key) => wanted[key] !== before[key]).map((key) => [key, wanted[key]]));
}
