/** What was written and not yet saved: it stays while other views and pages are open. */

import type { EditorState } from "@codemirror/state";
import { useSyncExternalStore } from "react";
import { askBeforeReload } from "../../unsavedChanges";

interface UnsavedFile {
  state: EditorState;
  /** The text that was loaded, and its version. */
  base: string;
  etag: string;
}

let draft: UnsavedFile | null = null;
const listeners = new Set<() => void>();

askBeforeReload(() => draft !== null);

/** Return what is not saved yet. */
export function getUnsaved(): UnsavedFile | null {
  return draft;
}

/** Keep what is not saved yet; null when all is. */
export function keepUnsaved(next: UnsavedFile | null): void {
  const isNews = (draft === null) !== (next === null);
  draft = next;
  if (!isNews) return;
  if (next) addEventListener("beforeunload", ask);
  else removeEventListener("beforeunload", ask);
  for (const listener of listeners) listener();
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether something is not saved yet. */
export function useUnsaved(): boolean {
  return useSyncExternalStore(subscribe, () => draft !== null);
}
