/** The page's words, in the reader's language. */

import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { type Format, makeFormat } from "./format";
import { en } from "./locales/en";
import { zhTW } from "./locales/zh-TW";
import { readItem, saveItem } from "./storage";

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

function chooseLanguage(): Language {
  const wanted = readItem("language") ?? navigator.language;
  return /^zh/i.test(wanted) ? "zh-TW" : "en";
}

/** Gives words to everything inside it. */
export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, choose] = useState(chooseLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const value = useMemo<I18n>(() => {
    const setLanguage = (next: Language) => {
      saveItem("language", next);
      choose(next);
    };
    return { language, setLanguage, words: WORDS[language], format: makeFormat(language) };
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
