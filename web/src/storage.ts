/** What this browser remembers between visits, where it may. */

/** Return what was kept under a name. */
export function readItem(name: string): string | null {
  try {
    return localStorage.getItem(`turnleaf.${name}`);
  } catch {
    return null;
  }
}

/** Keep a value under a name; null forgets it. */
export function saveItem(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`turnleaf.${name}`);
    else localStorage.setItem(`turnleaf.${name}`, value);
  } catch {
    // Without storage a choice holds until the page is closed.
  }
}

/** Call the handler when another tab keeps a value under a name, or forgets it. */
export function onItemChange(name: string, handler: (value: string | null) => void): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === `turnleaf.${name}`) handler(newValue);
  });
}
