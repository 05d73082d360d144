/** What a timing says, as far as it can be said simply; the server decides when it is due. */

import type { Language } from "../i18n";
import type { en } from "./en";

type TimingWords = (typeof en)["timing"];
type TimingUnit = keyof TimingWords["units"];

const NAMED: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
};
const DAYS = 7;
const HOUR = 60;
const WORKDAYS = "1,2,3,4,5";
const MOMENT = /^\d{4}-\d\d-\d\d[T ]/;
const OFFSET = /(Z|[+-]\d\d:?\d\d)$/i;

/** Say when a schedule is due; what is too special for that is given as it is. */
export function describeTiming(timing: string, zone: string, words: TimingWords, language: Language): string {
  const interval = /^every\s+(\d*)\s*([smhdw])[a-z]*$/i.exec(timing.trim());
  if (interval) return words.every(Number(interval[1] || 1), words.units[interval[2]!.toLowerCase() as TimingUnit]);
  if (MOMENT.test(timing)) return words.once(formatMoment(timing, zone, language));
  return describeCron(NAMED[timing.toLowerCase()] ?? timing, words) ?? timing;
}

/** Write a moment by the clock that its schedule goes by, which may not be the reader's. */
function formatMoment(timing: string, zone: string, language: Language): string {
  const moment = timing.replace(" ", "T");
  const hasOffset = OFFSET.test(moment);
  const there = new Date(hasOffset ? moment : `${moment}Z`);
  const timeZone = hasOffset ? zone : "UTC";
  const format = { dateStyle: "medium", timeStyle: "short", hourCycle: "h23", timeZone } as const;
  try {
    return new Intl.DateTimeFormat(language, format).format(there);
  } catch {
    // No such day, or a zone of which half is written.
    return timing;
  }
}

function describeCron(timing: string, words: TimingWords): string | null {
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...more] = timing.trim().split(/\s+/);
  if (more.length || month !== "*") return null;
  const isDaily = day === "*" && weekday === "*";
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (step && HOUR % Number(step) === 0 && hour === "*" && isDaily) return words.every(Number(step), words.units.m);
  if (!isNumber(minute, 59)) return null;
  if (hour === "*" && isDaily) return words.hourly(padTwo(minute));
  if (!isNumber(hour, 23)) return null;
  const time = `${padTwo(hour)}:${padTwo(minute)}`;
  if (isDaily) return words.daily(time);
  if (weekday === "*") return isNumber(day, 31) ? words.monthly(Number(day), time) : null;
  const days = day === "*" ? parseWeekdays(weekday) : null;
  if (!days) return null;
  return days.join() === WORKDAYS
    ? words.workdays(time)
    : words.weekly(
        days.map((one) => words.weekdays[one]!),
        time,
      );
}

/** Read days of the week, of which 0 and 7 are Sunday. */
function parseWeekdays(field: string): number[] | null {
  const parts = field.split(",").map((part) => /^([0-7])(?:-([0-7]))?$/.exec(part));
  const days = parts.flatMap((part) => (part ? listRange(Number(part[1]), Number(part[2] ?? part[1])) : []));
  if (parts.includes(null) || !days.length) return null;
  return [...new Set(days.map((day) => day % DAYS))].sort((one, other) => one - other);
}

function listRange(first: number, last: number): number[] {
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, at) => first + at);
}

function isNumber(field: string, most: number): boolean {
  return /^\d{1,2}$/.test(field) && Number(field) <= most;
}

function padTwo(number: string): string {
  return number.padStart(2, "0");
}
