import { describe, expect, test } from "vitest";
import { addDays, countDays, isDay, listWeeks } from "../src/calendar";

test("a day is a date that the calendar has", () => {
  expect(isDay("2026-02-28")).toBe(true);
  for (const text of ["2026-13-01", "2026-2-8", "today", "2026-02-28T00:00", ""]) expect(isDay(text), text).toBe(false);
});

describe("days", () => {
  test("are counted by midnights, not by hours", () => {
    expect(countDays(new Date("2026-11-16T23:59"), new Date("2026-11-17T00:01"))).toBe(1);
    expect(countDays(new Date("2026-11-17T00:01"), new Date("2026-11-17T23:59"))).toBe(0);
    expect(countDays(new Date("2026-11-17T00:01"), new Date("2026-11-10T23:59"))).toBe(-7);
  });

  test("are added by the calendar", () => {
    expect(addDays(new Date("2026-12-31T23:59"), 1)).toBe("2027-01-01");
    expect(addDays(new Date("2024-03-01T00:00"), -1)).toBe("2024-02-29");
  });

  test("with 25 hours count once", () => {
    process.env.TZ = "Europe/Berlin"; // the clock goes back on 2026-10-25
    try {
      expect(countDays(new Date("2026-10-25T00:30"), new Date("2026-10-26T00:15"))).toBe(1);
      expect(addDays(new Date("2026-10-25T00:30"), 1)).toBe("2026-10-26");
    } finally {
      process.env.TZ = "Asia/Taipei";
    }
  });
});

describe("the weeks of a month", () => {
  test("begin on Sunday or on Monday", () => {
    expect(listWeeks(2026, 10, 0)[0]).toEqual(["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05", "2026-11-06", "2026-11-07"]);
    expect(listWeeks(2026, 10, 1)[0]).toEqual([null, null, null, null, null, null, "2026-11-01"]);
  });

  test("hold each of its days once", () => {
    const days = listWeeks(2024, 1, 1).flat().filter(Boolean);
    expect(days).toHaveLength(29);
    expect(days.at(-1)).toBe("2024-02-29");
  });
});
