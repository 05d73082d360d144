/** Days as the reader's clock has them. */

const DAY_MS = 86_400_000;

/** Write a day as files name it. */
export function formatDay(date: Date): string {
  const pad = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** Whether a text is a day. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00`));
}

/** Return today. */
export function getToday(): string {
  return formatDay(new Date());
}

/** Return the day that is so many days after another; a day may have 23 hours or 25. */
export function addDays(date: Date, days: number): string {
  return formatDay(new Date(date.getFullYear(), date.getMonth(), date.getDate() + days));
}

/** Count the midnights between two moments. */
export function countDays(from: Date, to: Date): number {
  return Math.round((new Date(to).setHours(0, 0, 0, 0) - new Date(from).setHours(0, 0, 0, 0)) / DAY_MS);
}

/** Return the weeks of a month; null is a day of another one. */
export function listWeeks(year: number, month: number, weekStart: number): (string | null)[][] {
  const length = new Date(year, month + 1, 0).getDate();
  const before = (new Date(year, month, 1).getDay() - weekStart + 7) % 7;
  const weeks = Math.ceil((before + length) / 7);
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const day = week * 7 + weekday - before + 1;
      return day < 1 || day > length ? null : formatDay(new Date(year, month, day));
    }),
  );
}
