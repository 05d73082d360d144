/** Half-written Markdown, made whole for the moment, so that nothing flickers while it grows. */

const OPEN_FENCE = /^ {0,3}(`{3,}|~{3,})/gm;
/** A line that is only a mark: it may become a list, a rule, a heading, a table or a fence. */
const MARK_ALONE = /(^|\n)[ \t]*(?:[-=*+#>|_~`]+|\d+[.)]?)[ \t]*$/;
/** The head of a table before the line that makes it one. */
const TABLE_HEAD = /(^|\n)\|[^\n]*(?:\n[|\s:-]*)?$/;
const HALF_LINK = /!?\[([^\]\n]*)\]\([^)\n]*$/;

/** Return the text with what is not finished at its end left out or closed. */
export function closeUnfinished(text: string): string {
  if ((text.match(OPEN_FENCE)?.length ?? 0) % 2) return text;
  const cut = text.replace(MARK_ALONE, "").replace(TABLE_HEAD, "").replace(HALF_LINK, "$1");
  const at = cut.lastIndexOf("\n") + 1;
  return cut.slice(0, at) + closeMark(closeMark(cut.slice(at), "`"), "**");
}

function closeMark(line: string, mark: string): string {
  if (line.split(mark).length % 2) return line;
  return line.endsWith(mark) ? line.slice(0, -mark.length) : `${line.trimEnd()}${mark}`;
}
