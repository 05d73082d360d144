import type { Phrase } from "./phrases";

const phrases: Phrase[] = [
  [
    /^(\S+) cannot answer: \S+ is not set; .*$/s,
    "$1 cannot answer: its key is missing; set it in Settings, or choose another model",
  ],
  [/^(\S+) cannot answer: (the program .*); run .*$/s, "$1 cannot answer: $2; choose another model in Settings"],
  [
    /^none \((?:run|update|pip install)\b.*\)/s,
    "none (whoever runs the server can install one, or enter its address in Settings)",
  ],
  [/^by words only \(.*\)/s, "by words only (searching by meaning is not installed)"],
  [/^estimated \((?:run|update)\b.*\)/s, "estimated (exact counts are not installed)"],
  [/(messages?(?:, oldest \S+)?), [\d,]+ bytes$/, "$1"],
  [/^[\d,]+ bytes, (made from the other files)$/, "$1"],
  [/\(EMBEDDINGS is off\)/, "(turned off in Settings)"],
  [
    /^there is a second data folder at (.+?), which is not used; .*$/s,
    "there is a second data folder at $1, which is not used; whoever runs the server can switch to it",
  ],
  [/, but no program runs it; start .*$/s, ", but no program runs it; whoever runs the server has to start one"],
];

export const en = {
  title: "Status",
  intro: "What is running, which files it uses, and what needs your attention.",
  good: "Everything works.",
  warnings: (count: number) =>
    count === 1 ? "Running. One thing needs your attention." : `Running. ${count} things need your attention.`,
  bad: (count: number) => (count === 1 ? "Something does not work." : `${count} things do not work.`),
  away: "The server cannot be reached at the moment; this is what it last reported.",
  checkAgain: "Check again",
  atWork: "Running",
  parts: {
    model: "Model",
    search: "Search",
    embeddings: "Embeddings",
    learning: "Learning",
    tokens: "Token counts",
  } as Record<string, string>,
  more: {
    model: "Choose another model",
    learning: "Learning settings",
    search: "Search settings",
  } as Record<string, string>,
  conversations: {
    label: "Conversations",
    kept: (kept: string) => {
      if (kept === "forever") return "Kept forever";
      return kept === "window" ? "Only the latest messages are kept" : `Kept for ${kept}`;
    },
    held: (messages: string, conversations: string, size: string) =>
      `${messages} ${messages === "1" ? "message" : "messages"} in ${conversations} ${
        conversations === "1" ? "conversation" : "conversations"
      }, ${size}`,
    oldest: (date: string) => `the oldest from ${date}`,
    none: "No conversations yet",
    change: "Change how long they are kept",
  },
  index: {
    label: "Search index",
    done: "Up to date",
    working: (done: string, total: string) => `${done} of ${total}`,
    explanation:
      "Everything that search can find is in the index. It is made from your files and can be deleted at any time.",
  },
  comma: ", ",
  lastError: "Last error",
  inConversation: (key: string) => `in ${key}`,
  files: "Files",
  file: "File",
  holds: "Contents",
  size: "Size",
  dataFolder: "Data folder",
  versions: "Versions",
  versionNames: { turnleaf: "Turnleaf", python: "Python", sqlite: "SQLite", platform: "System" } as Record<
    string,
    string
  >,
  fileNames: {
    memory: "Memory",
    "daily log": "Daily notes",
    conversations: "Conversations",
    schedules: "Schedules",
    "search index": "Search index",
    settings: "Settings",
    learning: "Waiting for extraction",
    pending: "Pending review",
    records: "Records of other programs",
  } as Record<string, string>,
  forPrograms: "For programs",
  api: "Everything on this page is also available over HTTP, and any OpenAI client can use this memory.",
  apiLink: "Read the API reference",
  phrases,
};
