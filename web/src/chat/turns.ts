/** A conversation as the page shows it: values, and how an answer's events change them. */

import { type ChatEvent, type Document, type Hit, type Message, type Preview, Problem, type StoredHit } from "../api";
import { NO_MODEL } from "../models/modelChoices";
import { mergeNotes, type Note } from "./notes";
import { markCited, type Shaped } from "./sources";

/** A fact that went into a prompt; one that is no longer there has no content. */
export interface UsedFact {
  id: string;
  content: string | null;
  line?: number | null;
  cited?: boolean;
}

/** Something found for a question; of older answers perhaps only its place is known. */
export type UsedHit = Omit<StoredHit, "source" | "cited"> &
  Partial<Pick<StoredHit, "cited">> &
  Pick<Hit, "source"> &
  Partial<Pick<Hit, "heading" | "time" | "speaker" | "trust" | "shown" | "bm25" | "vector">>;

/** What the server knows of a message beside its words. */
export type StoredMessage = Pick<
  Message,
  "id" | "role" | "parent" | "versions" | "trust" | "source" | "name" | "hidden" | "newer"
>;

export interface ToolUse {
  kind: "tool";
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Missing while it is at work. */
  result?: Record<string, unknown>;
}

/** An answer is text with tools used in between. */
export type Piece = { kind: "text"; text: string } | ToolUse;

/** Elsewhere: another tab or program is at the answer. */
export type TurnState = "waiting" | "answering" | "elsewhere" | "done" | "stopped" | "failed";

/** A message and its answer. */
export interface Turn {
  id: number;
  question: string;
  documents: Document[];
  time: string | null;
  pieces: Piece[];
  state: TurnState;
  problem: Problem | null;
  model: string | null;
  usage: { inputTokens: number; outputTokens: number; contextWindow: number | null } | null;
  shaped: Shaped | null;
  prompt: Preview | null;
  notes: Note[];
  /** The question as it is stored, once that is known. */
  asked: StoredMessage | null;
  /** The messages of the answer as they are stored, once they are known. */
  replied: StoredMessage[];
  /** Nothing was kept of a secret yet: the answer asks whether to keep it as it is. */
  asksToKeep: boolean;
  /** What it follows, where somebody chose that: it takes the place of what followed until now. */
  after?: number;
}

let lastId = 0;

/** Begin a turn whose answer is not there yet. */
export function newTurn(question: string, documents: Document[], time: string | null): Turn {
  lastId += 1;
  return {
    id: lastId,
    question,
    documents,
    time,
    pieces: [],
    state: "waiting",
    problem: null,
    model: null,
    usage: null,
    shaped: null,
    prompt: null,
    notes: [],
    asked: null,
    replied: [],
    asksToKeep: false,
  };
}

/** Whether the answer is still on its way. */
export function isUnderWay(turn: Turn | undefined): boolean {
  return turn?.state === "waiting" || turn?.state === "answering";
}

/** Return what was answered, without the tools in between. */
export function getAnswer(turn: Turn): string {
  return turn.pieces.flatMap((piece) => (piece.kind === "text" ? [piece.text] : [])).join("\n\n");
}

/** Return the turn as it is after an event. */
export function applyEvent(turn: Turn, event: ChatEvent): Turn {
  switch (event.name) {
    case "start":
      return { ...turn, model: event.data.model };
    case "memories":
      return { ...turn, shaped: event.data };
    case "prompt":
      return { ...turn, prompt: event.data, shaped: event.data };
    case "text":
      return { ...turn, state: "answering", pieces: appendText(turn.pieces, event.data.text) };
    case "tool":
      return {
        ...turn,
        pieces: [...turn.pieces, { kind: "tool", ...event.data, arguments: toRecord(event.data.arguments) }],
      };
    case "toolResult":
      return { ...turn, pieces: setResult(turn.pieces, event.data.id, event.data.result) };
    case "learnt":
      return {
        ...turn,
        notes: mergeNotes(
          turn.notes,
          event.data.facts.map((one) => ({ ...plain, ...one })),
        ),
      };
    case "usage":
      return { ...turn, usage: event.data };
    case "error":
      return { ...turn, state: "failed", problem: new Problem(event.data) };
    case "done":
      return {
        ...turn,
        state: "done",
        shaped: turn.shaped && markCited(turn.shaped, event.data.cited),
        asksToKeep: event.data.asksToKeep,
      };
    default:
      return turn;
  }
}

const plain = { before: null, quote: null, isUndone: false };

function appendText(pieces: Piece[], text: string): Piece[] {
  const last = pieces.at(-1);
  if (last?.kind !== "text") return [...pieces, { kind: "text", text: text.trimStart() }];
  return [...pieces.slice(0, -1), { kind: "text", text: last.text + text }];
}

/** Return pieces with what a tool gave, where its call is among them. */
export function setResult(pieces: Piece[], id: string, result: unknown): Piece[] {
  const isIt = (piece: Piece) => piece.kind === "tool" && piece.id === id;
  return pieces.map((piece) => (isIt(piece) ? ({ ...piece, result: toRecord(result) } as ToolUse) : piece));
}

/** Return a value if it is an object, else an empty one. */
export function toRecord(value: unknown): Record<string, unknown> {
  return value && typeof value === "object" ? (value as Record<string, unknown>) : {};
}

/** After so many seconds without a word it is said what the model does. */
export const LONG_WAIT_SECONDS = 8;

/** Whether a model, and not the memory alone, was asked and has said nothing for long. */
export function isLongWait(seconds: number, model: string | null): boolean {
  return seconds >= LONG_WAIT_SECONDS && model !== null && model !== NO_MODEL;
}
