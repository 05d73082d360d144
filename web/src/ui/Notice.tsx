import type { ReactNode } from "react";
import { useWords } from "../i18n";
import { type Explanation, explainProblem, rewriteMessage } from "../problems";
import { Button } from "./Button";
import { Icon, type IconName } from "./Icon";

type Tone = "info" | "warn" | "danger";
const ICONS: Record<Tone, IconName> = { info: "info", warn: "alert", danger: "alert" };

/** Something to know before reading on. */
export function Notice({ tone = "info", icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) {
  return (
    <div className={`notice notice-${tone}`} role={tone === "danger" ? "alert" : undefined}>
      <Icon name={icon ?? ICONS[tone]} />
      <div>{children}</div>
    </div>
  );
}

/** A sentence, with what only the server can say below it. */
export function ExplanationText({ text, detail }: Explanation) {
  return (
    <>
      {text}
      {detail && (
        <small className="problem-detail" lang={/[\u3400-\u9fff]/.test(detail) ? undefined : "en"}>
          {detail}
        </small>
      )}
    </>
  );
}

/** A message of the server that stands alone. */
export function ServerMessage({ text }: { text: string }) {
  return rewriteMessage(text, useWords().errors);
}

/** What went wrong. */
export function ProblemText({ problem }: { problem: unknown }) {
  return <ExplanationText {...explainProblem(problem, useWords().errors)} />;
}

/** What went wrong, and a button to try again. */
export function ProblemNotice({ problem, onRetry }: { problem: unknown; onRetry?: () => void }) {
  const words = useWords();
  return (
    <Notice tone="danger">
      <p>
        <ProblemText problem={problem} />
      </p>
      {onRetry && (
        <Button small icon="refresh" onClick={onRetry} style={{ marginTop: "var(--space-2)" }}>
          {words.common.tryAgain}
        </Button>
      )}
    </Notice>
  );
}
