/** Numbers, sizes and times as the reader's language writes them. */

import type { Language } from "./i18n";

export interface Format {
  number: (value: number) => string;
  percent: (share: number) => string;
  /** 12 kB */
  bytes: (value: number) => string;
  /** 15 November 2026 */
  date: (iso: string) => string;
  /** 15 Nov 2026 */
  shortDate: (iso: string) => string;
  /** November 2026, of 2026-11. */
  month: (iso: string) => string;
  /** 14:05 */
  time: (iso: string) => string;
  dateTime: (iso: string) => string;
  /** Tue, 17 Nov, 09:00, by the clock of a zone, and the year if it is another one. */
  due: (iso: string, zone: string) => string;
  /** In 5 minutes, tomorrow, in 3 days, by the calendar of a zone. */
  until: (iso: string, zone: string) => string;
  /** 5 minutes ago; after a week the date. */
  ago: (iso: string) => string;
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
/** The browser's own word in Chinese, 現在, is not said of what is past. */
const JUST_NOW: Record<Language, string> = { en: "now", "zh-TW": "剛剛" };
const DAY_S = 86_400;
const WEEK_S = 7 * DAY_S;
const CLOCK: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const DUE: Intl.DateTimeFormatOptions = { weekday: "short", day: "numeric", month: "short", ...CLOCK };

/** Make the formats of a language; the clock is that of the reader. */
export function makeFormat(language: Language, getNow: () => Date = () => new Date()): Format {
  const number = makeOnce(() => new Intl.NumberFormat(language));
  const percent = makeOnce(() => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 }));
  const fraction = makeOnce(() => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }));
  const date = makeOnce(() => new Intl.DateTimeFormat(language, { dateStyle: "long" }));
  const shortDate = makeOnce(() => new Intl.DateTimeFormat(language, { dateStyle: "medium" }));
  const month = makeOnce(() => new Intl.DateTimeFormat(language, { year: "numeric", month: "long" }));
  const time = makeOnce(() => new Intl.DateTimeFormat(language, CLOCK));
  const dateTime = makeOnce(
    () => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" }),
  );
  const relative = makeOnce(() => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
  const countSecondsSince = (iso: string) => (getNow().getTime() - parseMoment(iso).getTime()) / 1_000;
  const ago = (iso: string): string => {
    const seconds = countSecondsSince(iso);
    if (Math.abs(seconds) > WEEK_S) return date().format(parseMoment(iso));
    const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
    if (!step && seconds >= 0) return JUST_NOW[language];
    return step ? relative().format(-Math.trunc(seconds / step[1]), step[0]) : relative().format(0, "second");
  };
  return {
    number: (value) => number().format(value),
    percent: (share) => percent().format(share),
    bytes: (value) => {
      if (value < 1_000) return `${number().format(value)} B`;
      const [divisor, unit] = value < 1_000_000 ? [1_000, "kB"] : [1_000_000, "MB"];
      return `${fraction().format(value / divisor)} ${unit}`;
    },
    date: (iso) => date().format(parseMoment(iso)),
    shortDate: (iso) => shortDate().format(parseMoment(iso)),
    month: (iso) => month().format(parseMoment(`${iso}-01`)),
    time: (iso) => time().format(parseMoment(iso)),
    dateTime: (iso) => dateTime().format(parseMoment(iso)),
    due: (iso, zone) => {
      const then = parseMoment(iso);
      const isThisYear = then.getFullYear() === getNow().getFullYear();
      return makeZoneFormat(language, { ...DUE, year: isThisYear ? undefined : "numeric" }, zone).format(then);
    },
    until: (iso, zone) => {
      if (-countSecondsSince(iso) < DAY_S) return ago(iso);
      return relative().format(countMidnights(getNow(), parseMoment(iso), zone), "day");
    },
    ago,
  };
}

/** Put off what is slow to make until it is needed. */
function makeOnce<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Read a time, or a day without one, which is a day here and not in Greenwich. */
function parseMoment(iso: string): Date {
  return new Date(/^\d{4}-\d\d-\d\d$/.test(iso) ? `${iso}T00:00` : iso);
}

function countMidnights(from: Date, to: Date, zone: string): number {
  const day = makeZoneFormat("en-CA", { dateStyle: "short" }, zone); // 2026-11-17
  return Math.round((Date.parse(day.format(to)) - Date.parse(day.format(from))) / (DAY_S * 1_000));
}

function makeZoneFormat(locale: string, shown: Intl.DateTimeFormatOptions, timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...shown, timeZone });
  } catch {
    return new Intl.DateTimeFormat(locale, shown); // a zone that this browser does not know
  }
}

/** Whether a zone is the reader's own, by whatever name. */
export function isOwnZone(zone: string): boolean {
  const [its, own] = [makeZoneFormat("en", {}, zone), new Intl.DateTimeFormat("en")];
  return its.resolvedOptions().timeZone === own.resolvedOptions().timeZone;
}

/** Begin as a sentence does; a name such as modelUrl stays as it is. */
export function capitalise(text: string): string {
  return /^[a-z]+([\s,;]|$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** Cut a text after so many characters, and never inside one. */
export function shorten(text: string, maxChars: number): string {
  const characters = [...text];
  return characters.length > maxChars ? `${characters.slice(0, maxChars).join("").trimEnd()}…` : text;
}
