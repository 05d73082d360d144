import { describe, expect, test } from "vitest";
import { capitalise, isOwnZone, makeFormat, shorten } from "../src/format";

const NOW = new Date("2026-11-17T12:00:00+08:00");
const en = makeFormat("en", () => NOW);
const zh = makeFormat("zh-TW", () => NOW);

describe("numbers", () => {
  test.each([
    [0, "0 B", "0 B"],
    [999, "999 B", "999 B"],
    [12_345, "12.3 kB", "12.3 kB"],
    [1_500_000, "1.5 MB", "1.5 MB"],
  ])("%d bytes", (value, english, chinese) => {
    expect(en.bytes(value)).toBe(english);
    expect(zh.bytes(value)).toBe(chinese);
  });

  test("have separators, and shares no digits behind the point", () => {
    expect(en.number(1234567)).toBe("1,234,567");
    expect(zh.number(1234567)).toBe("1,234,567");
    expect(en.percent(0.876)).toBe("88%");
    expect(zh.percent(1)).toBe("100%");
  });
});

describe("a day", () => {
  test("is a day here, not in Greenwich", () => {
    expect(en.date("2026-11-15")).toBe("November 15, 2026");
    expect(zh.date("2026-11-15")).toBe("2026年11月15日");
    expect(zh.shortDate("2026-01-02")).toBe("2026年1月2日");
  });

  test("and a time are told by the 24-hour clock", () => {
    expect(en.time("2026-11-17T16:05:00Z")).toBe("00:05");
    expect(zh.time("2026-11-17T16:05:00Z")).toBe("00:05");
    expect(zh.dateTime("2026-11-17T05:05:00Z")).toMatch(/^2026.11.17.*\s13:05$/);
  });
});

describe("how long ago", () => {
  test.each([
    ["2026-11-17T11:59:30+08:00", "now", "剛剛"],
    ["2026-11-17T11:55:00+08:00", "5 minutes ago", "5 分鐘前"],
    ["2026-11-17T10:01:00+08:00", "1 hour ago", "1 小時前"],
    ["2026-11-16T11:00:00+08:00", "yesterday", "昨天"],
    ["2026-11-14T12:00:00+08:00", "3 days ago", "3 天前"],
    ["2026-11-01T12:00:00+08:00", "November 1, 2026", "2026年11月1日"],
  ])("%s", (iso, english, chinese) => {
    expect(en.ago(iso)).toBe(english);
    expect(zh.ago(iso)).toBe(chinese);
  });
});

describe("when something is due", () => {
  test("is told by the clock and calendar of its zone", () => {
    const due = "2026-11-19T23:30:00Z";
    expect(en.due(due, "UTC")).toBe("Thu, Nov 19, 23:30");
    expect(en.due(due, "Asia/Taipei")).toBe("Fri, Nov 20, 07:30");
    expect(zh.due(due, "Asia/Taipei")).toMatch(/^11月20日 ?週五\s07:30$/);
    expect(en.until(due, "UTC")).toBe("in 2 days");
    expect(en.until(due, "Asia/Taipei")).toBe("in 3 days");
    expect(zh.until(due, "Asia/Taipei")).toBe("3 天後");
  });

  test("is counted in hours and minutes before a day is over", () => {
    expect(en.until("2026-11-17T12:10:00+08:00", "UTC")).toBe("in 10 minutes");
    expect(zh.until("2026-11-17T14:00:00+08:00", "UTC")).toBe("2 小時後");
  });

  test("has a year if that is another one", () => {
    expect(en.due("2027-01-01T01:00:00Z", "UTC")).toBe("Fri, Jan 1, 2027, 01:00");
  });

  test("is told by the reader's clock if the browser does not know the zone", () => {
    expect(en.due("2026-11-19T04:00:00Z", "Mars/Olympus")).toBe("Thu, Nov 19, 12:00");
  });
});

test("a zone is the reader's own by whatever name", () => {
  expect(isOwnZone("Asia/Taipei")).toBe(true);
  expect(isOwnZone("ROC")).toBe(true);
  expect(isOwnZone("Asia/Tokyo")).toBe(false);
});

test("a sentence begins with a capital, a name as it is written", () => {
  expect(capitalise("the timing is wrong")).toBe("The timing is wrong");
  expect(capitalise("modelUrl is wrong")).toBe("modelUrl is wrong");
  expect(capitalise("時間不對")).toBe("時間不對");
});

test("a text is cut between characters", () => {
  expect(shorten("客廳的燈", 4)).toBe("客廳的燈");
  expect(shorten("客廳的燈叫做小明", 4)).toBe("客廳的燈…");
  expect(shorten("🌱🌱🌱", 2)).toBe("🌱🌱…");
  expect(shorten("one two three", 8)).toBe("one two…");
});
