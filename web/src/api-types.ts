// Made by scripts/api_types.py from the description of the API; do not edit.

export interface Added {
  id: string;
  content: string;
  category: string | null;
  origin: string | null;
  createdAt: string;
  updatedAt: string;
  slot: string | null;
  until: string | null;
  saidCount: number;
  pinned: boolean;
  line: number | null;
  displaced: Array<FactView>;
}

export interface Altered {
  title?: string | null;
  searched?: boolean | null;
}

export interface AnswerFormat {
  type: string;
}

export interface Attached {
  name: string;
  text: string;
}

export interface Capacity {
  items: number;
  maxItems: number;
  chars: number;
  maxChars: number;
}

export interface ChangeList {
  changes: Array<ChangeView>;
  more: boolean;
}

export interface ChangeView {
  quote: string | null;
  conversation: string | null;
  messageTime: string | null;
  trust: string | null;
  source: string | null;
  n: number;
  time: string;
  op: string;
  id: string | null;
  before: FactView | null;
  after: FactView | null;
  origin: string | null;
  decision: string | null;
  undoes: number | null;
  removed: Array<FactView>;
  undone: boolean;
  undoable: boolean;
}

export interface ChatDone {
  key: string;
  text: string;
  question: number | null;
  answer: number | null;
  cited: Cited;
  asksToKeep: boolean;
}

export interface ChatEvents {
  start: ChatStart;
  memories: ShapedBy;
  prompt: Preview;
  text: ChatText;
  tool: ChatTool;
  toolResult: ChatToolResult;
  usage: ChatUsage;
  learnt: TurnChanges;
  done: ChatDone;
  error: Problem;
}

export interface ChatMessage {
  role: string;
  content?: string | Array<ContentPart> | null;
  tool_calls?: Array<Record<string, unknown>> | null;
  tool_call_id?: string | null;
  name?: string | null;
}

export interface ChatRequest {
  message: string;
  key?: string | null;
  private?: boolean;
  documents?: Array<Attached>;
  explain?: boolean;
  again?: boolean;
  after?: number | null;
  resume?: boolean;
  keepSecrets?: boolean;
  model?: string | null;
}

export interface ChatStart {
  key: string;
  model: string;
}

export interface ChatText {
  text: string;
}

