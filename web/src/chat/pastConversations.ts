/** The conversations that there are, with those that are only beginning. */

import { useMemo, useState } from "react";
import { api, type ConversationSummary, type Problem } from "../api";
import { countDays } from "../calendar";
import { shorten } from "../format";
import { useServerEvent } from "../serverEvents";
import { useLoaded } from "../useLoaded";
import { type Thread, useThreads } from "./threads";
import { isUnderWay } from "./turns";

export type PastConversation = Pick<ConversationSummary, "key" | "title" | "updatedAt" | "searched">;
type ConversationGroup = "today" | "yesterday" | "week" | "earlier";

export interface PastConversations {
  value: PastConversation[] | null;
  problem: Problem | null;
  reload: () => void;
  set: (value: PastConversation[]) => void;
  /** What is looked for in titles and texts. */
  query: string;
  search: (query: string) => void;
  /** Loads more; null if these are all. */
  more: (() => void) | null;
}

const TITLE_CHARS = 60;
/** How many are listed at first, and how many more whenever the last is reached. */
const STEP = 100;

/** Load them, and again whenever an answer begins or ends. */
export function usePastConversations(): PastConversations {
  const threads = useThreads();
  const [{ query, count }, want] = useState({ query: "", count: STEP });
  const answering = threads.filter((thread) => isUnderWay(thread.turns.at(-1))).length;
  const {
    value: known,
    problem,
    reload,
    set,
  } = useLoaded<PastConversation[]>(
    (signal) => api.getConversations({ q: query || undefined, limit: count }, signal),
    [answering, query, count],
  );
  useServerEvent("hello", reload);
  const begun = query || !known ? [] : threads.flatMap((thread) => listBeginning(thread, known));
  const begunKeys = begun.map(({ key }) => key).join(" ");
  // An answer that is coming changes nothing here, so nothing is drawn again.
  return useMemo<PastConversations>(() => {
    const search = (next: string) => want({ query: next, count: STEP });
    const more = known && known.length >= count ? () => want({ query, count: count + STEP }) : null;
    return { value: known && [...begun, ...known], problem, reload, set, query, search, more };
  }, [known, problem, reload, set, query, count, begunKeys]);
}

function listBeginning(thread: Thread, known: PastConversation[]): PastConversation[] {
  const last = thread.turns.at(-1);
  if (thread.isPrivate || !isUnderWay(last) || known.some(({ key }) => key === thread.key)) return [];
  const updatedAt = last!.time ?? new Date().toISOString();
  return [{ key: thread.key, title: getTitle(thread) ?? "", updatedAt, searched: true }];
}

/** Name a conversation by how it begins. */
export function getTitle(thread: Thread): string | null {
  if (thread.title) return thread.title;
  const first = thread.turns.find((turn) => turn.question.trim())?.question.trim();
  if (!first) return null;
  const line = first.split(/\s+/).join(" ");
  return shorten(line, TITLE_CHARS);
}

/** Put conversations together by how long ago they were. */
export function groupByAge(past: PastConversation[], now = new Date()): [ConversationGroup, PastConversation[]][] {
  const groups: Record<ConversationGroup, PastConversation[]> = { today: [], yesterday: [], week: [], earlier: [] };
  for (const one of past) groups[findGroup(one, now)].push(one);
  return (Object.entries(groups) as [ConversationGroup, PastConversation[]][]).filter(([, ones]) => ones.length);
}

function findGroup({ updatedAt }: PastConversation, now: Date): ConversationGroup {
  const days = countDays(new Date(updatedAt), now);
  if (days <= 0) return "today";
  if (days === 1) return "yesterday";
  return days < 7 ? "week" : "earlier";
}
