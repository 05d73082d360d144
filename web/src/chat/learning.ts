/** What was learnt from conversations, shown where it was said. */

import { api, type ServerEvents } from "../api";
import { type Placed, placed, placedChange, placedLearnt, placedPending } from "./notes";
import { alter, alterTurn, openThreads, threadOf } from "./threads";

const RECENT_CHANGES = 200;

/** Return what was learnt of late from a conversation, the oldest first. */
export async function notesOf(key: string): Promise<Placed[]> {
  try {
    const [{ changes }, { pending }] = await Promise.all([api.changes({ limit: RECENT_CHANGES }), api.pending()]);
    const notes = [...pending.map(placedPending), ...changes.flatMap(placedChange)];
    return notes.filter((one) => one.conversation === key).reverse();
  } catch {
    return []; // What was said is worth showing without them.
  }
}

/** Show what was learnt from a conversation and could not be told. */
export async function showNotes(key: string): Promise<void> {
  if (threadOf(key)?.turns.length) addNotes(key, await notesOf(key));
}

function addNotes(key: string, notes: Placed[]): void {
  const thread = threadOf(key);
  if (thread && notes.length) alter(key, { notes, turns: placed(thread.turns, notes, !thread.hasEarlier) });
}

/** Take back what was learnt. */
export async function takeBack(key: string, id: number, change: number): Promise<void> {
  await api.undo(change);
  alterTurn(key, id, (now) => ({
    ...now,
    notes: now.notes.map((note) => (note.change === change ? { ...note, isUndone: true } : note)),
  }));
}

/** Show what was learnt in the background where it was said; return what belongs elsewhere. */
export function learn({ facts }: ServerEvents["learnt"], shown: string): Placed[] {
  const notes = facts.map(placedLearnt);
  for (const { key, turns, hasEarlier } of openThreads()) {
    const own = notes.filter((one) => one.conversation === key);
    if (own.length) alter(key, { turns: placed(turns, own, !hasEarlier) });
  }
  return notes.filter((one) => one.conversation !== shown);
}
