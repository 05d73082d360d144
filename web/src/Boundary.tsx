import { Component, type ReactNode } from "react";
import { useWords } from "./i18n";
import { Button, EmptyState } from "./ui";

/** Keeps a broken view from taking the rest of the page with it. */
export class Boundary extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    return this.state.isBroken ? <Broken /> : this.props.children;
  }
}

/** Says that only loading the page again can help. */
export function Broken() {
  const words = useWords();
  const reload = (
    <Button tone="primary" icon="refresh" onClick={() => location.reload()}>
      {words.errors.reload}
    </Button>
  );
  return (
    <EmptyState icon="alert" title={words.errors.crashTitle} actions={reload}>
      <p>{words.errors.crashText}</p>
    </EmptyState>
  );
}
