/** The page's addresses: `#/memory/daily/2026-11-15?line=3`. */

import { useSyncExternalStore } from "react";

interface Route {
  /** The first part: chat, memory, schedules, status or settings. */
  page: string;
  /** What follows it. */
  parts: string[];
  query: URLSearchParams;
}

let hash: string | null = null;
let route = parseRoute("");

/** Read an address of the page. */
export function parseRoute(hash: string): Route {
  const [, path = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [page = "", ...parts] = path.split("/").filter(Boolean).map(decode);
  return { page: page || "chat", parts, query: new URLSearchParams(query) };
}

/** Return the same object for the same address: React would draw for ever otherwise. */
function readRoute(): Route {
  if (location.hash !== hash) {
    hash = location.hash;
    route = parseRoute(hash);
  }
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
  return useSyncExternalStore(subscribe, readRoute);
}

/** Make an address: `buildAddress("memory", "daily", date)`. */
export function buildAddress(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Return the address of a message in its conversation. */
export function buildMessageAddress(conversation: string, message: number): string {
  return `${buildAddress("chat", conversation)}?message=${message}`;
}

/** Go to an address made by `buildAddress`; with replace, Back skips the present one. */
export function go(address: string, { replace = false } = {}): void {
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
