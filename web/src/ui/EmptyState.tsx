import type { ReactNode } from "react";
import { Icon, type IconName } from "./Icon";

interface EmptyStateProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** Nothing here yet, and how something comes to be here. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
      {actions && <div className="empty-actions">{actions}</div>}
    </div>
  );
}
