/** Saying something in a conversation, and saying it again or differently. */

import { api, type ChatRequest, type Document, makeUnreachable, toProblem } from "../api";
import { openConversation, refreshStored } from "./conversationLoading";
import { showNotes } from "./learnedNotes";
import {
  alterThread,
  alterTurn,
  dropThread,
  getThread,
  makeEmptyThread,
  makeStopper,
  notify,
  putThread,
  stop,
} from "./threads";
import { applyEvent, isUnderWay, newTurn, type Turn } from "./turns";

/** How often, and how far apart, it is looked for what a stopped answer left. */
const LOOKS = 4;
const BETWEEN_LOOKS_MS = 500;
const NEWEST = 10;

/** Say something in a conversation as it is now, and let the answer come. */
export async function say(key: string, isPrivate: boolean, question: string, documents: Document[]): Promise<void> {
  if (getThread(key)?.hasLater) await openConversation(key, null, true);
  await ask(key, isPrivate, newTurn(question, documents, new Date().toISOString()), {});
}

/** Say the same again: in place of the last turn, or after what was said since. */
export function sayAgain(key: string, id: number): void {
  const thread = getThread(key);
  const turn = thread?.turns.find((one) => one.id === id);
  if (!thread || !turn || isUnderWay(thread.turns.at(-1))) return;
  const isReplaced = turn === thread.turns.at(-1) || turn.asked === null;
  if (isReplaced) putThread({ ...thread, turns: thread.turns.filter((one) => one !== turn) });
  const part = turn.asked === null && turn.after !== undefined ? { after: turn.after } : { again: true };
  const next = newTurn(turn.question, turn.documents, new Date().toISOString());
  void ask(key, thread.isPrivate, { ...next, after: part.after }, part);
}

/** Say something else in place of a turn; the turn and what followed it stay as another version. */
export function sayInstead(key: string, id: number, question: string): void {
  const thread = getThread(key);
  const at = thread?.turns.findIndex((one) => one.id === id) ?? -1;
  const turn = thread?.turns[at];
  if (!thread || !turn?.asked || isUnderWay(thread.turns.at(-1))) return;
  const after = turn.asked.parent ?? 0;
  putThread({ ...thread, turns: thread.turns.slice(0, at), hasLater: false });
  const next = newTurn(question, turn.documents, new Date().toISOString());
  void ask(key, thread.isPrivate, { ...next, after }, { after });
}

async function ask(key: string, isPrivate: boolean, turn: Turn, part: Partial<ChatRequest>): Promise<void> {
  const thread = getThread(key) ?? makeEmptyThread(key, isPrivate);
  const resume = !isPrivate && thread.turns.length > 0;
  putThread({ ...thread, state: "ready", aim: null, turns: [...thread.turns, turn] });
  const stopping = makeStopper(key);
  const { question: message, documents } = turn;
  try {
    const model = thread.picked;
    const request = { message, key, private: isPrivate, explain: true, documents, resume, model, ...part };
    for await (const event of api.streamChat(request, stopping.signal)) {
      alterTurn(key, turn.id, (now) => applyEvent(now, event));
    }
    alterTurn(key, turn.id, breakOff);
  } catch (error) {
    alterTurn(key, turn.id, (now) => (stopping.signal.aborted ? markStopped(now) : markFailed(now, error)));
  }
  notify();
  if (isPrivate) return;
  await settleTurn(key, turn.id, stopping.signal.aborted);
  if (documents.length) await showNotes(key); // what rests on a document waits, which no event of the turn tells
}

/** Learn how a turn is stored; what is forgotten may be any message. */
async function settleTurn(key: string, id: number, wasStopped: boolean): Promise<void> {
  const turn = getThread(key)?.turns.find((one) => one.id === id);
  if (wasStopped) return settleStopped(key);
  const wasRefused = turn?.state === "failed" && turn.model === null;
  if (!wasRefused)
    await refreshStored(
      key,
      turn?.notes.some(({ action }) => action === "removed"),
    );
}

/** Nobody tells when what came of a stopped answer is stored, so it is looked for. */
async function settleStopped(key: string): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const newest = await api.getConversations({ limit: NEWEST }).catch(() => []);
    if (newest.some((one) => one.key === key) && (await refreshStored(key))) return;
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MS));
  }
}

function breakOff(turn: Turn): Turn {
  return isUnderWay(turn) ? markFailed(turn, makeUnreachable()) : turn;
}

function markStopped(turn: Turn): Turn {
  return isUnderWay(turn) ? { ...turn, state: "stopped" } : turn;
}

function markFailed(turn: Turn, error: unknown): Turn {
  return { ...turn, state: "failed", problem: toProblem(error) };
}

// The conversation as a whole

/** Erase a conversation for good. */
export async function eraseConversation(key: string): Promise<void> {
  stop(key);
  await api.deleteConversation(key).catch((error: unknown) => {
    if (toProblem(error).status !== 404) throw error;
  });
  dropThread(key);
}

/** Rename a conversation, or keep it out of search. */
export async function changeConversation(key: string, part: { title?: string; searched?: boolean }): Promise<void> {
  const { title, searched } = await api.changeConversation(key, part);
  alterThread(key, { title, isSearched: searched });
}

/** Save a conversation as a file. */
export async function downloadConversation(key: string, format: "markdown" | "json"): Promise<void> {
  const file = await api.exportConversation(key, format);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
