/** A line to the server, over which its events come. */

import { api, type ServerEvent } from "./api";

export type Connection = "connecting" | "live" | "away";

/** What is told of a line, in this tab and to others. */
export type StreamNews =
  | { kind: "event"; event: ServerEvent }
  | { kind: "connection"; connection: Connection }
  | { kind: "alive" };

export type TellNews = (told: StreamNews) => void;

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** A server that has nothing to tell sends a comment every 15 seconds. */
const LONGEST_SILENCE_MS = 40_000;

let wake: () => void = () => undefined;

/** Listen until stopped; after a loss try again, each time a little later. */
export async function listen(signal: AbortSignal, tell: TellNews): Promise<void> {
  let wait = FIRST_WAIT_MS;
  const tellEvent = (event: ServerEvent) => {
    wait = FIRST_WAIT_MS;
    tell({ kind: "event", event });
  };
  while (!signal.aborted) {
    await hear(makeInner(signal), tell, tellEvent);
    if (signal.aborted) return;
    tell({ kind: "connection", connection: "away" });
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

/** Hear until the line is lost, or silent for so long that it must be. */
async function hear(line: AbortController, tell: TellNews, tellEvent: (event: ServerEvent) => void): Promise<void> {
  const silence = new SilenceTimer(() => line.abort());
  const isAlive = () => {
    silence.end();
    tell({ kind: "alive" });
  };
  try {
    for await (const event of api.streamEvents(isAlive, line.signal)) tellEvent(event);
  } catch {
    // It is tried again, whatever the reason.
  }
  silence.stop();
  line.abort();
}

/** Listen only while somebody looks at the page. */
export async function listenWhileSeen(signal: AbortSignal, tell: TellNews): Promise<void> {
  while (!signal.aborted) {
    const seen = makeInner(signal);
    const look = () => (isSeen() ? undefined : seen.abort());
    document.addEventListener("visibilitychange", look, { signal: seen.signal });
    look();
    await listen(seen.signal, tell);
    while (!signal.aborted && !isSeen()) await pause(LONGEST_WAIT_MS, signal);
  }
}

/** Calls when nothing was heard for too long. */
export class SilenceTimer {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly tooLong: () => void) {
    this.end();
  }

  /** Something was heard. */
  end(): void {
    this.stop();
    this.timer = setTimeout(this.tooLong, LONGEST_SILENCE_MS);
  }

  /** Wait no more. */
  stop(): void {
    clearTimeout(this.timer);
  }
}

/** Return something that can be stopped, and that stops with another. */
export function makeInner(signal: AbortSignal): AbortController {
  const inner = new AbortController();
  if (signal.aborted) inner.abort();
  signal.addEventListener("abort", () => inner.abort(), { once: true, signal: inner.signal });
  return inner;
}

/** Whether somebody may be looking. */
export function isSeen(): boolean {
  return document.visibilityState === "visible";
}

/** Wait, but not when the network comes back or somebody looks at the page again. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", wake, { once: true });
  });
}

addEventListener("online", () => wake());
document.addEventListener("visibilitychange", () => {
  if (isSeen()) wake();
});
