import type { ProblemCode } from "../api";
import { en as chat } from "../chat/en";
import { en as memory } from "../memory/en";
import { en as schedules } from "../schedules/en";
import { en as settings } from "../settings/en";
import { en as status } from "../status/en";

/** What went wrong, and more in the server's own English where the reader's language cannot say it. */
export interface Told {
  text: string;
  detail: string | null;
}

function ended(sentence: string): string {
  return /[.!?。]$/.test(sentence) ? sentence : `${sentence}.`;
}

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
    undone: "Taken back.",
  },
  nav: {
    skip: "Skip to the content",
    label: "Turnleaf",
    chat: "Chat",
    memory: "Memory",
    schedules: "Schedules",
    status: "Status",
    settings: "Settings",
    waiting: (count: number) => `${count} waiting for you`,
  },
  connection: {
    connecting: "Connecting …",
    live: "Connected",
    away: "Not connected. Trying again …",
  },
  news: {
    learnt: (fact: string) => `Learnt: ${fact}`,
    waits: (fact: string) => `Waits for you to accept it: ${fact}`,
    problem: (message: string): Told => ({ text: `Something went wrong in the background: ${message}`, detail: null }),
  },
  theme: { label: "Colours", system: "System", light: "Light", dark: "Dark" },
  language: { label: "Language" },
  login: {
    title: "This memory is locked",
    explanation:
      "It can be reached from other computers, so it asks for its token. It was printed when the server first started, and it lies in the file http-token in its data folder.",
    token: "Token",
    open: "Open",
    refused: "That token was not accepted. Copy it again, whole, and without spaces.",
  },
  errors: {
    unreachable: "The server does not answer. See whether `turnleaf serve` still runs, then try again.",
    told: (detail: string, _code: ProblemCode | null): Told => ({ text: ended(detail), detail: null }),
    crashTitle: "This view stopped working",
    crashText: "Your memory is safe: it is in files, and this is only their picture. Load the page again.",
    reload: "Load again",
    missingTitle: "This view could not be loaded",
    missingText: "It opens by itself as soon as the server answers.",
    missingUnsaved:
      "To open it, the page has to be loaded again. Save or send what you have written first, or it will be lost.",
  },
  chat,
  memory,
  schedules,
  settings,
  status,
};
