interface SelectProps<Value extends string> {
  /** What is chosen, in words. */
  label: string;
  value: Value;
  choices: { value: Value; label: string }[];
  onChange: (value: Value) => void;
}

/** One of several values, in a list that opens. */
export function Select<Value extends string>({ label, value, choices, onChange }: SelectProps<Value>) {
  return (
    <select
      className="input select"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value as Value)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}
