/** Reading stored conversations: the newest messages first, the others as one goes to them. */

import { api, asProblem, type ConversationDetail, type Problem } from "../api";
import { notesOf } from "./learning";
import { type Placed, placed } from "./notes";
import { firstIdOf, hasMessage, idsOf, joined, lastIdOf, turnsOf, withStored } from "./stored";
import { isUnderWay, type Turn } from "./thread";
import { type Aim, alter, empty, put, type Thread, threadOf } from "./threads";

const PAGE = 50;
/** Enough to know a turn by, with the tools that it used. */
const NEWEST = 20;

const rounds = new Map<string, number>();

/** Read a conversation, or look whether it went on elsewhere; with a message, go to that. */
export async function open(key: string, message: number | null = null, again = false): Promise<void> {
  const known = threadOf(key);
  const isThere = message !== null && hasMessage(known?.turns ?? [], message);
  if (isUnderWay(known?.turns.at(-1)) || isThere) {
    if (message !== null) alter(key, { aim: { message } });
    return;
  }
  if (!known?.turns.length || again || message !== null) put({ ...empty(key, false), state: "loading" });
  await read(key, message);
}

async function read(key: string, message: number | null): Promise<void> {
  const round = (rounds.get(key) ?? 0) + 1;
  rounds.set(key, round);
  const ours = threadOf(key)!.turns;
  try {
    const [detail, notes] = await Promise.all([fetchAround(key, message), notesOf(key)]);
    const hasGoneOn = threadOf(key)?.turns.at(-1)?.id !== ours.at(-1)?.id;
    if (hasGoneOn || rounds.get(key) !== round) return;
    show(key, detail, notes, message === null ? null : { message });
  } catch (error) {
    const problem = asProblem(error);
    if (!ours.length && rounds.get(key) === round) alter(key, { state: stateAfter(problem), problem });
  }
}

function stateAfter(problem: Problem): Thread["state"] {
  return problem.status === 404 ? "missing" : "failed";
}

/** Return the page with a message, or the newest if it is not there to be shown. */
async function fetchAround(key: string, message: number | null): Promise<ConversationDetail> {
  if (message === null) return api.conversation(key, { limit: PAGE });
  try {
    return await api.conversation(key, { around: message, limit: PAGE });
  } catch (error) {
    if (asProblem(error).status !== 404) throw error;
    return api.conversation(key, { limit: PAGE });
  }
}

function show(key: string, detail: ConversationDetail, notes: Placed[], aim: Aim | null): void {
  const ours = threadOf(key)?.turns ?? [];
  const theirs = turnsOf(detail.messages);
  const { title, searched: isSearched, earlier: hasEarlier, later: hasLater } = detail;
  if (ours.length && isSame(ours, theirs)) {
    alter(key, { title, isSearched, turns: withStored(ours, theirs) });
    return;
  }
  const turns = placed(theirs, notes, !hasEarlier);
  const loaded = { isLoading: null, loadProblem: null, state: "ready", problem: null } as const;
  alter(key, { ...loaded, title, isSearched, hasEarlier, hasLater, turns, notes, aim });
}

function isSame(ours: Turn[], theirs: Turn[]): boolean {
  const kept = ours.filter((turn) => turn.asked || turn.pieces.length);
  const [our, their] = [kept.at(-1), theirs.at(-1)];
  if (our?.asked?.id && their?.asked) return our.asked.id === their.asked.id;
  return our?.question === their?.question;
}

// More of it

/** Load what was said before. */
export async function loadEarlier(key: string): Promise<void> {
  const before = firstIdOf(threadOf(key)?.turns ?? []);
  if (before === null || !beginLoading(key, "earlier")) return;
  await finishLoading(key, api.conversation(key, { before, limit: PAGE }), (thread, detail) => {
    if (firstIdOf(thread.turns) !== before) return {};
    const turns = joined(turnsOf(detail.messages), thread.turns, "newer");
    return { hasEarlier: detail.earlier, turns: placed(turns, thread.notes, !detail.earlier) };
  });
}

/** Load what was said after. */
export async function loadLater(key: string): Promise<void> {
  const around = lastIdOf(threadOf(key)?.turns ?? []);
  if (around === null || !beginLoading(key, "later")) return;
  await finishLoading(key, api.conversation(key, { around, limit: PAGE }), (thread, detail) => {
    if (lastIdOf(thread.turns) !== around) return {};
    const newer = detail.messages.filter(({ id }) => id !== null && id > around);
    const turns = joined(thread.turns, turnsOf(newer), "older");
    return { hasLater: detail.later && newer.length > 0, turns: placed(turns, thread.notes, !thread.hasEarlier) };
  });
}

function beginLoading(key: string, which: "earlier" | "later"): boolean {
  const thread = threadOf(key);
  const has = which === "earlier" ? thread?.hasEarlier : thread?.hasLater;
  if (!has || thread?.isLoading) return false;
  alter(key, { isLoading: which, loadProblem: null });
  return true;
}

type Extend = (thread: Thread, detail: ConversationDetail) => Partial<Thread>;

async function finishLoading(key: string, asked: Promise<ConversationDetail>, extend: Extend): Promise<void> {
  const round = rounds.get(key);
  let part: Partial<Thread>;
  try {
    const detail = await asked;
    const thread = threadOf(key);
    part = thread && rounds.get(key) === round ? extend(thread, detail) : {};
  } catch (error) {
    part = { loadProblem: asProblem(error) };
  }
  if (rounds.get(key) === round) alter(key, { isLoading: null, ...part });
}

// Versions

/** Show the version that goes through a message, which stays where it is on the screen. */
export async function showVersion(key: string, message: number, at?: Aim["at"]): Promise<void> {
  await api.showVersion(key, message);
  const [detail, notes] = await Promise.all([api.conversation(key, { around: message, limit: PAGE }), notesOf(key)]);
  const thread = threadOf(key);
  if (!thread) return;
  rounds.set(key, (rounds.get(key) ?? 0) + 1);
  put({ ...thread, turns: [] });
  show(key, detail, notes, { message, at });
}

/** Learn under which ids the newest turns are stored; with `isAll` also which of all were forgotten. */
export async function settle(key: string, isAll = false): Promise<boolean> {
  const count = isAll ? (threadOf(key)?.turns ?? []).flatMap(idsOf).length : 0;
  try {
    const detail = await api.conversation(key, { limit: count + NEWEST });
    const thread = threadOf(key);
    if (!thread || thread.hasLater || isUnderWay(thread.turns.at(-1))) return true;
    const turns = withStored(thread.turns, turnsOf(detail.messages));
    alter(key, { title: detail.title, isSearched: detail.searched, turns });
    return turns.at(-1)?.asked !== null;
  } catch {
    return false; // It is looked at again when the conversation is opened again.
  }
}
