import type { Setting } from "../api";

type SettingGroup = "learning" | "memory" | "model" | "search" | "conversations" | "slack" | "other";

/** Has its own place at the top of the page. */
export const FIRST = "autoExtract";
/** Are set where the models are listed. */
const OF_MODELS = ["model", "modelUrl"];

const KEYS: Record<Exclude<SettingGroup, "other">, string[]> = {
  memory: ["enabled", "memoryMaxItems", "memoryMaxChars", "promptMaxTokens", "contextMaxTokens", "memoryLocation"],
  learning: ["extractIntervalSeconds", "minNewMessages", "flushThreshold", "extractModel", "extractDailyCalls"],
  model: ["instructions", "contextWindow", "claudeTimeoutMs"],
  search: ["embeddings", "searchVectorWeight", "searchBm25Weight", "embeddingsUrl", "embeddingsModel"],
  conversations: [
    "conversationKeepDays",
    "conversationMaxTurns",
    "conversationMaxChars",
    "conversationMaxAgeDays",
    "conversationsLocation",
  ],
  slack: ["slackAllowedUsers", "slackAllowedChannels", "slackSpaces"],
};

/** What may be meant; anything else can be typed. */
export const SUGGESTIONS: Record<string, string[]> = {
  extractModel: ["rules", "claude-cli", "anthropic:", "openai:", "ollama:"],
  embeddingsUrl: ["http://localhost:11434/v1"],
};

/** Put settings into groups, in the page's order; what it does not know comes last. */
export function groupSettings(settings: Setting[]): [SettingGroup, Setting[]][] {
  const byKey = new Map(settings.map((setting) => [setting.key, setting]));
  const known = Object.entries(KEYS).map(([group, keys]): [SettingGroup, Setting[]] => [
    group as SettingGroup,
    keys.flatMap((key) => byKey.get(key) ?? []),
  ]);
  const placed = new Set([FIRST, ...OF_MODELS, ...Object.values(KEYS).flat()]);
  const other = settings.filter((setting) => !placed.has(setting.key));
  return [...known, ["other", other] as [SettingGroup, Setting[]]].filter(([, found]) => found.length > 0);
}
