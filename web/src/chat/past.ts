/** The conversations that there are, with those that are only beginning. */

import { useMemo, useState } from "react";
import { api, type ConversationSummary, type Problem } from "../api";
import { useServerEvent } from "../events";
import { useLoaded } from "../loading";
import { isUnderWay } from "./thread";
import { type Thread, useThreads } from "./threads";

export type PastOne = Pick<ConversationSummary, "key" | "title" | "updatedAt" | "searched">;
export type Group = "today" | "yesterday" | "week" | "earlier";

export interface Past {
  value: PastOne[] | null;
  problem: Problem | null;
  reload: () => void;
  set: (value: PastOne[]) => void;
  /** What is looked for in titles and texts. */
  query: string;
  search: (query: string) => void;
  /** Loads more; null if these are all. */
  more: (() => void) | null;
}

const TITLE_CHARS = 60;
const DAY_MS = 86_400_000;
/** How many are listed at first, and how many more whenever the last is reached. */
const STEP = 100;

/** Load them, and again whenever an answer begins or ends. */
export function usePast(): Past {
  const threads = useThreads();
  const [{ query, count }, want] = useState({ query: "", count: STEP });
  const answering = threads.filter((thread) => isUnderWay(thread.turns.at(-1))).length;
  const { value: known, problem, reload, set } = useLoaded<PastOne[]>(
    (signal) => api.conversations({ q: query || undefined, limit: count }, signal),
    [answering, query, count],
  );
  useServerEvent("hello", reload);
  const begun = query || !known ? [] : threads.flatMap((thread) => beginning(thread, known));
  const begunKeys = begun.map(({ key }) => key).join(" ");
  // An answer that is coming changes nothing here, so nothing is drawn again.
  return useMemo<Past>(() => {
    const search = (next: string) => want({ query: next, count: STEP });
    const more = known && known.length >= count ? () => want({ query, count: count + STEP }) : null;
    return { value: known && [...begun, ...known], problem, reload, set, query, search, more };
  }, [known, problem, reload, set, query, count, begunKeys]);
}

function beginning(thread: Thread, known: PastOne[]): PastOne[] {
  const last = thread.turns.at(-1);
  if (thread.isPrivate || !isUnderWay(last) || known.some(({ key }) => key === thread.key)) return [];
  const updatedAt = last!.time ?? new Date().toISOString();
  return [{ key: thread.key, title: titleOf(thread) ?? "", updatedAt, searched: true }];
}

/** Name a conversation by how it begins. */
export function titleOf(thread: Thread): string | null {
  if (thread.title) return thread.title;
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
