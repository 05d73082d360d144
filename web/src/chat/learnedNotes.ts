/** What was learned from conversations, shown where it was said. */

import { api, type ServerEvents } from "../api";
import { type PlacedNote, placeChange, placeLearned, placeNotes, placePending } from "./notes";
import { alterThread, alterTurn, getOpenThreads, getThread } from "./threads";

const RECENT_CHANGES = 200;

/** Return what was learned of late from a conversation, the oldest first. */
export async function loadNotes(key: string): Promise<PlacedNote[]> {
  try {
    const [{ changes }, { pending }] = await Promise.all([api.getChanges({ limit: RECENT_CHANGES }), api.getPending()]);
    const notes = [...pending.map(placePending), ...changes.flatMap(placeChange)];
    return notes.filter((one) => one.conversation === key).reverse();
  } catch {
    return []; // What was said is worth showing without them.
  }
}

/** Show what was learned from a conversation and could not be told. */
export async function showNotes(key: string): Promise<void> {
  if (getThread(key)?.turns.length) addNotes(key, await loadNotes(key));
}

function addNotes(key: string, notes: PlacedNote[]): void {
  const thread = getThread(key);
  if (thread && notes.length) alterThread(key, { notes, turns: placeNotes(thread.turns, notes, !thread.hasEarlier) });
}

/** Undo what was learned. */
export async function undoNote(key: string, id: number, change: number): Promise<void> {
  await api.undo(change);
  alterTurn(key, id, (now) => ({
    ...now,
    notes: now.notes.map((note) => (note.change === change ? { ...note, isUndone: true } : note)),
  }));
}

/** Show what was learned in the background where it was said; return what belongs elsewhere. */
export function showLearned({ facts }: ServerEvents["learnt"], shown: string): PlacedNote[] {
  const notes = facts.map(placeLearned);
  for (const { key, turns, hasEarlier } of getOpenThreads()) {
    const own = notes.filter((one) => one.conversation === key);
    if (own.length) alterThread(key, { turns: placeNotes(turns, own, !hasEarlier) });
  }
  return notes.filter((one) => one.conversation !== shown);
}
