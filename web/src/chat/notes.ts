/** What the memory took from a conversation, and under which turn it belongs. */

import type { Change, Fact, LearnedLater, PendingFact } from "../api";
import type { Turn } from "./turns";

/** What the memory took from a turn. */
export interface Note {
  action: "added" | "changed" | "removed" | "ended" | "waiting";
  fact: Fact;
  before: Fact | null;
  quote: string | null;
  /** The number by which it can be taken back. */
  change: number | null;
  isUndone: boolean;
}

/** Add notes, each only once: the same may be told by a turn and by the background. */
export function mergeNotes(notes: Note[], more: Note[]): Note[] {
  const isSame = (one: Note, other: Note) => one.fact.id === other.fact.id && one.action === other.action;
  const isKnown = (note: Note) =>
    notes.some((one) => isSame(one, note) && (one.change === note.change || note.change === null));
  return [...notes, ...more.filter((note) => !isKnown(note))];
}

const ACTIONS: Record<string, Note["action"]> = {
  add: "added",
  update: "changed",
  delete: "removed",
  retire: "ended",
  revive: "added",
};

/** Where in a conversation a note belongs. */
export interface PlacedNote {
  conversation: string | null;
  messageTime: string | null;
  note: Note;
}

/** Return what a recorded change says, if it is about one fact and still holds. */
export function placeChange(change: Change): PlacedNote[] {
  const action = ACTIONS[change.op];
  const fact = change.after ?? change.before;
  if (!action || !fact || change.undone || change.undoes) return [];
  const before = action === "changed" ? (change.before ?? null) : null;
  const note = { action, fact, before, quote: change.quote ?? null, isUndone: false };
  const number = change.undoable ? change.n : null;
  return [{ ...readPlace(change), note: { ...note, change: number } }];
}

/** Return what waits for acceptance. */
export function placePending(fact: PendingFact): PlacedNote {
  const note = { fact, before: null, quote: fact.quote, change: null, isUndone: false };
  return { ...readPlace(fact), note: { ...note, action: "waiting" } };
}

function readPlace(source: { conversation?: string | null; messageTime?: string | null }): Omit<PlacedNote, "note"> {
  return { conversation: source.conversation ?? null, messageTime: source.messageTime ?? null };
}

/** Return what was learned in the background. */
export function placeLearned({ action, conversation, ...learned }: LearnedLater): PlacedNote {
  const note: Note = { ...learned, action: action === "superseded" ? "changed" : action, isUndone: false };
  return { conversation, messageTime: null, note };
}

/** Put notes under the turns that they come from; one of a message that is not loaded is left out. */
export function placeNotes(turns: Turn[], notes: PlacedNote[], isWhole: boolean): Turn[] {
  const at = notes.map((one) => findTurn(turns, one, isWhole));
  return turns.map((turn, number) => {
    const own = notes.filter((_, index) => at[index] === number).map((one) => one.note);
    return own.length ? { ...turn, notes: mergeNotes(turn.notes, own) } : turn;
  });
}

function findTurn(turns: Turn[], { messageTime, note }: PlacedNote, isWhole: boolean): number {
  const exact = turns.findIndex((turn) => turn.time !== null && turn.time === messageTime);
  if (exact >= 0) return exact;
  if (messageTime && turns[0]?.time && messageTime < turns[0].time) return -1;
  const quoted = turns.findLastIndex((turn) => !!note.quote && turn.question.includes(note.quote));
  if (quoted >= 0) return quoted;
  const earlier = turns.findLastIndex((turn) => turn.time !== null && turn.time <= note.fact.createdAt);
  return earlier >= 0 || !isWhole ? earlier : turns.length - 1;
}
