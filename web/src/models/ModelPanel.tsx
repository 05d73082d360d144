import { useRef, useState } from "react";
import { useWords } from "../i18n";
import { Button, Notice, ProblemNotice } from "../ui";
import { FoundModels } from "./FoundModels";
import { type Choice, NO_MODEL } from "./modelChoices";
import { ProviderForm } from "./ProviderForm";
import { useConfirmation } from "./useConfirmation";
import type { Models } from "./useModels";
import { useTrial } from "./useTrial";

const NONE: Choice = { model: NO_MODEL, url: null };

interface ModelPanelProps {
  models: Models;
  onUsed?: () => void;
  /** Somebody who may not choose has read it. */
  onLater?: () => void;
}

/** What was found, another provider, and who may choose. */
export function ModelPanel({ models, onUsed, onLater }: ModelPanelProps) {
  const words = useWords().models;
  const [provider, setProvider] = useState("");
  const form = useRef<HTMLDivElement>(null);
  const { confirm, question } = useConfirmation();
  const trial = useTrial(models, confirm, onUsed);
  const { view, config, problem, reload } = models;
  const isFixed = config?.locked.includes("model") ?? false;
  const canChange = view !== null && config !== null && view.operator && !isFixed;
  const showProvider = (name: string) => {
    setProvider(name);
    form.current?.querySelector("select")?.focus();
  };
  if (problem && !view) return <ProblemNotice problem={problem} onRetry={reload} />;
  return (
    <div className="models">
      <FoundModels models={models} trial={trial} canChange={canChange} onProvider={showProvider} />
      {canChange && (
        <div ref={form}>
          <ProviderForm
            providers={view.providers}
            chosen={provider}
            onChoose={setProvider}
            trial={trial}
            confirm={confirm}
            onKey={reload}
          />
        </div>
      )}
      {isFixed && (
        <Notice icon="lock">
          <p>{words.fixed}</p>
        </Notice>
      )}
      {view && !view.operator && !isFixed && (
        <Notice icon="key">
          <p>
            <strong>{words.operator.title}</strong>
          </p>
          <p>{words.operator.text}</p>
        </Notice>
      )}
      {canChange && config.model !== NO_MODEL && (
        <WithoutModel busy={trial.underWay !== null} label={words.without} onPick={() => trial.keep(NONE)} />
      )}
      {view && !canChange && onLater && <WithoutModel label={words.later} onPick={onLater} />}
      {question}
    </div>
  );
}


interface WithoutModelProps {
  label: string;
  onPick: () => void;
  busy?: boolean;
}

/** The way on without a model, and what works then. */
function WithoutModel({ label, onPick, busy }: WithoutModelProps) {
  const words = useWords().models;
  return (
    <div className="models-without">
      <Button disabled={busy} onClick={onPick}>
        {label}
      </Button>
      <p>{words.withoutMeans}</p>
    </div>
  );
}
