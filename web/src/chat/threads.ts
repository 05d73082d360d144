/**
 * The conversations that were opened since the page was loaded. They are kept outside the view, so
 * that an answer goes on while somebody looks at another conversation, or at the memory.
 */

import { useSyncExternalStore } from "react";
import { api, asProblem, type Document, type Problem, type ServerEvents, unreachable } from "../api";
import { askBeforeReload } from "../unsaved";
import {
  heard,
  isUnderWay,
  newTurn,
  type Placed,
  placed,
  placedChange,
  placedLearnt,
  placedPending,
  type Turn,
  turnsOf,
} from "./thread";

export interface Thread {
  key: string;
  isPrivate: boolean;
  state: "new" | "loading" | "ready" | "missing" | "failed";
  problem: Problem | null;
  turns: Turn[];
}

/** What is written and not sent yet. */
export interface Draft {
  text: string;
  documents: Document[];
}

const NO_DRAFT: Draft = { text: "", documents: [] };
const RECENT_CHANGES = 200;
const BETWEEN_LOOKS_MS = 32;

const threads = new Map<string, Thread>();
const stops = new Map<string, AbortController>();
const listeners = new Set<() => void>();
const drafts = new Map<string, Draft>();

let all: Thread[] = [];
let timer: ReturnType<typeof setTimeout> | null = null;

function changed(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  all = [...threads.values()];
  for (const listener of listeners) listener();
}

