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
      "Put what is remembered into every conversation, and learn from it. Switched off, nothing is lost, and everything you ask for by hand still works.",
  },
  memoryMaxItems: {
    label: "Number of facts",
    meaning: "How many facts are kept. When the memory is full, one must go before another is added; your own edits are never refused.",
    unit: "facts",
  },
  memoryMaxChars: {
    label: "Length of all facts",
    meaning: "How long the facts may be together. They are part of every prompt, so length has its price.",
    unit: "characters",
  },
  promptMaxTokens: {
    label: "Longest prompt",
    meaning: "How much a model is given to read at most: memory, what was found, and the conversation together.",
    unit: "tokens",
  },
  contextMaxTokens: {
    label: "Room for what was found",
    meaning: "How much of a prompt passages from earlier conversations and notes may take. 0 looks for nothing.",
    unit: "tokens",
  },
  memoryLocation: {
    label: "Memory file",
    meaning: "Where the long-term memory lies, if not in the data folder.",
  },
  autoExtract: {
    label: "Learn by itself",
    meaning:
      "Notice lasting facts in your conversations and remember them, each with the words it comes from. Everything learnt can be read, corrected and taken back.",
  },
  extractIntervalSeconds: {
    label: "Pause between reviews",
    meaning: "How long a conversation rests after it was reviewed for facts.",
    unit: "seconds",
  },
  minNewMessages: {
    label: "New messages before a review",
    meaning: "How much must be said before a conversation is reviewed again.",
    unit: "messages",
  },
  flushThreshold: {
    label: "Review at once when the context is this full",
    meaning: "Facts are saved from old messages before they drop out of a model's context.",
  },
  extractModel: {
    label: "Model that finds facts",
    meaning: "Empty means the one that answers. Enter rules to use no model at all.",
  },
  extractDailyCalls: {
    label: "Most reviews by a model per day",
    meaning: "After that, simple rules find facts until midnight.",
    unit: "reviews",
  },
  model: {
    label: "Model that answers",
    meaning:
      "claude-cli, anthropic:NAME, openai:NAME or ollama:NAME. Enter recall for none: answers then consist of what is remembered. Empty takes what is found on this computer.",
  },
  modelUrl: {
    label: "The model's address",
    meaning: "Where the model is served, if not at its usual place.",
  },
  contextWindow: {
    label: "The model's context",
    meaning: "How much fits into the context of an API model, such as num_ctx of Ollama. Empty asks its server.",
    unit: "tokens",
  },
  claudeTimeoutMs: {
    label: "Longest wait for an answer",
    meaning: "After that the model is stopped, and what it said so far is kept.",
    unit: "milliseconds",
  },
  embeddings: {
    label: "Compare meanings",
    meaning: "Find what means the same in other words, also across languages, where a model for that is installed.",
  },
  embeddingsUrl: {
    label: "Address of an embeddings model",
    meaning: "Leave it empty to use the one that is installed with Turnleaf.",
  },
  embeddingsModel: {
    label: "Embeddings model",
    meaning: "Which model is asked at that address.",
  },
  searchVectorWeight: {
    label: "Weight of meaning",
    meaning: "How much it counts in a search that something means the same.",
  },
  searchBm25Weight: {
    label: "Weight of words",
    meaning: "How much it counts in a search that something uses the same words.",
  },
  conversationKeepDays: {
    label: "Keep messages for",
    meaning: "Empty keeps every message for ever; 0 keeps only what a model still sees. Older messages are erased.",
    unit: "days",
  },
  conversationMaxTurns: {
    label: "Messages in a prompt",
    meaning: "How many of a conversation's newest messages a model sees. What was just said is always among them.",
    unit: "messages",
  },
  conversationMaxChars: {
    label: "Characters in a prompt",
    meaning: "The same limit, in characters.",
    unit: "characters",
  },
  conversationMaxAgeDays: {
    label: "Begin anew after",
    meaning: "Days without a new message, after which a model no longer sees what was said before.",
    unit: "days",
  },
  conversationsLocation: {
    label: "Conversations file",
    meaning: "Where conversations lie, if not in the data folder.",
  },
  slackAllowedUsers: {
    label: "People it answers",
    meaning:
      "The ids of Slack members, such as U012AB3CD, separated by commas. All of them share this memory; to anybody else the bot says no, and it learns nothing from them.",
  },
  slackAllowedChannels: {
    label: "Channels where it answers every member",
    meaning:
      "The ids of channels, such as C012AB3CD, separated by commas. Every member of the workspace who can write there shares this memory; guests only if they are listed above.",
  },
  slackSpaces: {
    label: "People with a memory of their own",
    meaning:
      "Ids with the name of a space, such as U012AB3CD=anna, separated by commas. What these people say is kept in that space and shared with nobody else. They must be allowed above as well.",
  },
};

export const en = {
  title: "Settings",
  intro: "Changes take effect at once.",
  appearance: { title: "Appearance", text: "For this browser only." },
  groups: {
    learning: { title: "Learning", text: "How facts come out of conversations." },
    memory: { title: "Memory", text: "What is kept, and how much of it." },
    model: { title: "Model", text: "Who answers you in the chat." },
    search: { title: "Search", text: "How something is found again." },
    conversations: { title: "Conversations", text: "How long what was said is kept." },
    slack: { title: "Slack", text: "With whom the bot shares this memory." },
    other: { title: "More", text: "" },
  },
  fields,
  auto: {
    on: "Turnleaf learns from your conversations.",
    off: "Turnleaf learns only what you tell it to remember.",
    noMemory: "This has no effect while memory is switched off below.",
  },
  locked: (variable: string) =>
    `Fixed by ${variable} in the server's environment. Unset it there to change it here.`,
  notHere: (key: string) => `Can only be changed on the server's computer: turnleaf config ${key}`,
  reset: (value: string) => `Back to the default (${value})`,
  nothing: "none",
  automatic: "Chosen automatically",
  unset: "Not set",
  saved: "Saved",
  wholeNumber: (least: number) => `This must be a whole number of at least ${least}.`,
  share: "This must be a number from 0 to 100.",
  percent: "percent",
  addressCleared: (address: string) => `The model's address ${address} was cleared: it belongs to another provider.`,
};
