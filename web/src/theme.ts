/** Light, dark, or as the system has it. */

import { useSyncExternalStore } from "react";
import { readItem, saveItem } from "./storage";

type Theme = "system" | "light" | "dark";
export const THEMES: Theme[] = ["system", "light", "dark"];

const listeners = new Set<() => void>();
let current: Theme = THEMES.find((theme) => theme === readItem("theme")) ?? "system";
apply();

function apply(): void {
  const root = document.documentElement;
  if (current === "system") delete root.dataset.theme;
  else root.dataset.theme = current;
}

/** Choose the colours. */
export function setTheme(theme: Theme): void {
  current = theme;
  saveItem("theme", theme === "system" ? null : theme);
  apply();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Return the choice that holds. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => current);
}
