import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import { Spinner } from "./Spinner";

interface ButtonLook {
  tone?: "plain" | "primary" | "quiet" | "danger";
  small?: boolean;
  icon?: IconName;
}

function buildClasses({ tone = "plain", small }: ButtonLook, more: string): string {
  return `button button-${tone}${small ? " button-small" : ""}${more}`;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement>, ButtonLook {
  /** It is working: shows so, and cannot be pressed again. */
  busy?: boolean;
  children: ReactNode;
}

/** A button with words, and perhaps an icon before them. */
export function Button({ tone, small, icon, busy, children, className = "", disabled, ...rest }: ButtonProps) {
  const look = buildClasses({ tone, small }, className && ` ${className}`);
  return (
    <button type="button" className={look} disabled={disabled || busy} aria-busy={busy} {...rest}>
      {busy ? <Spinner /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children">, ButtonLook {
  icon: IconName;
  /** What it does, in words. */
  label: string;
}

/** A button with only an icon. */
export function IconButton({ tone = "quiet", small, icon, label, className = "", ...rest }: IconButtonProps) {
  const look = buildClasses({ tone, small }, ` button-icon ${className}`);
  return (
    <button type="button" className={look} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

interface LinkButtonProps extends AnchorHTMLAttributes<HTMLAnchorElement>, ButtonLook {
  children: ReactNode;
}

/** A link that looks like a button. */
export function LinkButton({ tone, small, icon, children, ...rest }: LinkButtonProps) {
  return (
    <a className={buildClasses({ tone, small }, "")} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}
