import { useState } from "react";
import { useWords } from "../i18n";
import { ModelPanel } from "../models/ModelPanel";
import { isUndecided } from "../models/modelChoices";
import type { Models } from "../models/useModels";
import { readItem, saveItem } from "../storage";
import { Logo } from "../ui";
import { Welcome } from "./Welcome";

const LATER = "modelPanelRead";

interface FirstViewProps {
  models: Models;
  onPick: (example: string) => void;
  /** A model was chosen, or none: one can begin to write. */
  onReady: () => void;
}

/** Nothing was said yet: a model can be chosen, as long as nobody has; then, what one could say. */
export function FirstView({ models, onPick, onReady }: FirstViewProps) {
  const [isLater, setLater] = useState(() => readItem(LATER) !== null);
  const { config, problem } = models;
  const dismiss = () => {
    saveItem(LATER, "1");
    setLater(true);
    onReady();
  };
  if (!config && !problem && !isLater) return null;
  if (!config || isLater || !isUndecided(config)) return <Welcome onPick={onPick} />;
  return <ModelSetup models={models} onReady={onReady} onLater={dismiss} />;
}

interface ModelSetupProps extends Omit<FirstViewProps, "onPick"> {
  onLater: () => void;
}

function ModelSetup({ models, onReady, onLater }: ModelSetupProps) {
  const words = useWords().models;
  return (
    <div className="chat-welcome chat-setup">
      <Logo />
      <h2>{words.title}</h2>
      <p>{words.intro}</p>
      <ModelPanel models={models} onUsed={onReady} onLater={onLater} />
    </div>
  );
}