/** Words may come faster than anybody reads: they are shown together. */
function changedSoon(): void {
  timer ??= setTimeout(changed, BETWEEN_LOOKS_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function put(thread: Thread): void {
  threads.set(thread.key, thread);
  changed();
}

function alter(key: string, part: Partial<Thread>): void {
  const thread = threads.get(key);
  if (thread) put({ ...thread, ...part });
}

function alterTurn(key: string, id: number, next: (turn: Turn) => Turn): void {
  const thread = threads.get(key);
  if (!thread) return;
  const turns = thread.turns.map((turn) => (turn.id === id ? next(turn) : turn));
  threads.set(key, { ...thread, turns });
  changedSoon();
}

askBeforeReload(
  () =>
    [...drafts.values()].some(({ text, documents }) => text !== "" || documents.length > 0) ||
    [...threads.values()].some(isLostByReload),
);

/** Whether it is nowhere but here: private, being answered, or not taken by the server. */
function isLostByReload({ isPrivate, turns }: Thread): boolean {
  const last = turns.at(-1);
  return last !== undefined && (isPrivate || isUnderWay(last) || last.state === "failed");
}

// Which conversation

let fresh = newKey();
let hidden = newKey();
/** Where somebody was who went to look at another page. */
export const left: { address: string | null } = { address: null };

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `web:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Give the name of a conversation in which nothing was said yet. */
export function freshKey(): string {
  if (threads.get(fresh)?.turns.length) fresh = newKey();
  return fresh;
}

/** Give the name of the private conversation. */
export function privateKey(): string {
  return hidden;
}

/** End the private conversation: from now on nobody knows what was said. */
export function endPrivate(): void {
  const key = hidden;
  drafts.delete(key);
  if (threads.get(key)?.turns.length) {
    hidden = newKey();
    stop(key);
    threads.delete(key);
    void api.deleteConversation(key).catch(() => undefined);
  }
  changed();
}

addEventListener("pagehide", endPrivate);

function empty(key: string, isPrivate: boolean): Thread {
  return { key, isPrivate, state: "new", problem: null, turns: [] };
}

const nothing = new Map<string, Thread>();

/** Give a conversation; one that nobody has opened is empty. */
export function useThread(key: string, isPrivate: boolean): Thread {
  return useSyncExternalStore(subscribe, () => threads.get(key) ?? unopened(key, isPrivate));
}

function unopened(key: string, isPrivate: boolean): Thread {
  const known = nothing.get(key);
  if (known?.isPrivate === isPrivate) return known;
  nothing.clear();
  nothing.set(key, empty(key, isPrivate));
  return nothing.get(key)!;
}

/** Give all conversations that were opened. */
export function useThreads(): Thread[] {
  return useSyncExternalStore(subscribe, () => all);
}

/** Give what is written in a conversation and not sent yet. */
export function useDraft(key: string): Draft {
  return useSyncExternalStore(subscribe, () => drafts.get(key) ?? NO_DRAFT);
}

/** Change a part of it. */
export function write(key: string, part: Partial<Draft>): void {
  drafts.set(key, { ...NO_DRAFT, ...drafts.get(key), ...part });
  changed();
}

// Opening and erasing

/** Read a conversation, or look whether it went on elsewhere since it was read. */
export async function open(key: string, again = false): Promise<void> {
  if (isUnderWay(threads.get(key)?.turns.at(-1))) return;
  if (!threads.get(key)?.turns.length || again) put({ ...empty(key, false), state: "loading" });
  const ours = threads.get(key)!.turns;
  try {
    const [detail, notes] = await Promise.all([api.conversation(key), notesOf(key)]);
    const turns = turnsOf(detail);
    const hasGoneOn = threads.get(key)?.turns.at(-1)?.id !== ours.at(-1)?.id;
    if (hasGoneOn || (ours.length && isSame(ours, turns))) return;
    alter(key, { state: "ready", problem: null, turns: placed(turns, notes) });
  } catch (error) {
    const problem = asProblem(error);
    if (!ours.length) alter(key, { state: problem.status === 404 ? "missing" : "failed", problem });
  }
}

function isSame(ours: Turn[], theirs: Turn[]): boolean {
  const kept = ours.filter((turn) => turn.state !== "failed" && turn.pieces.length);
  return kept.at(-1)?.question === theirs.at(-1)?.question;
}

/** Give what was learnt of late from a conversation, the oldest first. */
async function notesOf(key: string): Promise<Placed[]> {
  try {
    const [{ changes }, { pending }] = await Promise.all([api.changes({ limit: RECENT_CHANGES }), api.pending()]);
    const notes = [...pending.map(placedPending), ...changes.flatMap(placedChange)];
    return notes.filter((one) => one.conversation === key).reverse();
  } catch {
    return []; // What was said is worth showing without them.
  }
}

/** Erase a conversation for good. */
export async function erase(key: string): Promise<void> {
  stop(key);
  await api.deleteConversation(key).catch((error: unknown) => {
    if (asProblem(error).status !== 404) throw error;
  });
  threads.delete(key);
  drafts.delete(key);
  changed();
}

// Talking

/** Say something in a conversation as it is now, and let the answer come. */
export async function say(
  key: string,
  isPrivate: boolean,
  question: string,
  documents: Document[],
  again = false,
): Promise<void> {
  const thread = threads.get(key) ?? empty(key, isPrivate);
  const turn = newTurn(question, documents, new Date().toISOString());
  put({ ...thread, state: "ready", turns: [...thread.turns, turn] });
  const stopping = new AbortController();
  stops.set(key, stopping);
  try {
    const request = { message: question, key, private: isPrivate, explain: true, again, documents };
    for await (const event of api.chat(request, stopping.signal)) {
      alterTurn(key, turn.id, (now) => heard(now, event));
    }
    alterTurn(key, turn.id, brokenOff);
  } catch (error) {
    alterTurn(key, turn.id, (now) => (stopping.signal.aborted ? stopped(now) : failed(now, error)));
  }
  if (stops.get(key) === stopping) stops.delete(key);
  changed();
  if (documents.length) await showNotes(key); // what rests on a document waits, which no event of the turn tells
}

/** Show what was learnt from a conversation and could not be told. */
export async function showNotes(key: string): Promise<void> {
  if (!threads.get(key)?.turns.length) return;
  const notes = await notesOf(key);
  const thread = threads.get(key);
  if (thread && notes.length) alter(key, { turns: placed(thread.turns, notes) });
}

function brokenOff(turn: Turn): Turn {
  return isUnderWay(turn) ? failed(turn, unreachable()) : turn;
}

function stopped(turn: Turn): Turn {
  return isUnderWay(turn) ? { ...turn, state: "stopped" } : turn;
}

function failed(turn: Turn, error: unknown): Turn {
  return { ...turn, state: "failed", problem: asProblem(error) };
}

/** Stop an answer; what was said so far stays. */
export function stop(key: string): void {
  stops.get(key)?.abort();
}

/** Say the same again in place of a turn that failed. */
export function sayAgain(key: string, id: number): void {
  const thread = threads.get(key);
  const turn = thread?.turns.find((one) => one.id === id);
  if (!thread || !turn || isUnderWay(thread.turns.at(-1))) return;
  threads.set(key, { ...thread, turns: thread.turns.filter((one) => one !== turn) });
  void say(key, thread.isPrivate, turn.question, turn.documents, true);
}

// Learning

/** Take back what was learnt. */
export async function takeBack(key: string, id: number, change: number): Promise<void> {
  await api.undo(change);
  alterTurn(key, id, (now) => ({
    ...now,
    notes: now.notes.map((note) => (note.change === change ? { ...note, isUndone: true } : note)),
  }));
}

/** Show what was learnt in the background where it was said; give what belongs elsewhere. */
export function learn({ facts }: ServerEvents["learnt"], shown: string): Placed[] {
  const notes = facts.map(placedLearnt);
  for (const thread of threads.values()) {
    const own = notes.filter((one) => one.conversation === thread.key);
    if (own.length) alter(thread.key, { turns: placed(thread.turns, own) });
  }
  return notes.filter((one) => one.conversation !== shown);
}
