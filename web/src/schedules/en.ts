import type { RunState } from "../api";
import type { Explanation } from "../problems";

function count(number: number, unit: string): string {
  return number === 1 ? `Every ${unit}` : `Every ${number} ${unit}s`;
}

export const en = {
  title: "Schedules",
  intro: "Prompts that run on a schedule, with everything your assistant remembers.",
  add: "New schedule",
  list: "Schedules",

  emptyTitle: "Nothing is scheduled yet",
  emptyText:
    "Write what to ask and when. Your assistant answers on its own and puts the result where you want it. For example:",
  tryExample: "Start with this",
  example: {
    name: "Morning briefing",
    prompt: "What should I think of today? Look at my notes from yesterday.",
    timing: "0 8 * * 1-5",
  },

  next: "Next run",
  never: "Does not run again",
  paused: "Paused",
  running: "Running…",
  last: "Last run",
  neverRan: "Has not run yet",
  result: "Result goes to",
  places: {
    log: "Daily notes",
    slack: (channel: string) => `Slack, ${channel}`,
    file: (name: string) => `File ${name}`,
  },
  run: "Run now",
  pause: "Pause",
  resume: "Resume",
  history: "Past runs",
  begun: (name: string) => `Started: ${name}`,
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
    none: "It has not run yet. Click “Run now” if you do not want to wait.",
    older: "Show older",
    attempts: (number: number) => `attempt ${number}`,
    took: (seconds: string) => `took ${seconds} s`,
    missed: "Turnleaf was not running at that time, and it is too late to catch up.",
    nothing: "There was no text.",
    cut: "Only the beginning is kept here; the whole text is where results go.",
    conversation: "Open the conversation",
  },

  form: {
    addTitle: "New schedule",
    editTitle: (name: string) => `Edit “${name}”`,
    prompt: "What to ask",
    promptHint: "As you would in the chat…",
    timing: "When",
    timingHint: "Five cron fields, an interval such as every 15m, or a time such as 2026-12-24 18:00.",
    examples: "Examples",
    zone: "Time zone",
    zoneHint: (zone: string) => `Leave empty for the server's: ${zone}.`,
    place: "Result goes to",
    log: "Daily notes",
    slack: "Slack",
    file: "File",
    logHint: "Each result becomes a note of its day, under Memory.",
    channel: "Channel ID",
    channelHint: "Such as C012AB3CD; the bot must be a member of the channel.",
    channelHintWithoutSlack:
      "Such as C012AB3CD. Slack is not set up on this server: the schedule only runs once whoever runs the server has started the bot.",
    fileName: "File name",
    fileHint: "Such as news.md, in the results folder; each result is added at the end.",
    name: "Name",
    nameHint: "Optional. Without one, the schedule is named after its prompt.",
    create: "Create schedule",
    emptyPrompt: "Write what to ask.",
    emptyTiming: "Choose an example, or write a time.",
    emptyPlace: "Enter where the result goes.",
    times: "Next times",
    noTimes: "The next times appear here as you type.",
    past: "This is in the past, or never happens.",
    noTime: (detail: string): Explanation => ({ text: detail, detail: null }),
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
