/**
 * The conversations that were opened since the page was loaded. They are kept outside the view, so
 * that an answer goes on while somebody looks at another conversation, or at the memory.
 */

import { useSyncExternalStore } from "react";
import { api, type Document, type Problem } from "../api";
import { askBeforeReload } from "../unsavedChanges";
import type { PlacedNote } from "./notes";
import { isUnderWay, type Turn } from "./turns";

export interface Thread {
  key: string;
  isPrivate: boolean;
  state: "new" | "loading" | "ready" | "missing" | "failed";
  problem: Problem | null;
  title: string;
  isSearched: boolean;
  /** The model that the conversation was given; null: the one that is set answers. */
  model: string | null;
  /** The model that was picked since, and is given to it with the next message. */
  picked?: string;
  turns: Turn[];
  /** Whether there are stored turns before the first of these, and after the last. */
  hasEarlier: boolean;
  hasLater: boolean;
  /** Which of them are being loaded, and what went wrong when they last were. */
  isLoading: "earlier" | "later" | null;
  loadProblem: Problem | null;
  /** What was learned from it, also from messages that are not loaded yet. */
  notes: PlacedNote[];
  aim: Aim | null;
}

/** A message to go to; another object with the same message means to go there again. */
export interface Aim {
  message: number;
  /** Where on the screen it shall stand, if it is not just to be seen. */
  at?: { top: number; focus: string };
}

/** What is written and not sent yet. */
interface MessageDraft {
  text: string;
  documents: Document[];
}

const NO_DRAFT: MessageDraft = { text: "", documents: [] };
const BETWEEN_LOOKS_MS = 32;

const threads = new Map<string, Thread>();
const stops = new Map<string, AbortController>();
const listeners = new Set<() => void>();
const drafts = new Map<string, MessageDraft>();

let all: Thread[] = [];
let timer: ReturnType<typeof setTimeout> | null = null;

/** Show what has changed. */
export function notify(): void {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  all = [...threads.values()];
  for (const listener of listeners) listener();
}

/** Words may come faster than anybody reads: they are shown together. */
function notifySoon(): void {
  timer ??= setTimeout(notify, BETWEEN_LOOKS_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Return a conversation, if it was opened. */
export function getThread(key: string): Thread | undefined {
  return threads.get(key);
}

/** Return all conversations that were opened. */
export function getOpenThreads(): Thread[] {
  return [...threads.values()];
}

/** Put a conversation in the place of what it was before. */
export function putThread(thread: Thread): void {
  threads.set(thread.key, thread);
  notify();
}

/** Change a part of a conversation that was opened. */
export function alterThread(key: string, part: Partial<Thread>): void {
  const thread = threads.get(key);
  if (thread) putThread({ ...thread, ...part });
}

/** Change one of its turns. */
export function alterTurn(key: string, id: number, next: (turn: Turn) => Turn): void {
  const thread = threads.get(key);
  if (!thread) return;
  const turns = thread.turns.map((turn) => (turn.id === id ? next(turn) : turn));
  threads.set(key, { ...thread, turns });
  notifySoon();
}

askBeforeReload(
  () =>
    [...drafts.values()].some(({ text, documents }) => text !== "" || documents.length > 0) ||
    [...threads.values()].some(isLostByReload),
);

/** Whether it is nowhere but here: private, being answered, or not taken by the server. */
function isLostByReload({ isPrivate, turns }: Thread): boolean {
  const last = turns.at(-1);
  const isRefused = last?.state === "failed" && last.asked === null;
  return last !== undefined && (isPrivate || isUnderWay(last) || isRefused);
}

// Which conversation

let fresh = newKey();
let hidden = newKey();
/** Where somebody was who went to look at another page. */
export const lastPlace: { address: string | null } = { address: null };

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `web:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Return the name of a conversation in which nothing was said yet. */
export function getFreshKey(): string {
  if (threads.get(fresh)?.turns.length) fresh = newKey();
  return fresh;
}

/** Return the name of the private conversation. */
export function getPrivateKey(): string {
  return hidden;
}

/** Forget a conversation here. */
export function dropThread(key: string): void {
  stop(key);
  threads.delete(key);
  drafts.delete(key);
  notify();
}

/** Return what stops an answer that begins now. */
export function makeStopper(key: string): AbortController {
  const stopping = new AbortController();
  stops.set(key, stopping);
  return stopping;
}

/** Stop an answer; what was said so far stays. */
export function stop(key: string): void {
  stops.get(key)?.abort();
  stops.delete(key);
}

/** End the private conversation: from now on nobody knows what was said. */
export function endPrivate(): void {
  const key = hidden;
  if (threads.get(key)?.turns.length) {
    hidden = newKey();
    void api.deleteConversation(key).catch(() => undefined);
  }
  dropThread(key);
}

addEventListener("pagehide", endPrivate);

/** Return a conversation of which nothing is known. */
export function makeEmptyThread(key: string, isPrivate: boolean): Thread {
  return {
    key,
    isPrivate,
    state: "new",
    problem: null,
    title: "",
    isSearched: true,
    model: null,
    turns: [],
    hasEarlier: false,
    hasLater: false,
    isLoading: null,
    loadProblem: null,
    notes: [],
    aim: null,
  };
}

const nothing = new Map<string, Thread>();

/** Return a conversation; one that nobody has opened is empty. */
export function useThread(key: string, isPrivate: boolean): Thread {
  return useSyncExternalStore(subscribe, () => threads.get(key) ?? getUnopened(key, isPrivate));
}

function getUnopened(key: string, isPrivate: boolean): Thread {
  const known = nothing.get(key);
  if (known?.isPrivate === isPrivate) return known;
  nothing.clear();
  nothing.set(key, makeEmptyThread(key, isPrivate));
  return nothing.get(key)!;
}

/** Return all conversations that were opened. */
export function useThreads(): Thread[] {
  return useSyncExternalStore(subscribe, () => all);
}

/** Return what is written in a conversation and not sent yet. */
export function useDraft(key: string): MessageDraft {
  return useSyncExternalStore(subscribe, () => drafts.get(key) ?? NO_DRAFT);
}

/** Change a part of it. */
export function writeDraft(key: string, part: Partial<MessageDraft>): void {
  drafts.set(key, { ...NO_DRAFT, ...drafts.get(key), ...part });
  notify();
}
