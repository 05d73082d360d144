/** What is typed into a setting, as the server takes it. */

const HUNDRED = 100;

/** Read a whole number; null is the default again, and undefined is no such number. */
export function parseWholeNumber(typed: string, least: number): number | null | undefined {
  if (typed === "") return null;
  const number = Number(typed);
  return Number.isSafeInteger(number) && number >= least ? number : undefined;
}

/** Read a percentage as a share of one; null is the default again, and undefined is none. */
export function parsePercent(typed: string): number | null | undefined {
  if (typed === "") return null;
  const percent = Number(typed);
  return percent >= 0 && percent <= HUNDRED ? Math.round(percent * 10) / (HUNDRED * 10) : undefined;
}

/** Write a share of one as a percentage, with at most one digit behind the point. */
export function formatPercent(share: number): string {
  return String(Math.round(share * HUNDRED * 10) / 10);
}
