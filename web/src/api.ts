/** A typed client of the server's API. Whatever is refused is thrown as a `Problem`. */

import type * as Schema from "./api-types";
import { readServerSentEvents, type ServerSentEvent } from "./serverSentEvents";
import { clearToken, getToken, isLocked } from "./token";

// Schemas: the names by which the page knows those of the API's description

export type {
  Attached as Document,
  Capacity,
  ChangeView as Change,
  ChatRequest,
  Cited,
  Config,
  ConversationPage as ConversationDetail,
  DayLog,
  DaySummary as Day,
  FactView as Fact,
  FoundView as FoundModels,
  HitView as Hit,
  ImportedView as Imported,
  ImportView as Import,
  KeptConversations,
  LearnedLater,
  MadeToken,
  MainMemory,
  MessageView as Message,
  ModelReading,
  ModelsView,
  Preview,
  PromptParts as ShapedBy,
  ProviderView as ModelProvider,
  RunView as Run,
  ScheduleList as Schedules,
  ScheduleView as Schedule,
  SettingView as Setting,
  Status,
  Summary as ConversationSummary,
  TokenView as Token,
  UsedHit as StoredHit,
  Waiting as PendingFact,
} from "./api-types";

export type FactsAction = Schema.FactsChange["action"];
export type HitSource = Schema.HitView["source"];
export type SettingValue = Schema.SettingView["value"];
export type RunState = Schema.RunView["state"];
export type ProblemCode = Schema.Problem["code"];
/** A problem of the server, or of the page itself, which has no code. */
type ProblemDocument = Omit<Schema.Problem, "code"> & Partial<Schema.Problem>;

/** Where something learned comes from. */
export type Source = Pick<Schema.Waiting, "quote" | "conversation" | "messageTime" | "trust" | "source">;

/** A tool that a message of a model asks for, as OpenAI has it. */
export interface ToolCall {
  id?: string;
  function?: { name?: string; arguments?: string };
}

/** What somebody wants of a schedule. */
export type Wanted = Pick<Schema.ScheduleView, "prompt" | "timing" | "timezone" | "name" | "deliver">;

interface SearchOptions {
  limit?: number;
  source?: HitSource;
  explain?: boolean;
  since?: string;
  until?: string;
}

/** Which messages of a conversation: the newest, those before one, or those around one. */
interface Extent {
  limit?: number;
  before?: number;
  around?: number;
}

type EventOf<Events> = { [Name in keyof Events]: { name: Name; data: Events[Name] } }[keyof Events];

/** One event of an answer: `event.name` tells what `event.data` is. */
export type ChatEvent = EventOf<Schema.ChatEvents>;
/** What the server tells; a tab that hears of the line from another one has no greeting of it. */
export type ServerEvents = Omit<Schema.ServerEvents, "hello"> & { hello: Partial<Schema.Hello> };
export type ServerEvent = EventOf<ServerEvents>;

// Problems

/** What went wrong, as the server says it; status 0 is a server that cannot be reached. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly code: ProblemCode | null;
  readonly errors: Schema.Fault[];
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

/** Return the problem of a server that does not answer. */
export function makeUnreachable(): Problem {
  return new Problem({ title: "Unreachable", status: 0, detail: "" });
}

/** Turn whatever was thrown into a `Problem`. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ title: "Error", status: -1, detail });
}

/** Whether it was stopped on purpose. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

async function readProblem(response: Response): Promise<Problem> {
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

/** Return an address below the page's own, whatever prefix it is served under. */
export function resolveAddress(path: string, query: Query = {}): string {
  const url = new URL(path, document.baseURI.split("#")[0]);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  }
  return url.href;
}

function buildHeaders(more: Record<string, string> = {}): Record<string, string> {
  const secret = getToken();
  return {
    "Accept-Language": document.documentElement.lang || navigator.language,
    ...(secret && { Authorization: `Bearer ${secret}` }),
    ...more,
  };
}

async function send(path: string, options: Options = {}): Promise<Response> {
  const secret = getToken();
  if (isLocked() && !options.headers?.Authorization) throw makeLocked();
  const headers = buildHeaders(options.headers);
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(resolveAddress(path, options.query), {
      method: options.method ?? "GET",
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      keepalive: options.keepalive,
      cache: "no-store",
    });
  } catch (error) {
    throw isAborted(error) ? error : makeUnreachable();
  }
  if (response.ok) return response;
  if (response.status === 401) clearToken(secret);
  throw await readProblem(response);
}

