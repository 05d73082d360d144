/** Something is on its way. */
export function Spinner({ label }: { label?: string }) {
  return <span className="spinner" role={label ? "status" : undefined} aria-label={label} aria-hidden={!label} />;
}

/** Lines where text will stand, so that nothing moves when it comes. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  const widths = ["92%", "78%", "85%", "60%"];
  return (
    <div aria-hidden="true" style={{ display: "grid", gap: "0.9em" }}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className="skeleton" style={{ width: widths[line % widths.length] }} />
      ))}
    </div>
  );
}
