/** The page's words, in the reader's language. */

import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { asProblem } from "./api";
import { en, type Told } from "./locales/en";
import { zhTW } from "./locales/zh-TW";
import { keep, kept } from "./storage";

export type Language = "en" | "zh-TW";
export type Words = typeof en;

export const LANGUAGES: { value: Language; label: string; short: string }[] = [
  { value: "en", label: "English", short: "EN" },
  { value: "zh-TW", label: "繁體中文", short: "中文" },
];

const WORDS: Record<Language, Words> = { en, "zh-TW": zhTW };

interface I18n {
  language: Language;
  setLanguage: (language: Language) => void;
  words: Words;
  format: Format;
}

const Context = createContext<I18n | null>(null);

function firstLanguage(): Language {
  const wanted = kept("language") ?? navigator.language;
  return /^zh/i.test(wanted) ? "zh-TW" : "en";
}

/** Gives words to everything inside it. */
export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, choose] = useState(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const value = useMemo<I18n>(() => {
    const setLanguage = (next: Language) => {
      keep("language", next);
      choose(next);
    };
    return { language, setLanguage, words: WORDS[language], format: formatFor(language) };
  }, [language]);
  return <Context value={value}>{children}</Context>;
}

/** Return the language, a way to change it, its words and its way of writing numbers and times. */
export function useI18n(): I18n {
  const i18n = useContext(Context);
  if (!i18n) throw new Error("useI18n needs an I18nProvider around it");
  return i18n;
}

/** Return the words: `words.common.save`, `words.memory.count(3)`. */
export function useWords(): Words {
  return useI18n().words;
}

/** Return the way of writing numbers and times. */
export function useFormat(): Format {
  return useI18n().format;
}

/** Return a function that says what went wrong. */
export function useTold(): (error: unknown) => Told {
  const { words } = useI18n();
  return (error) => {
    const problem = asProblem(error);
    if (problem.isUnreachable) return { text: words.errors.unreachable, detail: null };
    return words.errors.told(capitalised(problem.message || problem.title), problem.code);
  };
}

/** Begin as a sentence does; a name such as modelUrl stays as it is. */
export function capitalised(text: string): string {
  return /^[a-z]+([\s,;]|$)/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

export interface Format {
  number: (value: number) => string;
  percent: (share: number) => string;
  /** 12 kB */
  bytes: (value: number) => string;
  /** 15 November 2026 */
  date: (iso: string) => string;
  /** 15 Nov 2026 */
  shortDate: (iso: string) => string;
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
const WEEK_S = 7 * 86_400;
const DAY_S = 86_400;

/** Read a time, or a day without one, which is a day here and not in Greenwich. */
function moment(iso: string): Date {
  return new Date(/^\d{4}-\d\d-\d\d$/.test(iso) ? `${iso}T00:00` : iso);
}

function formatFor(language: Language): Format {
  const number = new Intl.NumberFormat(language);
  const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
  const date = new Intl.DateTimeFormat(language, { dateStyle: "long" });
  const shortDate = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const fraction = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const ago = (iso: string): string => {
    const seconds = (Date.now() - moment(iso).getTime()) / 1_000;
    if (Math.abs(seconds) > WEEK_S) return date.format(moment(iso));
    const step = STEPS.find(([, length]) => Math.abs(seconds) >= length);
    return step ? relative.format(-Math.trunc(seconds / step[1]), step[0]) : relative.format(0, "second");
  };
  const until = (iso: string, zone: string): string => {
    const then = moment(iso);
    const seconds = (then.getTime() - Date.now()) / 1_000;
    return seconds < DAY_S ? ago(iso) : relative.format(daysUntil(then, zone), "day");
  };
  return {
    number: (value) => number.format(value),
    percent: (share) => percent.format(share),
    bytes: (value) => {
      if (value < 1_000) return `${number.format(value)} B`;
      const [divisor, unit] = value < 1_000_000 ? [1_000, "kB"] : [1_000_000, "MB"];
      return `${fraction.format(value / divisor)} ${unit}`;
    },
    date: (iso) => date.format(moment(iso)),
    shortDate: (iso) => shortDate.format(moment(iso)),
    time: (iso) => time.format(moment(iso)),
    dateTime: (iso) => dateTime.format(moment(iso)),
    due: (iso, zone) => {
      const then = moment(iso);
      const isThisYear = then.getFullYear() === new Date().getFullYear();
      return inZone(language, { ...DUE, year: isThisYear ? undefined : "numeric" }, zone).format(then);
    },
    until,
    ago,
  };
}

/** Count the midnights until then. */
function daysUntil(then: Date, zone: string): number {
  const day = inZone("en-CA", { dateStyle: "short" }, zone); // 2026-11-17
  const [from, to] = [new Date(), then].map((one) => Date.parse(day.format(one)));
  return Math.round((to! - from!) / (DAY_S * 1_000));
}

const DUE: Intl.DateTimeFormatOptions = {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
};

function inZone(locale: string, shown: Intl.DateTimeFormatOptions, timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...shown, timeZone });
  } catch {
    return new Intl.DateTimeFormat(locale, shown); // a zone that this browser does not know
  }
}

/** Whether a zone is the reader's own, by whatever name. */
export function isOwnZone(zone: string): boolean {
  const [its, own] = [inZone("en", {}, zone), new Intl.DateTimeFormat("en")];
  return its.resolvedOptions().timeZone === own.resolvedOptions().timeZone;
}