/** What the server would say once more. */
function makeLocked(): Problem {
  return new Problem({ title: "Unauthorized", status: 401, detail: "", code: "unauthorized" });
}

async function ask<Answered>(path: string, options: Options = {}): Promise<Answered> {
  const response = await send(path, options);
  return (response.status === 204 ? undefined : await response.json()) as Answered;
}

interface Upload {
  query: Query;
  /** Called with how many bytes were sent. */
  onSent: (bytes: number) => void;
  signal: AbortSignal;
}

/** Send a file as it is; only this old way of asking tells how much of it was sent. */
function sendFile<Answered>(path: string, file: File, { query, onSent, signal }: Upload): Promise<Answered> {
  const secret = getToken();
  const request = new XMLHttpRequest();
  request.open("POST", resolveAddress(path, query));
  const headers = buildHeaders({ "Content-Type": "application/octet-stream" });
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.onprogress = (event) => onSent(event.loaded);
  signal.addEventListener("abort", () => request.abort(), { once: true });
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(makeUnreachable());
    request.onabort = () => reject(new DOMException("", "AbortError"));
    request.onload = async () => {
      const response = new Response(request.responseText, { status: request.status, statusText: request.statusText });
      if (response.ok) return resolve((await response.json()) as Answered);
      if (response.status === 401) clearToken(secret);
      reject(await readProblem(response));
    };
    request.send(file);
  });
}

/** Return the name that the server gives to a file. */
function readFileName(response: Response): string | null {
  const said = response.headers.get("Content-Disposition") ?? "";
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(said) ?? [];
  const [, plain] = /filename="([^"]+)"/i.exec(said) ?? [];
  return encoded ? decodeURIComponent(encoded) : (plain ?? null);
}

/** Read events as they come; a stream that breaks off is a server that cannot be reached. */
async function* readEvents(response: Response, onAlive?: () => void): AsyncGenerator<ServerSentEvent> {
  try {
    yield* readServerSentEvents(response.body!, onAlive);
  } catch (error) {
    throw isAborted(error) ? error : makeUnreachable();
  }
}

// The API

const MEMORY = "api/memory";
const IMPORT = "api/import";
const SCHEDULES = "api/schedules";

function buildConversationPath(key: string): string {
  return `api/conversations/${encodeURIComponent(key)}`;
}

function buildSchedulePath(id: string): string {
  return `${SCHEDULES}/${encodeURIComponent(id)}`;
}

