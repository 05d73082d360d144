import { describe, expect, test } from "vitest";
import type { Change, Fact, LearnedLater, PendingFact } from "../../src/api";
import { mergeNotes, type Note, placeChange, placeLearned, placeNotes, placePending } from "../../src/chat/notes";
import { newTurn, type Turn } from "../../src/chat/turns";

const FACT = { id: "f", content: "客廳的燈叫做小明", createdAt: "2026-11-17T04:05:00Z" } as Fact;
const ADDED: Note = { action: "added", fact: FACT, before: null, quote: null, change: 7, isUndone: false };

function turnAt(time: string, question: string): Turn {
  return newTurn(question, [], time);
}

const TURNS = [turnAt("2026-11-17T04:00:00Z", "記住客廳的燈叫做小明"), turnAt("2026-11-17T04:10:00Z", "謝謝")];

function listPlaces(part: Partial<Note>, messageTime: string | null, isWhole = true): number[] {
  const placed = placeNotes(TURNS, [{ conversation: "web:1", messageTime, note: { ...ADDED, ...part } }], isWhole);
  return placed.map((turn) => turn.notes.length);
}

test("a note that a turn and the background both tell is shown once", () => {
  expect(mergeNotes([ADDED], [{ ...ADDED }])).toHaveLength(1);
  expect(mergeNotes([ADDED], [{ ...ADDED, change: null }])).toHaveLength(1);
  expect(mergeNotes([ADDED], [{ ...ADDED, action: "removed", change: 8 }])).toHaveLength(2);
});

describe("a note stands under", () => {
  test("the message of its time", () => {
    expect(listPlaces({}, "2026-11-17T04:10:00Z")).toEqual([0, 1]);
  });

  test("the message that it quotes", () => {
    expect(listPlaces({ quote: "客廳的燈" }, null)).toEqual([1, 0]);
  });

  test("the last message before it was learned", () => {
    expect(listPlaces({}, null)).toEqual([1, 0]);
  });

  test("nothing, if its message is not loaded yet", () => {
    expect(listPlaces({}, "2026-11-16T00:00:00Z")).toEqual([0, 0]);
    expect(listPlaces({ fact: { ...FACT, createdAt: "2026-11-16T00:00:00Z" } }, null, false)).toEqual([0, 0]);
  });
});

describe("a recorded change", () => {
  const change = { op: "update", n: 3, before: { ...FACT, content: "old" }, after: FACT, undoable: true } as Change;

  test("is a note with what was before, and can be undone", () => {
    expect(placeChange(change)[0]!.note).toMatchObject({ action: "changed", before: { content: "old" }, change: 3 });
  });

  test("that was undone, or is about no fact, is none", () => {
    expect(placeChange({ ...change, undone: true } as Change)).toEqual([]);
    expect(placeChange({ ...change, op: "write" } as Change)).toEqual([]);
  });

  test("that can no longer be undone has no number", () => {
    expect(placeChange({ ...change, undoable: false } as Change)[0]!.note.change).toBeNull();
  });
});

test("what is pending review and what was learned later are notes", () => {
  expect(placePending({ ...FACT, quote: "q", conversation: "web:1" } as PendingFact)).toMatchObject({
    conversation: "web:1",
    note: { action: "waiting", quote: "q", change: null },
  });
  const learned = { action: "superseded", fact: FACT, before: FACT, quote: "q", conversation: "web:1", change: 4 };
  expect(placeLearned(learned as LearnedLater).note).toMatchObject({ action: "changed", change: 4 });
});
