import type { CSSProperties, InputHTMLAttributes } from "react";

interface SliderProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "type" | "value"> {
  value: number;
  min: number;
  max: number;
  onChange: (value: number) => void;
}

/** A number chosen by dragging. */
export function Slider({ value, min, max, onChange, ...rest }: SliderProps) {
  const filled = `${((value - min) / (max - min)) * 100}%`;
  return (
    <input
      type="range"
      className="slider"
      style={{ "--filled": filled } as CSSProperties}
      value={value}
      min={min}
      max={max}
      onChange={(event) => onChange(event.target.valueAsNumber)}
      {...rest}
    />
  );
}
