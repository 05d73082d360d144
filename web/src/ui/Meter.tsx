interface MeterProps {
  label: string;
  value: number;
  max: number;
  /** The value in words, such as "12 of 100". */
  words: string;
  /** It is an amount of work done, so full is good. */
  isProgress?: boolean;
}

const NEARLY = 0.85;

function state(share: number): string {
  if (share >= 1) return " meter-full";
  return share >= NEARLY ? " meter-nearly" : "";
}

/** How much of something is used, or done. */
export function Meter({ label, value, max, words, isProgress }: MeterProps) {
  const share = max > 0 ? Math.min(value / max, 1) : 0;
  return (
    <div className={`meter${isProgress ? "" : state(share)}`}>
      <div className="meter-words">
        <span>{label}</span>
        <span>{words}</span>
      </div>
      <div
        role={isProgress ? "progressbar" : "meter"}
        className="meter-track"
        aria-label={label}
        aria-valuenow={Math.min(value, max)}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuetext={words}
      >
        <div className="meter-fill" style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
