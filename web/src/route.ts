/** The page's addresses: `#/memory/daily/2026-11-15?line=3`. */

import { useSyncExternalStore } from "react";

export interface Route {
  /** The first part: chat, memory, schedules, status or settings. */
  page: string;
  /** What follows it. */
  parts: string[];
  query: URLSearchParams;
}

let hash: string | null = null;
let route: Route = { page: "chat", parts: [], query: new URLSearchParams() };

function read(): Route {
  if (location.hash === hash) return route;
  hash = location.hash;
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...parts] = path.split("/").filter(Boolean).map(decode);
  route = { page: page || "chat", parts, query: new URLSearchParams(query) };
  return route;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

/** Return the address that is open now. */
export function useRoute(): Route {
  return useSyncExternalStore(subscribe, read);
}

/** Make an address: `to("memory", "daily", date)`. */
export function to(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Return the address of a message in its conversation. */
export function messageAddress(conversation: string, message: number): string {
  return `${to("chat", conversation)}?message=${message}`;
}

/** Go to an address made by `to`; with replace, Back skips the present one. */
export function go(address: string, { replace = false } = {}): void {
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
