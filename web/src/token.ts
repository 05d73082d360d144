/** The token that opens a server which is not only for this machine. */

import { useSyncExternalStore } from "react";
import { keep, kept, onKept } from "./storage";

let current = kept("token");
let isRefused = false;
const listeners = new Set<() => void>();

function changed(): void {
  for (const listener of listeners) listener();
}

/** Return the token to send, if there is one. */
export function token(): string | null {
  return current;
}

/** Log in with a token. */
export function setToken(value: string): void {
  current = value.trim();
  isRefused = false;
  keep("token", current);
  changed();
}

/** Forget a token that the server refused, unless another one has taken its place. */
export function clearToken(refused: string | null): void {
  if (refused !== current) return;
  current = null;
  isRefused = true;
  keep("token", null);
  changed();
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
onKept("token", (value) => {
  current = value;
  isRefused = value === null;
  changed();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether somebody must log in before anything can be shown. */
export function useNeedsLogin(): boolean {
  return useSyncExternalStore(subscribe, isLocked);
}
