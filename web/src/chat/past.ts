/** The conversations that there are, with those that are only beginning. */

import { api, type ConversationSummary } from "../api";
import { useServerEvent } from "../events";
import { type Loaded, useLoaded } from "../loading";
import { isUnderWay } from "./thread";
import { type Thread, useThreads } from "./threads";

export type PastOne = Pick<ConversationSummary, "key" | "title" | "updatedAt">;
export type Past = Omit<Loaded<PastOne[]>, "isLoading">;
export type Group = "today" | "yesterday" | "week" | "earlier";

const TITLE_CHARS = 60;
const DAY_MS = 86_400_000;

/** Load them, and again whenever an answer begins or ends. */
export function usePast(): Past {
  const threads = useThreads();
  const answering = threads.filter((thread) => isUnderWay(thread.turns.at(-1))).length;
  const loaded = useLoaded<PastOne[]>(async (signal) => (await api.conversations(signal)).conversations, [answering]);
  useServerEvent("hello", loaded.reload);
  const value = loaded.value && [...threads.flatMap((thread) => beginning(thread, loaded.value!)), ...loaded.value];
  return { ...loaded, value };
}

function beginning(thread: Thread, known: PastOne[]): PastOne[] {
  const last = thread.turns.at(-1);
  if (thread.isPrivate || !isUnderWay(last) || known.some(({ key }) => key === thread.key)) return [];
  return [{ key: thread.key, title: titleOf(thread) ?? "", updatedAt: last!.time ?? new Date().toISOString() }];
}

/** Name a conversation by how it begins. */
export function titleOf(thread: Thread): string | null {
  const first = thread.turns.find((turn) => turn.question.trim())?.question.trim();
  if (!first) return null;
  const line = first.split(/\s+/).join(" ");
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS).trimEnd()}…` : line;
}

/** Put conversations together by how long ago they were. */
export function grouped(past: PastOne[], now = new Date()): [Group, PastOne[]][] {
  const groups: Record<Group, PastOne[]> = { today: [], yesterday: [], week: [], earlier: [] };
  for (const one of past) groups[groupOf(one, now)].push(one);
  return (Object.entries(groups) as [Group, PastOne[]][]).filter(([, ones]) => ones.length);
}

function groupOf({ updatedAt }: PastOne, now: Date): Group {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const days = Math.ceil((midnight - new Date(updatedAt).getTime()) / DAY_MS);
  if (days <= 0) return "today";
  if (days === 1) return "yesterday";
  return days < 7 ? "week" : "earlier";
}
