/** Where a schedule's results go. */

export type Kind = "log" | "slack" | "file";

export interface Place {
  kind: Kind;
  /** The channel's id or the file's name. */
  name: string;
}

/** Read a place as the server writes it. */
export function parsePlace(deliver: string): Place {
  const [kind = "log", ...name] = deliver.split(":");
  return { kind: kind as Kind, name: name.join(":") };
}

/** Write a place as the server reads it. */
export function formatPlace({ kind, name }: Place): string {
  return kind === "log" ? kind : `${kind}:${name.trim()}`;
}
