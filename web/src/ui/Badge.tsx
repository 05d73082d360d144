import type { ReactNode } from "react";

/** A word or two about something. */
export function Badge({ tone, children }: { tone?: "accent" | "warn" | "danger"; children: ReactNode }) {
  return <span className={`badge${tone ? ` badge-${tone}` : ""}`}>{children}</span>;
}