export interface ChatTool {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export interface ChatToolResult {
  id: string;
  name: string;
  result: Record<string, unknown>;
}

export interface ChatUsage {
  inputTokens: number;
  outputTokens: number;
  contextWindow: number | null;
}

export interface Choice {
  index?: number;
  message: CompletedMessage;
  logprobs?: null;
  finish_reason?: "stop";
}

export interface Chosen {
  message: number;
}

export interface Cited {
  facts: Array<string>;
  hits: Array<number>;
}

export interface CompletedMessage {
  role?: "assistant";
  content: string;
  refusal?: null;
}

export interface Completion {
  id: string;
  object?: "chat.completion";
  created: number;
  model: string;
  choices: Array<Choice>;
  usage: CompletionTokens;
}

export interface CompletionRequest {
  model: string;
  messages: Array<ChatMessage>;
  stream?: boolean | null;
  stream_options?: StreamOptions | null;
  user?: string | null;
  n?: number | null;
  tools?: Array<unknown> | null;
  functions?: Array<unknown> | null;
  response_format?: AnswerFormat | null;
  modalities?: Array<string> | null;
}

export interface CompletionTokens {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface Config {
  conversationMaxTurns: number;
  conversationMaxChars: number;
  conversationMaxAgeDays: number;
  conversationKeepDays: number | null;
  memoryMaxItems: number;
  memoryMaxChars: number;
  memoryLocation: string | null;
  conversationsLocation: string | null;
  enabled: boolean;
  autoExtract: boolean;
  extractIntervalSeconds: number;
  minNewMessages: number;
  flushThreshold: number;
  model: string | null;
  modelUrl: string | null;
  contextWindow: number | null;
  instructions: string | null;
  claudeTimeoutMs: number;
  extractModel: string | null;
  extractDailyCalls: number;
  promptMaxTokens: number;
  contextMaxTokens: number;
  embeddings: boolean;
  embeddingsUrl: string | null;
  embeddingsModel: string | null;
  searchVectorWeight: number;
  searchBm25Weight: number;
  slackAllowedUsers: string | null;
  slackAllowedChannels: string | null;
  slackSpaces: string | null;
  locked: Array<string>;
}

export interface ContentPart {
  type: string;
  text?: string | null;
  refusal?: string | null;
}

export interface ConversationPage {
  key: string;
  title: string;
  private: boolean;
  searched: boolean;
  messages: Array<MessageView>;
  earlier: boolean;
  later: boolean;
  model: string | null;
}

export interface CurrentModel {
  name: string;
  why: string;
  url: string | null;
  lack: string | null;
}

export interface DayLog {
  date: string;
  content: string;
  entries: Array<string>;
  exists: boolean;
}

export interface DaySummary {
  date: string;
  entries: number;
  chars: number;
}

export interface Days {
  days: Array<DaySummary>;
}

export interface Decided {
  action: "accept" | "reject";
  fact: FactView | null;
}

export interface DecidedAll {
  decided: Array<string>;
  problem: string | null;
}

export interface Deleted {
  deleted: FactView;
  change: number;
}

export interface FactList {
  facts: Array<FactView>;
  used: Array<string>;
  capacity: Capacity;
}

export interface FactStory {
  fact: FactView | null;
  said: Array<FactWords>;
}

export interface FactView {
  id: string;
  content: string;
  category: string | null;
  origin: string | null;
  createdAt: string;
  updatedAt: string;
  slot: string | null;
  until: string | null;
  saidCount: number;
  pinned: boolean;
  line: number | null;
}

export interface FactWords {
  quote: string | null;
  conversation: string | null;
  messageTime: string | null;
  trust: string | null;
  source: string | null;
  message: number | null;
  time: string;
}

export interface FactsChange {
  ids: Array<string>;
  action: "forget" | "pin" | "unpin" | "categorize";
  category?: string | null;
}

export interface FactsChanged {
  facts: Array<FactView>;
  change: number | null;
}

export interface Fault {
  where: string;
  message: string;
}

export interface FileFound {
  name: string;
  path: string;
  bytes: number | null;
  holds: string;
}

export interface FolderFound {
  path: string;
  why: string;
  exists: boolean;
}

export interface FoundView {
  provider: string;
  label: string;
  url: string | null;
  models: Array<string>;
}

export interface Health {
  status: "ok";
}

export interface Hello {
  version: string;
}

export interface HitView {
  text: string;
  source: "memory" | "older" | "daily" | "conversations";
  file: string;
  line: number;
  heading: string | null;
  date: string | null;
  conversation: string | null;
  message: number | null;
  time: string | null;
  speaker: string | null;
  trust: string;
  shown: boolean;
  id: string | null;
  score: number | null;
  terms: Array<string>;
  newer: NewerView | null;
  bm25?: number | null;
  vector?: number | null;
}

export interface ImportProgress {
  id: string;
  state: "receiving" | "running" | "done" | "failed" | "stopped";
  done: number;
  total: number;
}

export interface ImportView {
  id: string;
  name: string;
  size: number;
  dryRun: boolean;
  state: "receiving" | "running" | "done" | "failed" | "stopped";
  done: number;
  total: number;
  imported: ImportedView;
  problem: string | null;
}

export interface ImportedView {
  conversations: number;
  messages: number;
  oldest: string | null;
  newest: string | null;
  programs: Record<string, number>;
  memories: number;
  knownMemories: number;
  older: number;
  toReview: number;
  leftOut: Array<LeftOut>;
  problems: Array<string>;
}

export interface KeptConversations {
  kept: string;
  messages: number;
  conversations: number;
  bytes: number;
  oldest: string | null;
}

export interface KeyRequest {
  key: string;
  url?: string | null;
  confirm?: boolean;
}

export interface KeyView {
  provider: string;
  key: "environment" | "file" | "command" | null;
  url: string | null;
}

export interface LatestImport {
  latest: ImportView | null;
}

export interface LearnedFacts {
  facts: Array<LearnedLater>;
}

export interface LearnedLater {
  action: "added" | "superseded" | "ended" | "waiting";
  fact: FactView;
  before: FactView | null;
  quote: string | null;
  conversation: string | null;
  change: number | null;
}

export interface LeftOut {
  what: string;
  count: number;
}

export interface LimitChanges {
  requestsPerMinute?: number | null;
  modelCallsPerDay?: number | null;
  modelTokensPerDay?: number | null;
  messages?: number | null;
  bytes?: number | null;
  turnsAtOnce?: number | null;
}

export interface LimitFound {
  name: string;
  value: boolean | number | string | null;
  from: "default" | "file" | "environment";
  meaning: string;
}

export interface MadeToken {
  id: string;
  space: string | null;
  name: string;
  createdAt: string;
  endsAt: string | null;
  lastUsedAt: string | null;
  token: string;
}

export interface MainMemory {
  content: string;
  etag: string;
  format: "markdown" | "json";
  file: string;
}

export interface MemoryChanged {
  etag: string;
  facts: number;
}

export interface MessageView {
  id: number | null;
  role: string;
  content: string | Array<Record<string, unknown>> | null;
  timestamp: string | null;
  status: "complete" | "stopped" | "failed" | "answering";
  trust: string;
  source: string | null;
  parent: number | null;
  versions: Array<number>;
  hidden: boolean;
  name: string | null;
  toolCalls: Array<Record<string, unknown>> | null;
  toolCallId: string | null;
  shapedBy: PromptParts | null;
  newer: NewerView | null;
}

export interface ModelList {
  provider: string;
  url: string | null;
  models: Array<string>;
}

export interface ModelName {
  id: string;
  object?: "model";
  created?: number;
  owned_by?: string;
}

export interface ModelNames {
  object?: "list";
  data: Array<ModelName>;
}

export interface ModelReading {
  model: string | null;
  conversations: number;
  calls: number;
  tokens: number;
  state: "idle" | "running" | "done" | "failed" | "stopped";
  made: number;
  mostCalls: number;
  found: number;
  problem: string | null;
}

export interface ModelReadingRequest {
  maxCalls: number;
}

export interface ModelsView {
  current: CurrentModel;
  wordsGo: WordsGo;
  found: Array<FoundView>;
  providers: Array<ProviderView>;
  operator: boolean;
}

export interface NewFact {
  content: string;
  category?: string | null;
}

export interface NewSchedule {
  prompt: string;
  timing: string;
  timezone?: string | null;
  name?: string | null;
  deliver?: string;
}

export interface NewToken {
  space: string | null;
  name?: string;
  ends?: string | null;
}

export interface NewerView {
  since: string;
  content: string;
}

export interface Note {
  entry: string;
}

export interface NoteChange {
  entry: string;
  content: string | null;
}

export interface Nothing {
}

export interface OperatorState {
  operator: boolean;
}

export interface OtherWords {
  content: string;
  expected?: string | null;
}

export interface Pending {
  pending: Array<Waiting>;
}

export interface PendingChanged {
  count: number;
}

export interface PendingDecision {
  id: string;
  action: "accept" | "reject";
  content?: string | null;
}

export interface PendingDecisions {
  ids: Array<string>;
  action: "accept" | "reject";
}

export interface Preview {
  facts: Array<FactView>;
  hits: Array<HitView>;
  leftOut: Array<string>;
  sections: Array<PromptSection>;
  system: string;
  messages: Array<PromptMessage>;
  text: string;
  tokens: number;
  maxTokens: number;
  model: string;
}

export interface Problem {
  type?: string;
  title: string;
  status: number;
  code: "invalid" | "settings" | "not-found" | "memory-full" | "conflict" | "corrupt-file" | "storage" | "embedding" | "model" | "locked-setting" | "fixed-setting" | "unconfirmed-address" | "operator-only" | "unauthorized" | "too-many-tokens" | "foreign-page" | "foreign-name" | "busy" | "too-large" | "too-slow" | "wrong-media-type" | "wrong-method" | "no-such-address" | "unreadable-body" | "invalid-request" | "changed-meanwhile" | "unexpected" | "limit-reached" | "space-full" | "other-space";
  detail: string;
  requestId?: string | null;
  etag?: string | null;
  errors?: Array<Fault> | null;
}

export interface ProblemFound {
  level: "error" | "warning";
  message: string;
}

export interface ProblemTold {
  message: string;
}

export interface Progress {
  done: number;
  total: number;
}

export interface PromptMessage {
  role: string;
  content: string;
}

export interface PromptParts {
  memories: Array<UsedFact>;
  hits: Array<UsedHit>;
}

export interface PromptRequest {
  message: string;
  key?: string | null;
  private?: boolean;
  documents?: Array<Attached>;
}

export interface PromptSection {
  name: string;
  tokens: number;
}

export interface ProviderView {
  name: string;
  label: string;
  local: boolean;
  url: string | null;
  needsKey: boolean;
  key: "environment" | "file" | "command" | null;
  variable: string | null;
}

export interface Ready {
  status: "ready";
}

export interface Removed {
  deleted: ScheduleView;
}

export interface Results {
  query: string;
  mode: "words" | "words and meaning";
  results: Array<HitView>;
}

export interface RunView {
  id: string;
  due: string;
  state: "running" | "done" | "failed" | "interrupted" | "missed";
  startedAt: string | null;
  finishedAt: string | null;
  attempts: number;
  result: string | null;
  error: string | null;
}

export interface SavedMemory {
  etag: string;
  change: number | null;
  facts: number;
}

export interface ScheduleChanges {
  prompt?: string | null;
  timing?: string | null;
  timezone?: string | null;
  name?: string | null;
  deliver?: string | null;
  paused?: boolean | null;
}

export interface ScheduleList {
  schedules: Array<ScheduleView>;
  timezone: string;
  channels: boolean;
}

export interface ScheduleView {
  id: string;
  name: string | null;
  prompt: string;
  timing: string;
  timezone: string;
  deliver: string;
  paused: boolean;
  nextRun: string | null;
  createdAt: string;
  updatedAt: string;
  running: boolean;
  lastRun: RunView | null;
}

export interface ScheduleWithRuns {
  id: string;
  name: string | null;
  prompt: string;
  timing: string;
  timezone: string;
  deliver: string;
  paused: boolean;
  nextRun: string | null;
  createdAt: string;
  updatedAt: string;
  running: boolean;
  lastRun: RunView | null;
  runs: Array<RunView>;
}

export interface ServerEvents {
  hello: Hello;
  memory: MemoryChanged;
  pending: PendingChanged;
  daily: Nothing;
  index: Progress;
  import: ImportProgress;
  reading: Nothing;
  learnt: LearnedFacts;
  problem: ProblemTold;
  settings: Nothing;
  schedules: Nothing;
}

export interface SettingList {
  settings: Array<SettingView>;
}

export interface SettingView {
  key: string;
  value: boolean | number | string | null;
  default: boolean | number | string | null;
  from: "default" | "file" | "environment";
  locked: boolean;
  variable: string;
  meaning: string;
  kind: "switch" | "number" | "share" | "text" | "path";
  least: number | null;
  remote: boolean;
}

export interface ShapedBy {
  facts: Array<FactView>;
  hits: Array<HitView>;
  leftOut: Array<string>;
  sections: Array<PromptSection>;
}

export interface SpaceView {
  name: string;
  requestsPerMinute: number;
  modelCallsPerDay: number;
  modelTokensPerDay: number;
  messages: number;
  bytes: number;
  turnsAtOnce: number;
  callsToday: number;
  tokensToday: number;
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
  inPrompt: number;
}

export interface Status {
  versions: Record<string, string>;
  dataFolder: FolderFound;
  files: Array<FileFound>;
  limits: Array<LimitFound>;
  parts: Record<string, string>;
  lastError: Record<string, string> | null;
  problems: Array<ProblemFound>;
  index: Progress;
  conversations: KeptConversations;
}

export interface StreamOptions {
  include_usage?: boolean | null;
}

export interface Summaries {
  conversations: Array<Summary>;
}

export interface Summary {
  key: string;
  title: string;
  messages: number;
  createdAt: string;
  updatedAt: string;
  audience: string;
  searched: boolean;
  renamed: boolean;
}

export interface TestRequest {
  model: string;
  url?: string | null;
  confirm?: boolean;
}

export interface TestResult {
  ok: boolean;
  kind: "no-key" | "key-refused" | "unreachable" | "model-unknown" | "rate-limit" | "no-credit" | "context-too-small" | "too-slow" | "broken-off" | "server-fault" | "unexpected" | null;
  sentence: string | null;
  milliseconds: number;
}

export interface Times {
  times: Array<string>;
  timezone: string;
}

export interface TimingRequest {
  timing: string;
  timezone?: string | null;
}

export interface TokenList {
  tokens: Array<TokenView>;
}

export interface TokenView {
  id: string;
  space: string | null;
  name: string;
  createdAt: string;
  endsAt: string | null;
  lastUsedAt: string | null;
}

export interface TurnChange {
  action: "added" | "changed" | "removed";
  fact: FactView;
  change: number;
}

export interface TurnChanges {
  facts: Array<TurnChange>;
}

export interface Undo {
  change?: number | null;
  skip?: boolean;
}

export interface Undone {
  undone: Array<ChangeView>;
  etag: string;
}

export interface UsedFact {
  id: string;
  content: string | null;
  cited: boolean;
}

export interface UsedHit {
  source: string;
  file: string;
  line: number | null;
  date: string | null;
  id: string | null;
  score: number | null;
  conversation: string | null;
  message: number | null;
  text: string | null;
  cited: boolean;
}

export interface Waiting {
  quote: string | null;
  conversation: string | null;
  messageTime: string | null;
  trust: string | null;
  source: string | null;
  id: string;
  content: string;
  category: string | null;
  origin: string | null;
  createdAt: string;
  updatedAt: string;
  slot: string | null;
  until: string | null;
  saidCount: number;
  pinned: boolean;
  line: number | null;
  title: string | null;
}

export interface WordsGo {
  local: boolean;
  to: Array<string>;
  sentence: string;
}
