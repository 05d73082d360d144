/** Where in a conversation one is, while it grows at both ends. */

import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import type { Aim, Thread } from "./threads";

const NEAR_PX = 48;
const LEAST_PX = 2;
const MARKED_MS = 2_500;
const TALL = 0.7;

/** Stay at the bottom while it grows, unless somebody reads above it; what is read never moves. */
export function useScroll(thread: Thread) {
  const region = useRef<HTMLElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const isHeld = useRef(false);
  const [isAway, setAway] = useState(false);
  const toBottom = () => {
    isHeld.current = true;
    region.current?.scrollTo({ top: region.current.scrollHeight });
  };
  useEnds(thread, region, isHeld, toBottom);
  useHeldPosition({ region, inner, isHeld, toBottom, setAway, isActive: thread.turns.length > 0, hasLater: thread.hasLater });
  return { region, inner, isAway: isAway && thread.turns.length > 0, toBottom };
}

/** After turns came: go to what was said last or to what is aimed at; what came above moves nothing. */
function useEnds(
  thread: Thread,
  region: RefObject<HTMLElement | null>,
  isHeld: RefObject<boolean>,
  toBottom: () => void,
): void {
  const first = thread.turns[0]?.id;
  const last = thread.turns.at(-1)?.id;
  const { aim, hasLater } = thread;
  const shown = useRef<{ first?: number; last?: number; hasLater: boolean; aim: Aim | null }>({
    hasLater: false,
    aim: null,
  });
  const height = useRef(0);
  // The page still shows what was there before: afterwards nobody knows how high that was.
  if (first !== shown.current.first) height.current = region.current?.scrollHeight ?? 0;

  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = { first, last, hasLater, aim };
    const { current } = region;
    if (!current || last === undefined) return;
    if (aim && aim !== before.aim && reach(current, aim)) isHeld.current = false;
    else if (before.last !== last && !before.hasLater && !hasLater) toBottom();
    else if (before.last === last && before.first !== first) current.scrollTop += current.scrollHeight - height.current;
  }, [first, last, hasLater, aim]);
}

interface HeldPosition {
  region: RefObject<HTMLElement | null>;
  inner: RefObject<HTMLDivElement | null>;
  isHeld: RefObject<boolean>;
  toBottom: () => void;
  setAway: (isAway: boolean) => void;
  isActive: boolean;
  /** The end of what is shown is no bottom to stay at while more can be loaded below it. */
  hasLater: boolean;
}

function useHeldPosition({ region, inner, isHeld, toBottom, setAway, isActive, hasLater }: HeldPosition): void {
  // Before anybody can scroll: a scroll that nobody heard would be undone at the first look.
  useLayoutEffect(() => {
    const { current } = region;
    if (!isActive || !current || !inner.current) return;
    let before = current.scrollTop;
    const look = () => {
      const below = current.scrollHeight - current.scrollTop - current.clientHeight;
      const isUp = current.scrollTop < before;
      before = current.scrollTop;
      isHeld.current = !hasLater && below < (isUp ? LEAST_PX : NEAR_PX);
      setAway(below >= NEAR_PX);
    };
    const grown = new ResizeObserver(() => (isHeld.current ? toBottom() : look()));
    grown.observe(inner.current);
    grown.observe(current);
    current.addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      current.removeEventListener("scroll", look);
    };
  }, [isActive, hasLater]);
}

/** Bring a message into view; false if it is not there. */
function reach(region: HTMLElement, { message, at }: Aim): boolean {
  const place = region.querySelector<HTMLElement>(`[data-message~="${message}"]`);
  if (!place) return false;
  if (at) {
    const control = place.querySelector<HTMLElement>(".chat-versions") ?? place;
    region.scrollTop += control.getBoundingClientRect().top - at.top;
    const buttons = [...control.querySelectorAll<HTMLButtonElement>("button:enabled")];
    (buttons.find((one) => one.name === at.focus) ?? buttons[0])?.focus({ preventScroll: true });
    return true;
  }
  const isTall = place.offsetHeight > region.clientHeight * TALL;
  place.scrollIntoView({ block: isTall ? "start" : "center" });
  place.focus({ preventScroll: true });
  place.dataset.marked = "";
  setTimeout(() => delete place.dataset.marked, MARKED_MS);
  return true;
}
