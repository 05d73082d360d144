/** What the server tells of its own accord, for every part of the page. */

import { useEffect, useRef, useSyncExternalStore } from "react";
import type { ServerEvents } from "./api";
import type { Connection, StreamNews } from "./eventStream";
import { listenTogether } from "./sharedEventStream";

type EventName = keyof ServerEvents;
type Listener = (data: never) => void;

const listeners = new Map<EventName, Set<Listener>>();
const watchers = new Set<() => void>();
let connection: Connection = "connecting";

/** Hear what happens until stopped. */
export function connect(): () => void {
  const stop = new AbortController();
  void listenTogether(stop.signal, hear, () => ({ kind: "connection", connection }));
  return () => stop.abort();
}

function hear(told: StreamNews): void {
  if (told.kind === "alive") return;
  const wasLive = connection === "live";
  const event = told.kind === "event" ? told.event : null;
  setConnection(told.kind === "connection" ? told.connection : "live");
  // A tab that comes later hears of the line from another one, and no greeting.
  if (!wasLive && connection === "live" && event?.name !== "hello") notify("hello", {});
  if (event) notify(event.name, event.data as never);
}

function setConnection(next: Connection): void {
  if (next === connection) return;
  connection = next;
  for (const watcher of watchers) watcher();
}

function notify<Key extends EventName>(name: Key, data: ServerEvents[Key]): void {
  for (const listener of listeners.get(name) ?? []) (listener as (data: ServerEvents[Key]) => void)(data);
}

/**
 * Call the handler for each such event while the component is shown. `hello` is told whenever the
 * line opens: reload then what was loaded before, for nobody told what changed since.
 */
export function useServerEvent<Key extends EventName>(name: Key, handler: (data: ServerEvents[Key]) => void): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const listener = ((data: ServerEvents[Key]) => latest.current(data)) as Listener;
    const known = listeners.get(name) ?? new Set();
    listeners.set(name, known.add(listener));
    return () => void known.delete(listener);
  }, [name]);
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Wait until the server is back, if it is known to be away. */
export function waitUntilBack(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (connection === "away") return;
      watchers.delete(look);
      resolve();
    };
    watchers.add(look);
    look();
  });
}

/** Whether news from the server arrive. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}
