import { useId } from "react";
import { Icon, type IconName } from "./Icon";

interface SegmentedChoice<Value extends string> {
  value: Value;
  label: string;
  icon?: IconName;
}

interface SegmentedProps<Value extends string> {
  label: string;
  choices: SegmentedChoice<Value>[];
  value: Value;
  onChange: (value: Value) => void;
  /** Show icons only; the words stay for who listens. */
  iconsOnly?: boolean;
}

/** One of a few. */
export function Segmented<Value extends string>({ label, choices, value, onChange, iconsOnly }: SegmentedProps<Value>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className={`segmented${iconsOnly ? " segmented-icons" : ""}`}>
      {choices.map((choice) => (
        <label key={choice.value} title={iconsOnly ? choice.label : undefined}>
          <input type="radio" name={name} checked={choice.value === value} onChange={() => onChange(choice.value)} />
          {choice.icon && <Icon name={choice.icon} />}
          <span className={iconsOnly ? "visually-hidden" : undefined}>{choice.label}</span>
        </label>
      ))}
    </div>
  );
}
