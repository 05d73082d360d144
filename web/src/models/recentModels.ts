/** Which models were used lately: this browser remembers them. */

import { readItem, saveItem } from "../storage";

const NAME = "recentModels";
const MOST = 6;

/** Return the models that were used lately, the newest first. */
export function getRecent(): string[] {
  try {
    const found: unknown = JSON.parse(readItem(NAME) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Remember that a model was used. */
export function addRecent(model: string): void {
  const others = getRecent().filter((one) => one !== model);
  saveItem(NAME, JSON.stringify([model, ...others].slice(0, MOST)));
}
