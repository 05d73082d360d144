/** Stored messages as turns, page by page. */

import type { HitSource, Message, ShapedBy, ToolCall } from "../api";
import type { Shaped } from "./sources";
import { newTurn, type Piece, type StoredMessage, setResult, type Turn, type TurnState, toRecord } from "./turns";

const STATES: Record<Message["status"], TurnState> = {
  complete: "done",
  stopped: "stopped",
  failed: "failed",
  answering: "elsewhere",
};

/** Return the turns of stored messages; an answer whose question is on another page begins one without it. */
export function buildTurns(messages: Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    if (message.role === "user") {
      turns.push({ ...newTurn(readText(message), [], message.timestamp), state: "done", asked: pickStored(message) });
    } else if (!turns.length) {
      turns.push({ ...newTurn("", [], message.timestamp), state: "done" });
    }
    turns.push(addMessage(turns.pop()!, message));
  }
  return turns;
}

function addMessage(turn: Turn, message: Message): Turn {
  const state = message.status === "complete" ? turn.state : STATES[message.status];
  const shaped = message.shapedBy ? readShaped(message.shapedBy) : turn.shaped;
  if (message.role === "user") return { ...turn, state, shaped };
  return {
    ...turn,
    state,
    shaped,
    pieces: addPieces(turn.pieces, message),
    replied: [...turn.replied, pickStored(message)],
  };
}

function addPieces(pieces: Piece[], message: Message): Piece[] {
  const text = readText(message);
  if (message.role === "tool") return addToolResult(pieces, message, text);
  const said: Piece[] = text ? [{ kind: "text", text }] : [];
  return [...pieces, ...said, ...(message.toolCalls ?? []).map(readToolCall)];
}

function addToolResult(pieces: Piece[], { toolCallId, name }: Message, text: string): Piece[] {
  const id = toolCallId ?? "";
  const result = parseRecord(text) ?? { text };
  const isKnown = pieces.some((piece) => piece.kind === "tool" && piece.id === id);
  return isKnown
    ? setResult(pieces, id, result)
    : [...pieces, { kind: "tool", id, name: name ?? "", arguments: {}, result }];
}

function readToolCall(call: ToolCall): Piece {
  const given = toRecord(parseRecord(call.function?.arguments ?? ""));
  return { kind: "tool", id: call.id ?? "", name: call.function?.name ?? "", arguments: given };
}

function parseRecord(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === "object" ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function readText({ content }: Message): string {
  if (typeof content === "string" || !content) return content ?? "";
  return content.map((part) => (typeof part.text === "string" ? part.text : "")).join("");
}

function pickStored({ id, role, parent, versions, trust, source, name, hidden, newer }: Message): StoredMessage {
  return { id, role, parent, versions, trust, source, name, hidden, newer };
}

function readShaped({ memories, hits }: ShapedBy): Shaped {
  const known = hits.map((hit) => ({ ...hit, source: hit.source as HitSource }));
  return { facts: memories, hits: known, leftOut: [] };
}

// Which messages a turn is made of

/** Return the ids of a turn's messages, as far as they are known. */
export function listIds({ asked, replied }: Turn): number[] {
  return [asked, ...replied].flatMap((one) => one?.id ?? []);
}

/** Return the id of the first message that is known of some turns. */
export function findFirstId(turns: Turn[]): number | null {
  return turns.flatMap(listIds)[0] ?? null;
}

/** Return the id of the last message that is known of some turns. */
export function findLastId(turns: Turn[]): number | null {
  return turns.flatMap(listIds).at(-1) ?? null;
}

/** Whether a message is among some turns. */
export function hasMessage(turns: Turn[], message: number): boolean {
  return turns.some((turn) => listIds(turn).includes(message));
}

// Putting together what was loaded at different times

/** Join two pages; an answer without its question goes to the end of the page before. */
export function joinPages(older: Turn[], newer: Turn[], shown: "older" | "newer"): Turn[] {
  const [head, ...rest] = newer;
  const last = older.at(-1);
  if (!head || !last || head.asked) return [...older, ...newer];
  const whole: Turn = {
    ...last,
    id: shown === "older" ? last.id : head.id,
    pieces: joinPieces(last.pieces, head.pieces),
    replied: [...last.replied, ...head.replied],
    state: head.state,
    shaped: head.shaped ?? last.shaped,
    notes: [...last.notes, ...head.notes],
  };
  return [...older.slice(0, -1), whole, ...rest];
}

function joinPieces(older: Piece[], newer: Piece[]): Piece[] {
  return newer.reduce<Piece[]>((pieces, piece) => {
    const isResult = piece.kind === "tool" && pieces.some((one) => one.kind === "tool" && one.id === piece.id);
    return isResult ? setResult(pieces, piece.id, piece.result) : [...pieces, piece];
  }, older);
}

/** Return turns what is known of them on the server, from the newest back to where they differ. */
export function mergeStored(ours: Turn[], theirs: Turn[]): Turn[] {
  const turns = [...ours];
  let at = turns.length - 1;
  for (const their of theirs.toReversed()) {
    while (at >= 0 && !isSameTurn(turns[at]!, their) && turns[at]!.asked === null) at -= 1;
    const our = turns[at];
    if (!our || !isSameTurn(our, their)) break;
    const { asked, replied, time } = their;
    const whole = our.state === "elsewhere" ? { ...their, id: our.id, notes: our.notes } : our;
    turns[at] = { ...whole, asked, replied, time, shaped: our.shaped ?? their.shaped };
    at -= 1;
  }
  return turns;
}

function isSameTurn(our: Turn, their: Turn): boolean {
  if (our.asked?.id && their.asked) return our.asked.id === their.asked.id;
  return our.question === their.question;
}
