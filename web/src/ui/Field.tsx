import { type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes, useId } from "react";
import { Icon, type IconName } from "./Icon";

interface FieldIds {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid"?: boolean;
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** A sentence that says why the value was refused. */
  error?: ReactNode;
  hideLabel?: boolean;
  children: (ids: FieldIds) => ReactNode;
}

/** A control with its name, what it means, and what is wrong with it. */
export function Field({ label, hint, error, hideLabel, children }: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const ids = { id, "aria-describedby": described || undefined, "aria-invalid": error ? true : undefined };
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? "visually-hidden" : "field-label"}>
        {label}
      </label>
      {children(ids)}
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {error && <FieldError id={`${id}-error`}>{error}</FieldError>}
    </div>
  );
}

/** Why a value was refused. */
export function FieldError({ id, children }: { id?: string; children: ReactNode }) {
  return (
    <p id={id} className="field-error" role="alert">
      <Icon name="alert" />
      <span>{children}</span>
    </p>
  );
}

interface InputProps extends InputHTMLAttributes<HTMLInputElement> {
  icon?: IconName;
  ref?: Ref<HTMLInputElement>;
}

/** One line of text. */
export function Input({ icon, className = "", ...rest }: InputProps) {
  const input = <input className={`input ${className}`} {...rest} />;
  if (!icon) return input;
  return (
    <span className="input-box">
      <Icon name={icon} />
      {input}
    </span>
  );
}

interface TextAreaProps extends TextareaHTMLAttributes<HTMLTextAreaElement> {
  ref?: Ref<HTMLTextAreaElement>;
}

/** Several lines of text. */
export function TextArea({ className = "", ...rest }: TextAreaProps) {
  return <textarea className={`input ${className}`} {...rest} />;
}
