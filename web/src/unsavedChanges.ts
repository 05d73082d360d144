/** What would be lost if the page were loaded again. */

const FIELDS = "textarea, input:not([type=checkbox], [type=radio], [type=range])";

const holders = new Set<() => boolean>();

/** Ask this before the page is loaded again: whether something is held that is saved nowhere else. */
export function askBeforeReload(holdsSomething: () => boolean): void {
  holders.add(holdsSomething);
}

/** Whether something would be lost, in a view that is shown or in one that was left. */
export function hasUnsaved(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(FIELDS);
  return [...fields].some((field) => field.value !== "") || [...holders].some((holds) => holds());
}
