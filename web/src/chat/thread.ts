/** A conversation as the page shows it: values, and how an answer's events change them. */

import {
  type Answer,
  type Change,
  type ChatEvent,
  type ConversationDetail,
  type Document,
  type Fact,
  type Hit,
  type LearntLater,
  type Message,
  type PendingFact,
  type Preview,
  Problem,
} from "../api";

/** A fact that went into a prompt; one that is no longer there has no content. */
export interface UsedFact {
  id: string;
  content: string | null;
  line?: number | null;
}

/** Something found for a question; of older answers only its place is known. */
export type UsedHit = Omit<Hit, "text"> & { text?: string };

/** What shaped an answer. */
export interface Shaped {
  facts: UsedFact[];
  hits: UsedHit[];
  leftOut: string[];
}

/** What the memory took from a turn. */
export interface Note {
  action: "added" | "changed" | "removed" | "waiting";
  fact: Fact;
  before: Fact | null;
  quote: string | null;
  /** The number by which it can be taken back. */
  change: number | null;
  isUndone: boolean;
}

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

export type TurnState = "waiting" | "answering" | "done" | "stopped" | "failed";

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
  };
}

/** Tell whether the answer is still on its way. */
export function isUnderWay(turn: Turn | undefined): boolean {
  return turn?.state === "waiting" || turn?.state === "answering";
}

/** Give what was answered, without the tools in between. */
export function answerOf(turn: Turn): string {
  return turn.pieces.flatMap((piece) => (piece.kind === "text" ? [piece.text] : [])).join("\n\n");
}

/** Give the turn as it is after an event. */
export function heard(turn: Turn, event: ChatEvent): Turn {
  switch (event.name) {
    case "start":
      return { ...turn, model: event.data.model };
    case "memories":
      return { ...turn, shaped: event.data };
    case "prompt":
      return { ...turn, prompt: event.data, shaped: event.data };
    case "text":
      return { ...turn, state: "answering", pieces: withText(turn.pieces, event.data.text) };
    case "tool":
      return { ...turn, pieces: [...turn.pieces, { kind: "tool", ...event.data, arguments: record(event.data.arguments) }] };
    case "toolResult":
      return { ...turn, pieces: turn.pieces.map((piece) => withResult(piece, event.data.id, event.data.result)) };
    case "learnt":
      return { ...turn, notes: withNotes(turn.notes, event.data.facts.map((one) => ({ ...plain, ...one }))) };
    case "usage":
      return { ...turn, usage: event.data };
    case "error":
      return { ...turn, state: "failed", problem: new Problem(event.data) };
    case "done":
      return { ...turn, state: "done" };
    default:
      return turn;
  }
}

const plain = { before: null, quote: null, isUndone: false };

function withText(pieces: Piece[], text: string): Piece[] {
  const last = pieces.at(-1);
  if (last?.kind !== "text") return [...pieces, { kind: "text", text: text.trimStart() }];
  return [...pieces.slice(0, -1), { kind: "text", text: last.text + text }];
}

function withResult(piece: Piece, id: string, result: unknown): Piece {
  return piece.kind === "tool" && piece.id === id ? { ...piece, result: record(result) } : piece;
}

function record(value: unknown): Record<string, unknown> {
  return value && typeof value === "object" ? (value as Record<string, unknown>) : {};
}

/** Add notes, each only once: the same may be told by a turn and by the background. */
export function withNotes(notes: Note[], more: Note[]): Note[] {
  const isSame = (one: Note, other: Note) => one.fact.id === other.fact.id && one.action === other.action;
  const isKnown = (note: Note) =>
    notes.some((one) => isSame(one, note) && (one.change === note.change || note.change === null));
  return [...notes, ...more.filter((note) => !isKnown(note))];
}

// What was kept

/** Give the turns of a conversation that was kept. */
export function turnsOf({ messages, answers }: ConversationDetail): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const text = textOf(message);
    if (message.role === "user") {
      turns.push({ ...newTurn(text, [], message.timestamp), state: "done", shaped: shapedBy(answers, message) });
    } else if (message.role === "assistant" && text) {
      if (!turns.length) turns.push({ ...newTurn("", [], message.timestamp), state: "done" });
      const last = turns.pop()!;
      turns.push({ ...last, pieces: [...last.pieces, { kind: "text", text }] });
    }
  }
  return turns;
}

function textOf({ content }: Message): string {
  if (typeof content === "string" || !content) return content ?? "";
  return content.map((part) => (typeof part.text === "string" ? part.text : "")).join("");
}

function shapedBy(answers: Answer[], message: Message): Shaped | null {
  const answer = answers.find((one) => one.time === message.timestamp);
  if (!answer) return null;
  const hits = answer.hits.map((hit) => ({ heading: null, conversation: null, speaker: null, ...hit }));
  return { facts: answer.memories, hits, leftOut: [] };
}

// What was learnt

const ACTIONS: Record<string, Note["action"]> = { add: "added", update: "changed", delete: "removed" };

/** Where in a conversation a note belongs. */
export interface Placed {
  conversation: string | null;
  messageTime: string | null;
  note: Note;
}

/** Give what a recorded change says, if it is about one fact and still holds. */
export function placedChange(change: Change): Placed[] {
  const action = ACTIONS[change.op];
  const fact = change.after ?? change.before;
  if (!action || !fact || change.undone || change.undoes) return [];
  const before = action === "changed" ? (change.before ?? null) : null;
  const note = { action, fact, before, quote: change.quote ?? null, isUndone: false };
  const number = change.undoable ? change.n : null;
  return [{ ...where(change), note: { ...note, change: number } }];
}

/** Give what waits for acceptance. */
export function placedPending(fact: PendingFact): Placed {
  const note = { fact, before: null, quote: fact.quote, change: null, isUndone: false };
  return { ...where(fact), note: { ...note, action: "waiting" } };
}

function where(source: { conversation?: string | null; messageTime?: string | null }): Omit<Placed, "note"> {
  return { conversation: source.conversation ?? null, messageTime: source.messageTime ?? null };
}

/** Give what was learnt in the background. */
export function placedLearnt({ action, conversation, ...learnt }: LearntLater): Placed {
  const note: Note = { ...learnt, action: action === "superseded" ? "changed" : action, isUndone: false };
  return { conversation, messageTime: null, note };
}

/** Put notes under the turns that they come from. */
export function placed(turns: Turn[], notes: Placed[]): Turn[] {
  const at = notes.map((one) => turnFor(turns, one));
  return turns.map((turn, number) => {
    const own = notes.filter((_, index) => at[index] === number).map((one) => one.note);
    return own.length ? { ...turn, notes: withNotes(turn.notes, own) } : turn;
  });
}

function turnFor(turns: Turn[], { messageTime, note }: Placed): number {
  const exact = turns.findIndex((turn) => turn.time !== null && turn.time === messageTime);
  if (exact >= 0) return exact;
  const quoted = turns.findLastIndex((turn) => !!note.quote && turn.question.includes(note.quote));
  if (quoted >= 0) return quoted;
  const earlier = turns.findLastIndex((turn) => turn.time !== null && turn.time <= note.fact.createdAt);
  return earlier >= 0 ? earlier : turns.length - 1;
}
