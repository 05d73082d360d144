/** A typed client of the server's API. Whatever is refused is thrown as a `Problem`. */

import { clearToken, isLocked, token } from "./token";

// Shapes

export interface Fact {
  id: string;
  content: string;
  category: string | null;
  origin: string | null;
  createdAt: string;
  updatedAt: string;
  slot: string | null;
  until: string | null;
  saidCount: number;
  line: number | null;
}

/** Where something learnt comes from. */
export interface Source {
  quote: string | null;
  conversation: string | null;
  messageTime: string | null;
  trust: string | null;
  source: string | null;
}

export type PendingFact = Fact & Source;

export interface Change extends Partial<Source> {
  n: number;
  time: string;
  op: string;
  file: string;
  id?: string | null;
  before?: Fact | null;
  after?: Fact | null;
  origin?: string | null;
  decision?: string | null;
  undoes?: number | null;
  removed?: Fact[];
  undone: boolean;
  undoable: boolean;
}

export type HitSource = "memory" | "older" | "daily" | "conversations";

export interface Hit {
  text: string;
  source: HitSource;
  file: string;
  line: number | null;
  heading: string | null;
  date: string | null;
  conversation: string | null;
  speaker: string | null;
  id: string | null;
  /** Null for what is there for its day or its place alone. */
  score: number | null;
  /** Missing where this side of the search does not exist. */
  bm25?: number | null;
  vector?: number | null;
  terms?: string[];
  /** The message that it is, in its conversation. */
  message?: number | null;
  time?: string | null;
  trust?: Trust;
  /** False for a message of a version that is no longer shown. */
  shown?: boolean;
  /** What replaced the fact that a message gave. */
  newer?: { since: string; content: string } | null;
}

export interface MainMemory {
  content: string;
  etag: string;
  format: "markdown" | "json";
  file: string;
}

export interface Saved {
  etag: string;
  change: number | null;
  facts: number;
}

export interface Found {
  query: string;
  mode: "words" | "words and meaning";
  results: Hit[];
}

export interface SearchOptions {
  limit?: number;
  source?: HitSource;
  explain?: boolean;
  since?: string;
  until?: string;
}

export interface Capacity {
  items: number;
  maxItems: number;
  chars: number;
  maxChars: number;
}

export interface Stats {
  facts: number;
  chars: number;
  maxItems: number;
  maxChars: number;
  categories: Record<string, number>;
  days: number;
  conversations: number;
  pending: number;
  lastChange: string | null;
  tokens: number;
}

export interface Day {
  date: string;
  entries: number;
  chars: number;
}

export interface DayNote {
  date: string;
  content: string;
  exists: boolean;
}

export type SettingValue = boolean | number | string | null;
export type SettingKind = "switch" | "number" | "share" | "text" | "path";

export interface Setting {
  key: string;
  value: SettingValue;
  default: SettingValue;
  from: "default" | "file" | "environment";
  locked: boolean;
  variable: string;
  meaning: string;
  kind: SettingKind;
  least: number | null;
  remote: boolean;
}

export type Config = Record<string, SettingValue | string[]> & { locked: string[] };

export interface ConversationSummary {
  key: string;
  title: string;
  messages: number;
  createdAt: string;
  updatedAt: string;
  /** Whether search and the prompts of other conversations may use it. */
  searched: boolean;
  renamed: boolean;
}

/** Whose words they are; only the first two enter the prompts of other conversations. */
export type Trust = "user" | "assistant" | "tool" | "document" | "stranger";

export interface ToolCall {
  id?: string;
  function?: { name?: string; arguments?: string };
}

export interface Message {
  /** Lasts; what a private conversation says has none. */
  id: number | null;
  role: "user" | "assistant" | "system" | "tool";
  /** Text, or parts of which some have text. */
  content: string | { text?: unknown }[] | null;
  timestamp: string;
  /** Answering: by a program that is still at it, maybe another one. */
  status: "complete" | "stopped" | "failed" | "answering";
  trust: Trust;
  source: string | null;
  /** The message that it follows. */
  parent: number | null;
  /** All messages that follow the same one, if there are several. */
  versions: number[];
  /** Forgotten by its user: in no prompt, and not searched. */
  hidden: boolean;
  name: string | null;
  toolCalls: ToolCall[] | null;
  toolCallId: string | null;
  shapedBy: ShapedBy | null;
  /** What replaced the fact that it gave. */
  newer: { since: string; content: string } | null;
}

