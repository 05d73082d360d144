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

/** A note that is being edited: what it said when that began, and where it stood. */
export interface EditedNote {
  at: number;
  entry: string;
}

/** Keep the note that is edited among those of a day, also when somebody else has changed or deleted it. */
export function keepEdited(entries: string[], edited: EditedNote | null): { entries: string[]; at: number } {
  if (!edited) return { entries, at: -1 };
  const at = entries[edited.at] === edited.entry ? edited.at : entries.indexOf(edited.entry);
  if (at >= 0) return { entries, at };
  const place = Math.min(edited.at, entries.length);
  return { entries: entries.toSpliced(place, 0, edited.entry), at: place };
}
