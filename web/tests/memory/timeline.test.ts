import { expect, test } from "vitest";
import type { Change } from "../../src/api";
import { buildTimeline } from "../../src/memory/learned/timeline";

const NOW = new Date(2026, 10, 17, 12); // a Tuesday
const FACT = {} as Change["after"];

function makeChange(n: number, time: Date, part: Partial<Change> = {}): Change {
  return { n, time: time.toISOString(), before: null, after: FACT, undone: false, ...part } as Change;
}

test("what was learned stands below this week, the last one and the months before", () => {
  const changes = [
    makeChange(9, new Date(2026, 10, 17, 9)),
    makeChange(8, new Date(2026, 10, 16, 9), { before: FACT }),
    makeChange(7, new Date(2026, 10, 16, 8), { undone: true }),
    makeChange(6, new Date(2026, 10, 15, 9)),
    makeChange(5, new Date(2026, 10, 8), { before: FACT, after: null }),
    makeChange(4, new Date(2026, 9, 2)),
    makeChange(3, new Date(2025, 9, 2)),
  ];
  const seen = (weekStart: number) =>
    buildTimeline(changes, NOW, weekStart).map(({ period, changes, added, updated, removed }) => [
      period,
      changes.map((change) => change.n),
      `${added} ${updated} ${removed}`,
    ]);
  expect(seen(1)).toEqual([
    ["week", [9, 8, 7], "1 1 0"],
    ["lastWeek", [6], "1 0 0"],
    ["2026-11", [5], "0 0 1"],
    ["2026-10", [4], "1 0 0"],
    ["2025-10", [3], "1 0 0"],
  ]);
  expect(seen(0).map(([period]) => period)).toEqual(["week", "lastWeek", "2026-10", "2025-10"]);
});