/** What went into the prompt of an answer. */
export interface ShapedBy {
  memories: { id: string; content: string | null }[];
  hits: (Pick<Hit, "source" | "file" | "line" | "date" | "id"> & Partial<Hit>)[];
}

export interface ConversationDetail {
  key: string;
  title: string;
  messages: Message[];
  private: boolean;
  searched: boolean;
  /** Whether there are messages before the first of these, and after the last. */
  earlier: boolean;
  later: boolean;
}

/** Which messages of a conversation: the newest, those before one, or those around one. */
export interface Extent {
  limit?: number;
  before?: number;
  around?: number;
}

export interface Section {
  name: string;
  tokens: number;
}

export interface Preview {
  system: string;
  messages: { role: string; content: string }[];
  text: string;
  sections: Section[];
  tokens: number;
  maxTokens: number;
  facts: Fact[];
  hits: Hit[];
  leftOut: string[];
  model: string;
}

export interface LearntInTurn {
  action: "added" | "changed" | "removed";
  fact: Fact;
  change: number;
}

export interface Document {
  name: string;
  text: string;
}

export interface ChatRequest {
  message: string;
  key?: string;
  private?: boolean;
  explain?: boolean;
  /** The answer takes the place of the last one, if that was to the same message. */
  again?: boolean;
  /** It follows this message (0: it is a new beginning); what followed until now is another version. */
  after?: number;
  /** A person goes on with what is shown, however long ago it was said. */
  resume?: boolean;
  documents?: Document[];
}

export interface ChatEvents {
  start: { key: string; model: string };
  memories: { facts: Fact[]; hits: Hit[]; leftOut: string[]; sections: Section[] };
  prompt: Preview;
  text: { text: string };
  tool: { id: string; name: string; arguments: unknown };
  toolResult: { id: string; name: string; result: unknown };
  learnt: { facts: LearntInTurn[] };
  usage: { inputTokens: number; outputTokens: number; contextWindow: number | null };
  error: ProblemDocument;
  done: { key: string; text: string; question: number | null; answer: number | null };
}

/** One event of an answer: `event.name` tells what `event.data` is. */
export type ChatEvent = EventOf<ChatEvents>;

export interface LearntLater {
  action: "added" | "superseded" | "ended" | "waiting";
  fact: Fact;
  before: Fact | null;
  quote: string | null;
  conversation: string | null;
  change: number | null;
}

export type RunState = "running" | "done" | "failed" | "interrupted" | "missed";

/** One time that a schedule was due, and what came of it. */
export interface Run {
  id: string;
  due: string;
  state: RunState;
  startedAt: string | null;
  finishedAt: string | null;
  attempts: number;
  result: string | null;
  error: string | null;
}

/** What somebody wants of a schedule. */
export interface Wanted {
  prompt: string;
  timing: string;
  timezone: string;
  name: string | null;
  /** Where results go: log, slack:CHANNEL or file:NAME. */
  deliver: string;
}

export interface Schedule extends Wanted {
  id: string;
  paused: boolean;
  nextRun: string | null;
  createdAt: string;
  updatedAt: string;
  running: boolean;
  lastRun: Run | null;
}

export interface Schedules {
  schedules: Schedule[];
  /** The zone of the server's machine. */
  timezone: string;
  /** Whether results can go to Slack from here. */
  channels: boolean;
}

export interface ServerEvents {
  /** The line is open: what may have changed before is to be looked at again. */
  hello: { version?: string };
  memory: { etag: string; facts: number };
  pending: { count: number };
  daily: { date?: string };
  index: { done: number; total: number };
  learnt: { facts: LearntLater[] };
  problem: { message: string };
  settings: Record<string, never>;
  schedules: Record<string, never>;
}

export type ServerEvent = EventOf<ServerEvents>;

type EventOf<Events> = { [Name in keyof Events]: { name: Name; data: Events[Name] } }[keyof Events];

