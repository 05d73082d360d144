import type { InputHTMLAttributes } from "react";

interface SwitchProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "type"> {
  checked: boolean;
  onChange: (checked: boolean) => void;
  /** Its name, when no label element names it. */
  label?: string;
}

/** On or off, at once. */
export function Switch({ checked, onChange, label, ...rest }: SwitchProps) {
  return (
    <span className="switch">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        aria-label={label}
        onChange={(event) => onChange(event.target.checked)}
        {...rest}
      />
      <span className="switch-track" />
    </span>
  );
}
