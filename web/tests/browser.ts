/** The little of a browser that the page's logic touches, where Node has none. */

import { afterEach, beforeEach, vi } from "vitest";

const target = new EventTarget();

/** Tell the page's listeners of something, as a browser does. */
export function dispatch(name: string, part: object = {}): void {
  target.dispatchEvent(Object.assign(new Event(name), part));
}

/** Storage of a browser; `refuse` makes it one that a visitor has switched off. */
export function makeStorage(refuse = false): Storage {
  const items = new Map<string, string>();
  const guard = <Result>(act: () => Result): Result => {
    if (refuse) throw new DOMException("denied", "SecurityError");
    return act();
  };
  return {
    getItem: (name: string) => guard(() => items.get(name) ?? null),
    setItem: (name: string, value: string) => guard(() => void items.set(name, value)),
    removeItem: (name: string) => guard(() => void items.delete(name)),
  } as Storage;
}

function makeLocation() {
  return { hash: "", pathname: "/turnleaf/", search: "" };
}

const location = makeLocation();

vi.stubGlobal("addEventListener", target.addEventListener.bind(target));
vi.stubGlobal("removeEventListener", target.removeEventListener.bind(target));
vi.stubGlobal("location", location);
vi.stubGlobal("history", {
  replaceState: (_state: unknown, _title: string, address: string) => {
    location.hash = address.slice(address.indexOf("#"));
  },
});
vi.stubGlobal("document", {
  baseURI: "http://memory.example/turnleaf/#/chat",
  documentElement: { dataset: {}, lang: "en", style: {} },
  visibilityState: "visible",
  addEventListener: target.addEventListener.bind(target),
  querySelector: () => null,
  querySelectorAll: () => [],
});
vi.stubGlobal("localStorage", makeStorage());

beforeEach(() => {
  Object.assign(location, makeLocation());
  vi.stubGlobal("localStorage", makeStorage());
});
afterEach(() => {
  vi.useRealTimers();
});
