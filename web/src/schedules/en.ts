import type { RunState } from "../api";
import type { Told } from "../locales/en";

function count(number: number, unit: string): string {
  return number === 1 ? `Every ${unit}` : `Every ${number} ${unit}s`;
}

export const en = {
  title: "Schedules",
  intro: "What your assistant does by the clock, with all that it remembers.",
  add: "New schedule",
  list: "Schedules",

  emptyTitle: "Nothing is scheduled yet",
  emptyText: "Say what is to be asked, and when. Your assistant answers by itself and notes the result where you want it. For example:",
  tryExample: "Begin with this",
  example: {
    name: "Morning briefing",
    prompt: "What should I think of today? Look at my notes of yesterday.",
    timing: "0 8 * * 1-5",
  },

  next: "Next run",
  never: "Does not run again",
  paused: "Paused",
  running: "Running …",
  last: "Last run",
  neverRan: "Has not run yet",
  result: "Result to",
  places: {
    log: "Daily notes",
    slack: (channel: string) => `Slack, ${channel}`,
    file: (name: string) => `File ${name}`,
  },
  run: "Run now",
  pause: "Pause",
  resume: "Resume",
  history: "Past runs",
  begun: (name: string) => `Begun: ${name}`,
  deleted: (name: string) => `Deleted: ${name}`,
  deletedWithRuns: (name: string) => `Deleted: ${name}. Undo brings it back without its past runs.`,
  states: {
    running: "Running",
    done: "Done",
    failed: "Failed",
    interrupted: "Interrupted",
    missed: "Missed",
  } as Record<RunState, string>,

  runs: {
    none: "It has not run yet. “Run now” does not wait for the next time.",
    older: "Show older",
    attempts: (number: number) => `attempt ${number}`,
    took: (seconds: string) => `took ${seconds} s`,
    missed: "Nothing ran at that time, and it is too late to make up for it.",
    nothing: "It gave no text.",
    cut: "Only its beginning is kept here; all of it is where results go.",
    conversation: "Open the conversation",
  },

  form: {
    addTitle: "New schedule",
    editTitle: (name: string) => `Edit “${name}”`,
    prompt: "What to ask",
    promptHint: "As you would in the chat …",
    timing: "When",
    timingHint: "Five fields of cron, an interval such as every 15m, or a moment such as 2026-12-24 18:00.",
    examples: "Examples",
    zone: "Time zone",
    zoneHint: (zone: string) => `Empty is that of the server: ${zone}.`,
    place: "Result to",
    log: "Daily notes",
    slack: "Slack",
    file: "File",
    logHint: "Each result becomes a note of its day, under Memory.",
    channel: "Channel id",
    channelHint: "Such as C012AB3CD; the bot must be a member of the channel.",
    noSlack: "This server has no Slack token: it runs only while turnleaf slack does.",
    fileName: "Name of the file",
    fileHint: "Such as news.md, in the folder results; each result is added at its end.",
    name: "Name",
    nameHint: "If you want one; else it is called by what it asks.",
    create: "Create schedule",
    emptyPrompt: "Write what is to be asked.",
    emptyTiming: "Say when: choose an example, or write a time.",
    emptyPlace: "Say where the result goes.",
    times: "Next times",
    noTimes: "The next times appear here as you type.",
    past: "This lies in the past, or never comes.",
    noTime: (detail: string): Told => ({ text: detail, detail: null }),
  },

  choices: [
    ["Every day", "0 9 * * *"],
    ["Monday to Friday", "0 9 * * 1-5"],
    ["Mondays", "0 9 * * 1"],
    ["Every hour", "0 * * * *"],
    ["Every 15 minutes", "every 15m"],
  ] as [string, string][],
  once: "Once",

  timing: {
    units: { s: "second", m: "minute", h: "hour", d: "day", w: "week" },
    every: count,
    once: (moment: string) => `Once, on ${moment}`,
    hourly: (minute: string) => `Every hour at :${minute}`,
    daily: (time: string) => `Every day at ${time}`,
    workdays: (time: string) => `Monday to Friday at ${time}`,
    weekly: (days: string[], time: string) => `Every ${new Intl.ListFormat("en").format(days)} at ${time}`,
    monthly: (day: number, time: string) => `On day ${day} of each month at ${time}`,
    weekdays: ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
  },
};
