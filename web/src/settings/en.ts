/** A setting's name, what it means, and the unit of its number. */
export interface FieldWords {
  label: string;
  meaning: string;
  unit?: string;
}

const fields: Record<string, FieldWords> = {
  enabled: {
    label: "Use memory",
    meaning:
      "Use what is remembered in every conversation, and learn from it. While this is off nothing is lost, and everything you ask for yourself still works.",
  },
  memoryMaxItems: {
    label: "Number of facts",
    meaning:
      "How many facts are kept. When the memory is full, delete one before you add another. Your own edits are never refused.",
    unit: "facts",
  },
  memoryMaxChars: {
    label: "Total length of facts",
    meaning: "How long all facts may be together. They are part of every prompt, so longer costs more.",
    unit: "characters",
  },
  promptMaxTokens: {
    label: "Longest prompt",
    meaning: "The most a model is given to read: memory, search results and the conversation together.",
    unit: "tokens",
  },
  contextMaxTokens: {
    label: "Room for search results",
    meaning: "How much of a prompt may be passages from earlier conversations and notes. 0 turns this search off.",
    unit: "tokens",
  },
  memoryLocation: {
    label: "Memory file",
    meaning: "Where the long-term memory is stored, if not in the data folder.",
  },
  autoExtract: {
    label: "Learn from conversations",
    meaning:
      "Find lasting facts in your conversations and remember them, each with the words it comes from. You can read, correct and undo everything that was learned.",
  },
  extractIntervalSeconds: {
    label: "Time between extractions",
    meaning: "How long to wait before facts are extracted from the same conversation again.",
    unit: "seconds",
  },
  minNewMessages: {
    label: "New messages before an extraction",
    meaning: "How many new messages a conversation needs before facts are extracted from it again.",
    unit: "messages",
  },
  flushThreshold: {
    label: "Extract at once when the context is this full",
    meaning: "Facts are saved from old messages before they drop out of the model's context.",
  },
  extractModel: {
    label: "Model that extracts facts",
    meaning: "Leave empty to use the model that answers. Enter rules to use no model at all.",
  },
  extractDailyCalls: {
    label: "Extractions by a model per day",
    meaning: "After this many, simple rules extract facts until midnight.",
    unit: "extractions",
  },
  instructions: {
    label: "Instructions for every answer",
    meaning: "What every answer is to follow, such as: Answer in one sentence.",
  },
  contextWindow: {
    label: "Context length of the model",
    meaning:
      "How much fits into the context of an API model, such as num_ctx in Ollama. Leave empty to ask the model's server.",
    unit: "tokens",
  },
  claudeTimeoutMs: {
    label: "Longest wait for an answer",
    meaning: "After this, the model is stopped and what it has said so far is kept.",
    unit: "milliseconds",
  },
  embeddings: {
    label: "Compare meanings",
    meaning: "Find things said in other words or in another language. Needs an embeddings model.",
  },
  embeddingsUrl: {
    label: "Address of an embeddings model",
    meaning: "Leave empty to use the one that is installed with Turnleaf.",
  },
  embeddingsModel: {
    label: "Embeddings model",
    meaning: "Which model to use at that address.",
  },
  searchVectorWeight: {
    label: "Weight of meaning",
    meaning: "How much similar meaning counts in a search.",
  },
  searchBm25Weight: {
    label: "Weight of words",
    meaning: "How much matching words count in a search.",
  },
  conversationKeepDays: {
    label: "Keep messages for",
    meaning:
      "Leave empty to keep every message forever; 0 keeps only what a model still sees. Older messages are erased.",
    unit: "days",
  },
  conversationMaxTurns: {
    label: "Messages in a prompt",
    meaning: "How many of a conversation's latest messages a model sees. The latest exchange is always included.",
    unit: "messages",
  },
  conversationMaxChars: {
    label: "Characters in a prompt",
    meaning: "The same limit, in characters.",
    unit: "characters",
  },
  conversationMaxAgeDays: {
    label: "Start afresh after",
    meaning: "After this many days without a new message, a model no longer sees what was said before.",
    unit: "days",
  },
  conversationsLocation: {
    label: "Conversations file",
    meaning: "Where conversations are stored, if not in the data folder.",
  },
  slackAllowedUsers: {
    label: "People it answers",
    meaning:
      "IDs of Slack members, such as U012AB3CD, separated by commas. All of them share this memory. The bot declines to answer anyone else, and learns nothing from them.",
  },
  slackAllowedChannels: {
    label: "Channels where it answers every member",
    meaning:
      "IDs of channels, such as C012AB3CD, separated by commas. Every member of the workspace who can write there shares this memory; guests only if they are listed above.",
  },
  slackSpaces: {
    label: "People with a memory of their own",
    meaning:
      "IDs with the name of a space, such as U012AB3CD=anna, separated by commas. What these people say is kept in that space and shared with no one else. They must be allowed above as well.",
  },
};

export const en = {
  title: "Settings",
  intro: "Changes take effect at once.",
  appearance: { title: "Appearance", text: "For this browser only." },
  groups: {
    learning: { title: "Learning", text: "How facts are extracted from conversations." },
    memory: { title: "Memory", text: "What is kept, and how much of it." },
    model: { title: "Model", text: "Which model answers you in the chat." },
    search: { title: "Search", text: "How things are found again." },
    conversations: { title: "Conversations", text: "How long messages are kept." },
    slack: { title: "Slack", text: "Who shares this memory through the bot." },
    other: { title: "More", text: "" },
  },
  fields,
  tokens: {
    title: "People",
    text: "Tokens for others. A space's token opens that memory alone; an operator's opens everything.",
    none: "There are no tokens. From the first one on, this server answers nobody without a token; you yourself get in by a one-time link.",
    once: "This is the new token. It is shown only once.",
    copy: "Copy the token",
    operator: "Operator",
    used: (when: string) => `last used ${when}`,
    unused: "not used yet",
    ends: (day: string) => `until ${day}`,
    noEnd: "no end",
    revoke: "Revoke",
    really: "Revoke it now",
    space: "Space",
    spaceHint: "Small letters and digits, such as bob. Leave empty for an operator's token.",
    name: "Name",
    lastDay: "Last day",
    add: "Create token",
  },
  auto: {
    on: "Turnleaf learns from your conversations.",
    off: "Turnleaf learns only what you tell it to remember.",
    noMemory: "This has no effect while “Use memory” is off below.",
  },
  locked: "Whoever runs the server has fixed this setting.",
  notHere: "Can only be changed on the server's own computer, by whoever runs it.",
  reset: (value: string) => `Reset to default (${value})`,
  nothing: "none",
  unset: "Not set",
  saved: "Saved",
  wholeNumber: (least: number) => `Enter a whole number of at least ${least}.`,
  share: "Enter a number from 0 to 100.",
  percent: "percent",
};