export interface StatusFile {
  name: string;
  path: string;
  bytes: number | null;
  holds: string;
}

export interface StatusProblem {
  level: "error" | "warning";
  message: string;
}

/** What `turnleaf doctor --json` says, and how far the index is. */
export interface Status {
  versions: Record<string, string>;
  dataFolder: { path: string; why: string; exists: boolean };
  files: StatusFile[];
  limits: { name: string; value: SettingValue; from: string; meaning: string }[];
  /** What is at work: search, embeddings, tokens, model, learning. */
  parts: Record<string, string>;
  lastError: Record<string, string> | null;
  problems: StatusProblem[];
  index: { done: number; total: number };
  conversations: KeptConversations;
}

/** How long what was said is kept ("forever", "90 days", "window"), and how much there is. */
export interface KeptConversations {
  kept: string;
  messages: number;
  conversations: number;
  bytes: number;
  oldest: string | null;
}

// Problems

export type ProblemCode =
  | "invalid"
  | "settings"
  | "not-found"
  | "memory-full"
  | "conflict"
  | "corrupt-file"
  | "storage"
  | "embedding"
  | "model"
  | "locked-setting"
  | "fixed-setting"
  | "foreign-address"
  | "unauthorized"
  | "too-many-tokens"
  | "foreign-page"
  | "foreign-name"
  | "busy"
  | "too-large"
  | "too-slow"
  | "wrong-media-type"
  | "wrong-method"
  | "no-such-address"
  | "unreadable-body"
  | "invalid-request"
  | "changed-meanwhile"
  | "unexpected";

export interface ProblemDocument {
  type?: string;
  title: string;
  status: number;
  detail: string;
  /** What kind of problem it is, so that it can be said in another language. */
  code?: ProblemCode;
  errors?: { where: string; message: string }[];
  etag?: string;
}

/** What went wrong, as the server says it; status 0 is a server that cannot be reached. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly code: ProblemCode | null;
  readonly errors: { where: string; message: string }[];
  readonly etag: string | null;

  constructor(document: ProblemDocument, etag: string | null = null) {
    super(document.detail || document.title);
    this.name = "Problem";
    this.status = document.status;
    this.title = document.title;
    this.code = document.code ?? null;
    this.errors = document.errors ?? [];
    this.etag = document.etag ?? etag;
  }

  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

/** Give the problem of a server that does not answer. */
export function unreachable(): Problem {
  return new Problem({ title: "Unreachable", status: 0, detail: "" });
}

/** Turn whatever was thrown into a `Problem`. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ title: "Error", status: -1, detail });
}

/** Tell whether it was stopped on purpose. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function problemOf(response: Response): Promise<Problem> {
  const unknown = { title: response.statusText, status: response.status, detail: "" };
  const etag = response.headers.get("ETag");
  try {
    return new Problem({ ...unknown, ...((await response.json()) as object) }, etag);
  } catch {
    return new Problem({ ...unknown, detail: `${response.status} ${response.statusText}` }, etag);
  }
}

// Requests

type Query = Record<string, string | number | boolean | null | undefined>;

interface Options {
  method?: string;
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  keepalive?: boolean;
}

/** Give an address below the page's own, whatever prefix it is served under. */
export function address(path: string, query: Query = {}): string {
  const url = new URL(path, document.baseURI.split("#")[0]);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  }
  return url.href;
}

async function send(path: string, options: Options = {}): Promise<Response> {
  const secret = token();
  if (isLocked() && !options.headers?.Authorization) throw locked();
  const headers: Record<string, string> = { ...(secret && { Authorization: `Bearer ${secret}` }), ...options.headers };
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(address(path, options.query), {
      method: options.method ?? "GET",
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      keepalive: options.keepalive,
      cache: "no-store",
    });
  } catch (error) {
    throw isAborted(error) ? error : unreachable();
  }
  if (response.ok) return response;
  if (response.status === 401) clearToken(secret);
  throw await problemOf(response);
}

/** What the server would say once more. */
function locked(): Problem {
  return new Problem({ title: "Unauthorized", status: 401, detail: "", code: "unauthorized" });
}

