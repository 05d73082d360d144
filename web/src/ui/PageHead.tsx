import { type ReactNode, useEffect } from "react";

interface PageHeadProps {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** Set the window's title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Turnleaf`;
  }, [title]);
}

/** The top of a page: its name, what it is for, what can be done. */
export function PageHead({ title, children, actions }: PageHeadProps) {
  useTitle(title);
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {children}
      </div>
      {actions && <div className="page-actions">{actions}</div>}
    </header>
  );
}
