/** Days as the reader's clock has them. */

/** Return a day as files name it. */
export function isoDay(date: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Whether a text is a day. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00`));
}

/** Return today. */
export function today(): string {
  return isoDay(new Date());
}

/** Return the weeks of a month; null is a day of another one. */
export function weeksOf(year: number, month: number, weekStart: number): (string | null)[][] {
  const length = new Date(year, month + 1, 0).getDate();
  const before = (new Date(year, month, 1).getDay() - weekStart + 7) % 7;
  const weeks = Math.ceil((before + length) / 7);
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const day = week * 7 + weekday - before + 1;
      return day < 1 || day > length ? null : isoDay(new Date(year, month, day));
    }),
  );
}
