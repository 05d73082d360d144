import type { ProblemCode } from "../api";
import { en as chat } from "../chat/en";
import { en as memory } from "../memory/en";
import { en as models } from "../models/en";
import { en as schedules } from "../schedules/en";
import { en as settings } from "../settings/en";
import { en as status } from "../status/en";

const PROBLEMS: Record<ProblemCode, string> = {
  invalid: "That cannot be used. Correct it and try again.",
  settings: "A setting cannot be used. Correct it and try again.",
  "not-found": "This no longer exists. It may have been deleted.",
  "memory-full": "The memory is full. Delete facts that no longer matter, or raise the limit in Settings.",
  conflict: "It was changed in the meantime, so nothing was done. Look at what it says now, then decide.",
  "corrupt-file": "A file could not be read. Turnleaf stopped so that nothing is lost.",
  storage: "A file could not be read or written. Check the server's disk space and file permissions.",
  embedding: "The embeddings model did not respond. Try again later, or turn off “Compare meanings” in Settings.",
  model: "The model did not respond. Try again later, or check the model in Settings.",
  "locked-setting": "Whoever runs the server has fixed this setting, so it cannot be changed here.",
  "fixed-setting": "This setting can only be changed on the server's own computer, by whoever runs it.",
  "unconfirmed-address": "This address is outside this computer. Confirm that your words may be sent there.",
  "operator-only":
    "Only whoever runs the server may do this. If that is you, open the page by the one-time link that Turnleaf printed in its terminal.",
  unauthorized: "A token is needed. Please log in again.",
  "too-many-tokens": "Too many wrong tokens. Wait a minute, then try again.",
  "limit-reached": "This memory has reached its usage limit for now. Wait, or ask whoever runs the server to raise it.",
  "space-full": "This memory is full. Delete conversations, or ask whoever runs the server to raise the limit.",
  "other-space": "Your token is for another memory.",
  "foreign-page": "The server does not accept requests from other pages. Open its own page.",
  "foreign-name": "The server does not know this host name. Whoever runs it can allow the name.",
  busy: "The server is busy. Wait a moment, then try again.",
  "too-large": "This is too large. Shorten it and try again.",
  "too-slow": "Sending took too long. Check your connection and try again.",
  "wrong-media-type": "The server does not accept this format. Reload the page and try again.",
  "wrong-method": "The server does not accept this action. Reload the page and try again.",
  "no-such-address": "The server does not have this feature. Reload the page and try again.",
  "unreadable-body": "The server could not read what was sent. Check it and try again.",
  "invalid-request": "What was sent is not valid. Check it and try again.",
  "changed-meanwhile": "This file was just changed elsewhere. Compare the two versions before you save.",
  unexpected: "Something went wrong on the server. The server log has the details.",
};

/** English; every other language has the same keys. */
export const en = {
  common: {
    cancel: "Cancel",
    close: "Close",
    copied: "Copied",
    copy: "Copy",
    delete: "Delete",
    edit: "Edit",
    on: "On",
    off: "Off",
    save: "Save",
    tryAgain: "Try again",
    undo: "Undo",
    undone: "Undone.",
  },
  nav: {
    skip: "Skip to the content",
    label: "Turnleaf",
    chat: "Chat",
    memory: "Memory",
    schedules: "Schedules",
    status: "Status",
    settings: "Settings",
    pending: (count: number) => `${count} pending review`,
  },
  connection: {
    connecting: "Connecting…",
    live: "Connected",
    away: "Not connected. Trying again…",
  },
  news: {
    learned: (fact: string) => `Learned: ${fact}`,
    pending: (fact: string) => `Pending review: ${fact}`,
    problem: "Something went wrong in the background.",
  },
  theme: { label: "Colours", system: "System", light: "Light", dark: "Dark" },
  language: { label: "Language" },
  login: {
    title: "This memory is locked",
    explanation:
      "Others can reach this server, so it asks for a token. Enter the one that you were given. If you run the server, yours is in the file http-token in the data folder, or open the page by a one-time link.",
    token: "Token",
    open: "Open",
    refused: "That token was not accepted. Copy the whole token again, without spaces.",
  },
  errors: {
    unreachable:
      "The server is not responding. Try again in a moment; if that does not help, the server has to be started again.",
    unknown: "Something went wrong. Please try again.",
    checkSettings: "Check Settings, or ask whoever runs the server.",
    codes: PROBLEMS,
    isServersLanguage: true,
    crashTitle: "This view stopped working",
    crashText: "Your memory is safe: it is in files, and this page only shows them. Reload the page.",
    reload: "Reload",
    missingTitle: "This view could not be loaded",
    missingText: "It will open by itself as soon as the server responds.",
    missingUnsaved:
      "The page has to be reloaded to open it. Save or send what you have written first, or it will be lost.",
  },
  hits: {
    sources: { memory: "Memory", older: "Older facts", daily: "Daily notes", conversations: "Conversations" },
    foreign: "Not written by you",
    notShown: "In another version",
    replaced: (since: string, content: string) => `Until ${since}; now: ${content}`,
    byWords: "words",
    byMeaning: "meaning",
    score: (score: string) => `${score} match`,
    both: (score: string, words: string, meaning: string) => `${score} match: words ${words}, meaning ${meaning}`,
    byWordsAlone: (score: string) => `${score} match, by words alone`,
    byMeaningAlone: (score: string) => `${score} match, by meaning alone`,
  },
  chat,
  memory,
  models,
  schedules,
  settings,
  status,
};
