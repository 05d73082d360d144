/** The token that opens a server which is not only for this machine. */

import { useSyncExternalStore } from "react";
import { onItemChange, readItem, saveItem } from "./storage";

let current = readItem("token");
let isRefused = false;
const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

/** Return the token to send, if there is one. */
export function getToken(): string | null {
  return current;
}

/** Log in with a token. */
export function setToken(value: string): void {
  current = value.trim();
  isRefused = false;
  saveItem("token", current);
  notify();
}

/** Forget a token that the server refused, unless another one has taken its place. */
export function clearToken(refused: string | null): void {
  if (refused !== current) return;
  current = null;
  isRefused = true;
  saveItem("token", null);
  notify();
}

/** Whether the server would refuse whatever is asked until somebody logs in. */
export function isLocked(): boolean {
  return isRefused;
}

/** Take a token out of the address (`#token=…`), so that it is neither shown nor bookmarked. */
export function takeTokenFromAddress(): void {
  const match = /^#token=([^&]+)/.exec(location.hash);
  if (!match) return;
  history.replaceState(null, "", `${location.pathname}${location.search}#/chat`);
  setToken(decodeURIComponent(match[1]!));
}

/** What is true in one tab is true in all. */
onItemChange("token", (value) => {
  current = value;
  isRefused = value === null;
  notify();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether somebody must log in before anything can be shown. */
export function useNeedsLogin(): boolean {
  return useSyncExternalStore(subscribe, isLocked);
}
