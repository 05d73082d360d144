/** Where a schedule's results go. */

export type ResultKind = "log" | "slack" | "file";

export interface ResultPlace {
  kind: ResultKind;
  /** The channel's id or the file's name. */
  name: string;
}

/** Read a place as the server writes it. */
export function parsePlace(deliver: string): ResultPlace {
  const [kind = "log", ...name] = deliver.split(":");
  return { kind: kind as ResultKind, name: name.join(":") };
}

/** Write a place as the server reads it. */
export function formatPlace({ kind, name }: ResultPlace): string {
  return kind === "log" ? kind : `${kind}:${name.trim()}`;
}
