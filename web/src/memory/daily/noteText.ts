/** What stands in a day's file, and in a note of it. */

/** The file begins with its date, which stands above already. */
export function removeTitle(content: string, date: string): string {
  return content.replace(new RegExp(`^\\s*# ${date}[ \\t]*\\r?\\n`), "");
}

/** Whether a text holds nothing but notes: no heading and no prose. */
export function hasOnlyNotes(text: string): boolean {
  return text.split(/\r?\n/).every((line) => /^(\s*$|[-*+][ \t]|[ \t])/.test(line));
}

/** Split the time from what was noted then; one that was typed may have none. */
export function splitTime(entry: string): { time: string; text: string } {
  const [, time = "", text = entry] = /^(\d\d:\d\d) ([^]*)$/.exec(entry) ?? [];
  return { time, text };
}

/** Put the time before what was noted again. */
export function joinTime(time: string, text: string): string {
  return time ? `${time} ${text}` : text;
}
