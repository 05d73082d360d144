/** What the server says in English, in the reader's language as far as it is known. */
type Spoken = (text: string) => string;
const asItIs: Spoken = (text) => text;

export const en = {
  title: "Status",
  intro: "What is at work, what it works with, and what needs your attention.",
  good: "Everything works.",
  warnings: (count: number) => (count === 1 ? "It works. One thing needs a look." : `It works. ${count} things need a look.`),
  bad: (count: number) => (count === 1 ? "Something does not work." : `${count} things do not work.`),
  away: "The server is not reached at the moment; this is what it said last.",
  checkAgain: "Check again",
  atWork: "At work",
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
      if (kept === "forever") return "Kept for ever";
      return kept === "window" ? "Only the newest messages are kept" : `Kept for ${kept}`;
    },
    held: (messages: string, conversations: string, size: string) =>
      `${messages} ${messages === "1" ? "message" : "messages"} in ${conversations} ${
        conversations === "1" ? "conversation" : "conversations"
      }, ${size}`,
    oldest: (date: string) => `the oldest from ${date}`,
    none: "Nothing was said yet",
    change: "How long they are kept",
  },
  index: {
    label: "Search index",
    done: "Up to date",
    working: (done: string, total: string) => `${done} of ${total}`,
    explanation: "Everything that can be found is read into the index. It is made from your files and can be deleted at any time.",
  },
  comma: ", ",
  lastError: "Last error",
  inConversation: (key: string) => `in ${key}`,
  files: "Files",
  file: "File",
  holds: "Holds",
  size: "Size",
  dataFolder: "Data folder",
  versions: "Versions",
  versionNames: { turnleaf: "Turnleaf", python: "Python", sqlite: "SQLite", platform: "System" } as Record<string, string>,
  fileNames: {
    memory: "Memory",
    "daily log": "Daily notes",
    conversations: "Conversations",
    schedules: "Schedules",
    "search index": "Search index",
    settings: "Settings",
    learning: "To be learnt from",
  } as Record<string, string>,
  forPrograms: "For programs",
  api: "Every part of this page can be had over HTTP, and any OpenAI client gets this memory from here.",
  apiLink: "Read the API's description",
  spoken: asItIs,
};