export const api = {
  getMain: (signal?: AbortSignal) => ask<Schema.MainMemory>(`${MEMORY}/main`, { signal }),

  /** Save the whole text; with an ETag only if nobody else saved since (else a Problem with 412). */
  saveMain: (content: string, etag?: string) =>
    ask<Schema.SavedMemory>(`${MEMORY}/main`, {
      method: "PUT",
      body: { content },
      headers: etag ? { "If-Match": etag } : {},
    }),

  search: (q: string, options: SearchOptions = {}, signal?: AbortSignal) =>
    ask<Schema.Results>(`${MEMORY}/search`, { query: { q, ...options }, signal }),

  getFacts: (category?: string, signal?: AbortSignal) =>
    ask<Schema.FactList>(`${MEMORY}/facts`, { query: { category }, signal }),
  addFact: (content: string, category?: string) =>
    ask<Schema.Added>(`${MEMORY}/facts`, { method: "POST", body: { content, category: category || undefined } }),
  getFact: (id: string) => ask<Schema.FactView>(`${MEMORY}/facts/${encodeURIComponent(id)}`),
  changeFact: (id: string, content: string, expected?: string) =>
    ask<Schema.FactView>(`${MEMORY}/facts/${encodeURIComponent(id)}`, {
      method: "PATCH",
      body: { content, expected },
    }),
  /** Return what was said for a fact, the newest first. */
  getFactStory: (fact: string, signal?: AbortSignal) =>
    ask<Schema.FactStory>(`${MEMORY}/why`, { query: { fact }, signal }),
  /** Forget, pin or move several facts, in one change. */
  changeFacts: (ids: string[], action: FactsAction, category?: string) =>
    ask<Schema.FactsChanged>(`${MEMORY}/facts/batch`, { method: "POST", body: { ids, action, category } }),
  deleteFact: (id: string) =>
    ask<Schema.Deleted>(`${MEMORY}/facts/${encodeURIComponent(id)}`, {
      method: "DELETE",
    }),

  getPending: (signal?: AbortSignal) => ask<Schema.Pending>(`${MEMORY}/pending`, { signal }),
  decidePending: (id: string, action: Schema.PendingDecision["action"], content?: string) =>
    ask<Schema.Decided>(`${MEMORY}/pending`, {
      method: "POST",
      body: { id, action, content },
    }),

  /** Decide about several at once; what was not decided stays, for the reason that is given. */
  decideAllPending: (ids: string[], action: Schema.PendingDecisions["action"]) =>
    ask<Schema.DecidedAll>(`${MEMORY}/pending/batch`, { method: "POST", body: { ids, action } }),

  /** Return the import that runs, or the last one. */
  getImport: (signal?: AbortSignal) => ask<Schema.LatestImport>(IMPORT, { signal }),
  /** Send a file to be counted; abort the signal to stop. */
  countImport: (file: File, onSent: (bytes: number) => void, signal: AbortSignal) =>
    sendFile<Schema.ImportView>(IMPORT, file, { query: { name: file.name, dryRun: true }, onSent, signal }),
  /** Import what was counted. */
  startImport: (id: string) => ask<Schema.ImportView>(`${IMPORT}/${id}`, { method: "POST" }),
  /** Return what it takes for a model to read what was imported, and how far it is. */
  getReading: (signal?: AbortSignal) => ask<Schema.ModelReading>(`${IMPORT}/learning`, { signal }),
  startReading: (maxCalls: number) =>
    ask<Schema.ModelReading>(`${IMPORT}/learning`, { method: "POST", body: { maxCalls } }),
  stopReading: () => ask<void>(`${IMPORT}/learning`, { method: "DELETE" }),
  stopImport: (id: string) => ask<void>(`${IMPORT}/${id}`, { method: "DELETE" }),

  getChanges: (query: { limit?: number; before?: number; learnt?: boolean } = {}, signal?: AbortSignal) =>
    ask<Schema.ChangeList>(`${MEMORY}/changes`, { query, signal }),
  undo: (change?: number) =>
    ask<Schema.Undone>(`${MEMORY}/undo`, {
      method: "POST",
      body: change === undefined ? {} : { change },
    }),

  getStats: (signal?: AbortSignal) => ask<Schema.Stats>(`${MEMORY}/stats`, { signal }),

  getDays: (signal?: AbortSignal) => ask<Schema.Days>(`${MEMORY}/daily`, { signal }),
  getDay: (date: string, signal?: AbortSignal) =>
    ask<Schema.DayLog>(`${MEMORY}/daily/${encodeURIComponent(date)}`, { signal }),
  addNote: (date: string, entry: string) =>
    ask<Schema.DayLog>(`${MEMORY}/daily/${encodeURIComponent(date)}`, { method: "POST", body: { entry } }),

  /** Change an entry, or delete it with null, if it still says the same (else a Problem with 409). */
  changeNote: (date: string, entry: string, content: string | null) =>
    ask<Schema.DayLog>(`${MEMORY}/daily/${encodeURIComponent(date)}`, { method: "PATCH", body: { entry, content } }),

  getConfig: (signal?: AbortSignal) => ask<Schema.Config>(`${MEMORY}/config`, { signal }),
  getSettings: (signal?: AbortSignal) => ask<Schema.SettingList>(`${MEMORY}/config/settings`, { signal }),
  /** Change some settings; null lets one have its default again. */
  configure: (part: Record<string, SettingValue>) =>
    ask<Schema.Config>(`${MEMORY}/config`, { method: "PUT", body: part }),

  /** Return conversations, the newest first; with `q` those that have it in their title or text. */
  getConversations: async (query: { q?: string; limit?: number } = {}, signal?: AbortSignal) =>
    (await ask<Schema.Summaries>("api/conversations", { query, signal })).conversations,
  getConversation: (key: string, { ...query }: Extent = {}, signal?: AbortSignal) =>
    ask<Schema.ConversationPage>(buildConversationPath(key), { query, signal }),
  /** Rename it (an empty title: its first question again), or keep it out of search. */
  changeConversation: (key: string, part: Schema.Altered) =>
    ask<Schema.Summary>(buildConversationPath(key), { method: "PATCH", body: part }),
  /** Show the version of a conversation that goes through this message. */
  showVersion: (key: string, message: number) =>
    ask<void>(`${buildConversationPath(key)}/path`, { method: "POST", body: { message } }),
  exportConversation: async (key: string, format: "markdown" | "json"): Promise<File> => {
    const response = await send(`${buildConversationPath(key)}/export`, { query: { format } });
    return new File(
      [await response.blob()],
      readFileName(response) ?? `conversation.${format === "json" ? "json" : "md"}`,
    );
  },
  /** Erase a conversation, even if the page is closed at this moment. */
  deleteConversation: (key: string) => ask<void>(buildConversationPath(key), { method: "DELETE", keepalive: true }),

  getSchedules: (signal?: AbortSignal) => ask<Schema.ScheduleList>(SCHEDULES, { signal }),
  /** Return the runs of a schedule, the newest first. */
  getRuns: async (id: string, signal?: AbortSignal) =>
    (await ask<Schema.ScheduleWithRuns>(buildSchedulePath(id), { signal })).runs,
  addSchedule: (wanted: Wanted) => ask<Schema.ScheduleView>(SCHEDULES, { method: "POST", body: wanted }),
  changeSchedule: (id: string, part: Schema.ScheduleChanges) =>
    ask<Schema.ScheduleView>(buildSchedulePath(id), { method: "PATCH", body: part }),
  deleteSchedule: (id: string) => ask<Schema.Removed>(buildSchedulePath(id), { method: "DELETE" }),
  /** Begin a run at once; it goes on in the background. */
  runSchedule: (id: string) => ask<Schema.RunView>(`${buildSchedulePath(id)}/run`, { method: "POST" }),
  /** Return when a timing is due next; a timing that says no time is a Problem with 422. */
  getTimes: async (timing: string, timezone: string, signal?: AbortSignal) => {
    const body = { timing, timezone: timezone || undefined };
    return (await ask<Schema.Times>(`${SCHEDULES}/preview`, { method: "POST", body, signal })).times;
  },

  /** Ask, and read the answer's events as they come; abort the signal to stop the model. */
  async *streamChat(request: Schema.ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatEvent> {
    const headers = { Accept: "text/event-stream" };
    const response = await send("api/chat", { method: "POST", body: request, headers, signal });
    yield* readEvents(response) as AsyncGenerator<ChatEvent>;
  },
  /** Read what the server tells; whatever comes, if only a comment, shows that it is alive. */
  async *streamEvents(isAlive: () => void, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    const response = await send("api/events", { headers: { Accept: "text/event-stream" }, signal });
    yield* readEvents(response, isAlive) as AsyncGenerator<ServerEvent>;
  },

  /** Look for models on the server's machine, which takes up to a second. */
  getModels: (signal?: AbortSignal) => ask<Schema.ModelsView>("api/models", { signal }),
  /** Ask a provider which models it has; at another address only for the operator. */
  listModels: (provider: string, query: { url: string | null; confirm: boolean }, signal?: AbortSignal) =>
    ask<Schema.ModelList>(`api/models/${encodeURIComponent(provider)}`, { query, signal }),
  testModel: (wanted: Schema.TestRequest) =>
    ask<Schema.TestResult>("api/models/test", { method: "POST", body: wanted }),
  setKey: (provider: string, key: Schema.KeyRequest) =>
    ask<Schema.KeyView>(`api/keys/${encodeURIComponent(provider)}`, { method: "PUT", body: key }),
  removeKey: (provider: string) => ask<void>(`api/keys/${encodeURIComponent(provider)}`, { method: "DELETE" }),

  getOperator: (signal?: AbortSignal) => ask<Schema.OperatorState>("api/operator", { signal }),
  getTokens: (signal?: AbortSignal) => ask<Schema.TokenList>("api/tokens", { signal }),
  addToken: (token: Schema.NewToken) => ask<Schema.MadeToken>("api/tokens", { method: "POST", body: token }),
  revokeToken: (id: string) => ask<void>(`api/tokens/${encodeURIComponent(id)}`, { method: "DELETE" }),

  getStatus: (signal?: AbortSignal) => ask<Schema.Status>("api/status", { signal }),

  /** Whether a token opens the server; without one, whether none is needed. */
  async isTokenAccepted(secret: string): Promise<boolean> {
    try {
      await send("api/memory/config", { headers: { Authorization: `Bearer ${secret}` } });
      return true;
    } catch (error) {
      if (toProblem(error).status === 401) return false;
      throw error;
    }
  },
};
