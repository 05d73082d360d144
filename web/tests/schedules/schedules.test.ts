import { describe, expect, test } from "vitest";
import type { Schedule } from "../../src/api";
import { describeTiming } from "../../src/schedules/describeTiming";
import { en } from "../../src/schedules/en";
import { formatPlace, parsePlace } from "../../src/schedules/resultPlaces";
import { EMPTY, findMissing, makeDraft, pickChanges, readDraft } from "../../src/schedules/scheduleDraft";
import { zhTW } from "../../src/schedules/zh-TW";

describe("a timing in words", () => {
  test.each([
    ["0 9 * * *", "Every day at 09:00", "每天 09:00"],
    ["30 8 * * 1-5", "Monday to Friday at 08:30", "週一到週五 08:30"],
    ["0 9 * * 1,3", "Every Monday and Wednesday at 09:00", "每週一、週三 09:00"],
    ["0 9 * * 7", "Every Sunday at 09:00", "每週日 09:00"],
    ["0 9 1 * *", "On day 1 of each month at 09:00", "每月 1 日 09:00"],
    ["5 * * * *", "Every hour at :05", "每小時的 05 分"],
    ["*/15 * * * *", "Every 15 minutes", "每 15 分鐘"],
    ["@daily", "Every day at 00:00", "每天 00:00"],
    ["every 15m", "Every 15 minutes", "每 15 分鐘"],
    ["every hour", "Every hour", "每小時"],
    ["every 1d", "Every day", "每天"],
  ])("%s", (timing, english, chinese) => {
    expect(describeTiming(timing, "Asia/Taipei", en.timing, "en")).toBe(english);
    expect(describeTiming(timing, "Asia/Taipei", zhTW.timing, "zh-TW")).toBe(chinese);
  });

  test.each(["2026-12-24 18:00", "2026-12-24T10:00Z"])("%s is a moment by the clock of its zone", (timing) => {
    expect(describeTiming(timing, "Asia/Taipei", en.timing, "en")).toBe("Once, on Dec 24, 2026, 18:00");
    expect(describeTiming(timing, "Asia/Taipei", zhTW.timing, "zh-TW")).toMatch(/^一次：2026.12.24.*\s18:00$/);
  });

  test("a moment that is only half written is told as it stands", () => {
    expect(describeTiming("2026-02-30T", "Asia/Taipei", en.timing, "en")).toBe("Once, on 2026-02-30T");
  });

  test.each(["0 9 * 12 *", "*/7 * * * *", "0 9-17 * * *", "61 9 * * *", "0 9 1 * 1", "soon", ""])(
    "is as it was typed where that is too special: %j",
    (timing) => {
      expect(describeTiming(timing, "Asia/Taipei", en.timing, "en")).toBe(timing);
    },
  );
});

test.each(["log", "slack:C012", "file:news.md", "file:a:b.md"])("the place %s is read as it was written", (deliver) => {
  expect(formatPlace(parsePlace(deliver))).toBe(deliver);
});

describe("the form of a schedule", () => {
  const schedule = { ...EMPTY, prompt: "早安", timing: "0 8 * * *", timezone: "Asia/Taipei", id: "1" } as unknown as Schedule;

  test("asks for what is missing, one thing after the other", () => {
    const draft = makeDraft(EMPTY);
    expect(findMissing(draft)).toBe("emptyPrompt");
    expect(findMissing({ ...draft, prompt: "早安" })).toBe("emptyTiming");
    expect(findMissing({ ...draft, prompt: "早安", timing: "@daily", place: { kind: "file", name: " " } })).toBe("emptyPlace");
    expect(findMissing({ ...draft, prompt: "早安", timing: "@daily" })).toBeNull();
  });

  test("changes only what was changed in it, for somebody else may have changed the rest", () => {
    const draft = { ...makeDraft(schedule), name: " 早晨 ", place: { kind: "file", name: "a.md" } as const };
    expect(pickChanges(schedule, readDraft(draft, "Asia/Taipei"))).toEqual({ name: "早晨", deliver: "file:a.md" });
    expect(pickChanges(schedule, readDraft(makeDraft(schedule), "Asia/Taipei"))).toEqual({});
  });
});
