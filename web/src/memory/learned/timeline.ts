/** What was learned when: this week, last week, and before that by month. */

import type { Change } from "../../api";

/** This week, the one before, or a month as 2026-11. */
export type Period = "week" | "lastWeek" | string;

export interface TimelinePart {
  period: Period;
  changes: Change[];
  added: number;
  updated: number;
  removed: number;
}

/** Put changes, the newest first, below the time that they were made in; a week begins on a weekday from 0, Sunday. */
export function buildTimeline(changes: Change[], now: Date, weekStart: number): TimelinePart[] {
  const parts = new Map<Period, TimelinePart>();
  for (const change of changes) {
    const period = findPeriod(new Date(change.time), now, weekStart);
    const part = parts.get(period) ?? { period, changes: [], added: 0, updated: 0, removed: 0 };
    part.changes.push(change);
    if (!change.undone) part[findKind(change)] += 1;
    parts.set(period, part);
  }
  return [...parts.values()];
}

/** Whether a change added, updated or removed a fact. */
export function findKind(change: Pick<Change, "before" | "after">): "added" | "updated" | "removed" {
  if (!change.after) return "removed";
  return change.before ? "updated" : "added";
}

function findPeriod(time: Date, now: Date, weekStart: number): Period {
  const daysIn = (now.getDay() - weekStart + 7) % 7;
  const week = new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysIn);
  if (time >= week) return "week";
  const before = new Date(week.getFullYear(), week.getMonth(), week.getDate() - 7);
  if (time >= before) return "lastWeek";
  return `${time.getFullYear()}-${String(time.getMonth() + 1).padStart(2, "0")}`;
}