async function ask<Answered>(path: string, options: Options = {}): Promise<Answered> {
  const response = await send(path, options);
  return (response.status === 204 ? undefined : await response.json()) as Answered;
}

/** Return the name that the server gives to a file. */
function fileNameOf(response: Response): string | null {
  const said = response.headers.get("Content-Disposition") ?? "";
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(said) ?? [];
  const [, plain] = /filename="([^"]+)"/i.exec(said) ?? [];
  return encoded ? decodeURIComponent(encoded) : (plain ?? null);
}

// Server-sent events

interface RawEvent {
  name: string;
  data: unknown;
}

function parsed(block: string): RawEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}

/** Read events as they come: EventSource can neither send a token nor post. */
async function* eventsOf(response: Response, isAlive?: () => void): AsyncGenerator<RawEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw isAborted(error) ? error : unreachable();
      });
      if (done) return;
      isAlive?.();
      const blocks = (rest + value).replace(/\r\n?/g, "\n").split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

// The API

const MEMORY = "api/memory";
const SCHEDULES = "api/schedules";

function conversationAt(key: string): string {
  return `api/conversations/${encodeURIComponent(key)}`;
}

function scheduleAt(id: string): string {
  return `${SCHEDULES}/${encodeURIComponent(id)}`;
}

export const api = {
  main: (signal?: AbortSignal) => ask<MainMemory>(`${MEMORY}/main`, { signal }),

  /** Save the whole text; with an ETag only if nobody else saved since (else a Problem with 412). */
  saveMain: (content: string, etag?: string) =>
    ask<Saved>(`${MEMORY}/main`, {
      method: "PUT",
      body: { content },
      headers: etag ? { "If-Match": etag } : {},
    }),

  search: (q: string, options: SearchOptions = {}, signal?: AbortSignal) =>
    ask<Found>(`${MEMORY}/search`, { query: { q, ...options }, signal }),

  facts: (category?: string, signal?: AbortSignal) =>
    ask<{ facts: Fact[]; capacity: Capacity }>(`${MEMORY}/facts`, { query: { category }, signal }),
  addFact: (content: string, category?: string) =>
    ask<Fact>(`${MEMORY}/facts`, { method: "POST", body: { content, category: category || undefined } }),
  fact: (id: string) => ask<Fact>(`${MEMORY}/facts/${encodeURIComponent(id)}`),
  changeFact: (id: string, content: string, expected?: string) =>
    ask<Fact>(`${MEMORY}/facts/${encodeURIComponent(id)}`, {
      method: "PATCH",
      body: { content, expected },
    }),
  deleteFact: (id: string) =>
    ask<{ deleted: Fact; change: number }>(`${MEMORY}/facts/${encodeURIComponent(id)}`, {
      method: "DELETE",
    }),

  pending: (signal?: AbortSignal) => ask<{ pending: PendingFact[] }>(`${MEMORY}/pending`, { signal }),
  decide: (id: string, action: "accept" | "reject", content?: string) =>
    ask<{ action: string; fact: Fact | null }>(`${MEMORY}/pending`, {
      method: "POST",
      body: { id, action, content },
    }),

  changes: (query: { limit?: number; before?: number; learnt?: boolean } = {}, signal?: AbortSignal) =>
    ask<{ changes: Change[]; more: boolean }>(`${MEMORY}/changes`, { query, signal }),
  undo: (change?: number) =>
    ask<{ undone: Change[]; etag: string }>(`${MEMORY}/undo`, {
      method: "POST",
      body: change === undefined ? {} : { change },
    }),

  stats: (signal?: AbortSignal) => ask<Stats>(`${MEMORY}/stats`, { signal }),

  days: (signal?: AbortSignal) => ask<{ days: Day[] }>(`${MEMORY}/daily`, { signal }),
  day: (date: string, signal?: AbortSignal) =>
    ask<DayNote>(`${MEMORY}/daily/${encodeURIComponent(date)}`, { signal }),
  addNote: (date: string, entry: string) =>
    ask<DayNote>(`${MEMORY}/daily/${encodeURIComponent(date)}`, { method: "POST", body: { entry } }),

  config: (signal?: AbortSignal) => ask<Config>(`${MEMORY}/config`, { signal }),
  settings: (signal?: AbortSignal) =>
    ask<{ settings: Setting[] }>(`${MEMORY}/config/settings`, { signal }),
  /** Change some settings; null lets one have its default again. */
  configure: (part: Record<string, SettingValue>) =>
    ask<Config>(`${MEMORY}/config`, { method: "PUT", body: part }),

  /** Return conversations, the newest first; with `q` those that have it in their title or text. */
  conversations: async (query: { q?: string; limit?: number } = {}, signal?: AbortSignal) =>
    (await ask<{ conversations: ConversationSummary[] }>("api/conversations", { query, signal })).conversations,
  conversation: (key: string, { ...query }: Extent = {}, signal?: AbortSignal) =>
    ask<ConversationDetail>(conversationAt(key), { query, signal }),
  /** Rename it (an empty title: its first question again), or keep it out of search. */
  changeConversation: (key: string, part: { title?: string; searched?: boolean }) =>
    ask<ConversationSummary>(conversationAt(key), { method: "PATCH", body: part }),
  /** Show the version of a conversation that goes through this message. */
  showVersion: (key: string, message: number) =>
    ask<void>(`${conversationAt(key)}/path`, { method: "POST", body: { message } }),
  exportConversation: async (key: string, format: "markdown" | "json"): Promise<File> => {
    const response = await send(`${conversationAt(key)}/export`, { query: { format } });
    return new File([await response.blob()], fileNameOf(response) ?? `conversation.${format === "json" ? "json" : "md"}`);
  },
  /** Erase a conversation, even if the page is closed at this moment. */
  deleteConversation: (key: string) => ask<void>(conversationAt(key), { method: "DELETE", keepalive: true }),

  schedules: (signal?: AbortSignal) => ask<Schedules>(SCHEDULES, { signal }),
  /** Give the runs of a schedule, the newest first. */
  runs: async (id: string, signal?: AbortSignal) =>
    (await ask<Schedule & { runs: Run[] }>(scheduleAt(id), { signal })).runs,
  addSchedule: (wanted: Wanted) => ask<Schedule>(SCHEDULES, { method: "POST", body: wanted }),
  changeSchedule: (id: string, part: Partial<Wanted> & { paused?: boolean }) =>
    ask<Schedule>(scheduleAt(id), { method: "PATCH", body: part }),
  deleteSchedule: (id: string) => ask<{ deleted: Schedule }>(scheduleAt(id), { method: "DELETE" }),
  /** Begin a run at once; it goes on in the background. */
  runSchedule: (id: string) => ask<Run>(`${scheduleAt(id)}/run`, { method: "POST" }),
  /** Tell when a timing is due next; a timing that says no time is a Problem with 422. */
  times: async (timing: string, timezone: string, signal?: AbortSignal) => {
    const body = { timing, timezone: timezone || undefined };
    return (await ask<{ times: string[] }>(`${SCHEDULES}/preview`, { method: "POST", body, signal })).times;
  },

  /** Ask, and read the answer's events as they come; abort the signal to stop the model. */
  async *chat(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatEvent> {
    const headers = { Accept: "text/event-stream" };
    const response = await send("api/chat", { method: "POST", body: request, headers, signal });
    yield* eventsOf(response) as AsyncGenerator<ChatEvent>;
  },
  /** Give the model that answers. */
  model: async (signal?: AbortSignal) => {
    const { data } = await ask<{ data: { id: string }[] }>("v1/models", { signal });
    return data.at(-1)?.id ?? "";
  },

  /** Read what the server tells; whatever comes, if only a comment, shows that it is alive. */
  async *events(isAlive: () => void, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    const response = await send("api/events", { headers: { Accept: "text/event-stream" }, signal });
    yield* eventsOf(response, isAlive) as AsyncGenerator<ServerEvent>;
  },

  status: (signal?: AbortSignal) => ask<Status>("api/status", { signal }),

  /** Tell whether a token opens the server; without one, whether none is needed. */
  async opens(secret: string): Promise<boolean> {
    try {
      await send("api/memory/config", { headers: { Authorization: `Bearer ${secret}` } });
      return true;
    } catch (error) {
      if (asProblem(error).status === 401) return false;
      throw error;
    }
  },
};
