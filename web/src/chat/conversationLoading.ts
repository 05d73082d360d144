/** Reading stored conversations: the newest messages first, the others as one goes to them. */

import { api, type ConversationDetail, type Problem, toProblem } from "../api";
import { loadNotes } from "./learnedNotes";
import { type PlacedNote, placeNotes } from "./notes";
import { buildTurns, findFirstId, findLastId, hasMessage, joinPages, listIds, mergeStored } from "./storedTurns";
import { type Aim, alterThread, getThread, makeEmptyThread, putThread, type Thread } from "./threads";
import { isUnderWay, type Turn } from "./turns";

const PAGE = 50;
/** Enough to know a turn by, with the tools that it used. */
const NEWEST = 20;

const rounds = new Map<string, number>();

/** Read a conversation, or look whether it went on elsewhere; with a message, go to that. */
export async function openConversation(key: string, message: number | null = null, again = false): Promise<void> {
  const known = getThread(key);
  const isThere = message !== null && hasMessage(known?.turns ?? [], message);
  if (isUnderWay(known?.turns.at(-1)) || isThere) {
    if (message !== null) alterThread(key, { aim: { message } });
    return;
  }
  if (!known?.turns.length || again || message !== null)
    putThread({ ...makeEmptyThread(key, false), state: "loading" });
  await readConversation(key, message);
}

async function readConversation(key: string, message: number | null): Promise<void> {
  const round = (rounds.get(key) ?? 0) + 1;
  rounds.set(key, round);
  const ours = getThread(key)!.turns;
  try {
    const [detail, notes] = await Promise.all([fetchAround(key, message), loadNotes(key)]);
    const hasGoneOn = getThread(key)?.turns.at(-1)?.id !== ours.at(-1)?.id;
    if (hasGoneOn || rounds.get(key) !== round) return;
    showPage(key, detail, notes, message === null ? null : { message });
  } catch (error) {
    const problem = toProblem(error);
    if (!ours.length && rounds.get(key) === round) alterThread(key, { state: chooseState(problem), problem });
  }
}

function chooseState(problem: Problem): Thread["state"] {
  return problem.status === 404 ? "missing" : "failed";
}

/** Return the page with a message, or the newest if it is not there to be shown. */
async function fetchAround(key: string, message: number | null): Promise<ConversationDetail> {
  if (message === null) return api.getConversation(key, { limit: PAGE });
  try {
    return await api.getConversation(key, { around: message, limit: PAGE });
  } catch (error) {
    if (toProblem(error).status !== 404) throw error;
    return api.getConversation(key, { limit: PAGE });
  }
}

function showPage(key: string, detail: ConversationDetail, notes: PlacedNote[], aim: Aim | null): void {
  const ours = getThread(key)?.turns ?? [];
  const theirs = buildTurns(detail.messages);
  const { title, searched: isSearched, model, earlier: hasEarlier, later: hasLater } = detail;
  if (ours.length && hasSameEnd(ours, theirs)) {
    alterThread(key, { title, isSearched, model, turns: mergeStored(ours, theirs) });
    return;
  }
  const turns = placeNotes(theirs, notes, !hasEarlier);
  const loaded = { isLoading: null, loadProblem: null, state: "ready", problem: null } as const;
  alterThread(key, { ...loaded, title, isSearched, model, hasEarlier, hasLater, turns, notes, aim });
}

function hasSameEnd(ours: Turn[], theirs: Turn[]): boolean {
  const kept = ours.filter((turn) => turn.asked || turn.pieces.length);
  const [our, their] = [kept.at(-1), theirs.at(-1)];
  if (our?.asked?.id && their?.asked) return our.asked.id === their.asked.id;
  return our?.question === their?.question;
}

// More of it

/** Load what was said before. */
export async function loadEarlier(key: string): Promise<void> {
  const before = findFirstId(getThread(key)?.turns ?? []);
  if (before === null || !beginLoading(key, "earlier")) return;
  await finishLoading(key, api.getConversation(key, { before, limit: PAGE }), (thread, detail) => {
    if (findFirstId(thread.turns) !== before) return {};
    const turns = joinPages(buildTurns(detail.messages), thread.turns, "newer");
    return { hasEarlier: detail.earlier, turns: placeNotes(turns, thread.notes, !detail.earlier) };
  });
}

/** Load what was said after. */
export async function loadLater(key: string): Promise<void> {
  const around = findLastId(getThread(key)?.turns ?? []);
  if (around === null || !beginLoading(key, "later")) return;
  await finishLoading(key, api.getConversation(key, { around, limit: PAGE }), (thread, detail) => {
    if (findLastId(thread.turns) !== around) return {};
    const newer = detail.messages.filter(({ id }) => id !== null && id > around);
    const turns = joinPages(thread.turns, buildTurns(newer), "older");
    return { hasLater: detail.later && newer.length > 0, turns: placeNotes(turns, thread.notes, !thread.hasEarlier) };
  });
}

function beginLoading(key: string, which: "earlier" | "later"): boolean {
  const thread = getThread(key);
  const has = which === "earlier" ? thread?.hasEarlier : thread?.hasLater;
  if (!has || thread?.isLoading) return false;
  alterThread(key, { isLoading: which, loadProblem: null });
  return true;
}

type ThreadExtension = (thread: Thread, detail: ConversationDetail) => Partial<Thread>;

async function finishLoading(key: string, asked: Promise<ConversationDetail>, extend: ThreadExtension): Promise<void> {
  const round = rounds.get(key);
  let part: Partial<Thread>;
  try {
    const detail = await asked;
    const thread = getThread(key);
    part = thread && rounds.get(key) === round ? extend(thread, detail) : {};
  } catch (error) {
    part = { loadProblem: toProblem(error) };
  }
  if (rounds.get(key) === round) alterThread(key, { isLoading: null, ...part });
}

// Versions

/** Show the version that goes through a message, which stays where it is on the screen. */
export async function showVersion(key: string, message: number, at?: Aim["at"]): Promise<void> {
  await api.showVersion(key, message);
  const [detail, notes] = await Promise.all([
    api.getConversation(key, { around: message, limit: PAGE }),
    loadNotes(key),
  ]);
  const thread = getThread(key);
  if (!thread) return;
  rounds.set(key, (rounds.get(key) ?? 0) + 1);
  putThread({ ...thread, turns: [] });
  showPage(key, detail, notes, { message, at });
}

/** Learn under which ids the newest turns are stored; with `isAll` also which of all were forgotten. */
export async function refreshStored(key: string, isAll = false): Promise<boolean> {
  const count = isAll ? (getThread(key)?.turns ?? []).flatMap(listIds).length : 0;
  try {
    const detail = await api.getConversation(key, { limit: count + NEWEST });
    const thread = getThread(key);
    if (!thread || thread.hasLater || isUnderWay(thread.turns.at(-1))) return true;
    const turns = mergeStored(thread.turns, buildTurns(detail.messages));
    alterThread(key, { title: detail.title, isSearched: detail.searched, turns });
    return turns.at(-1)?.asked !== null;
  } catch {
    return false; // It is looked at again when the conversation is opened again.
  }
}
