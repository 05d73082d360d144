import { type ReactNode, useId, useState } from "react";
import type { FoundModels as Found, ModelProvider } from "../api";
import { useWords } from "../i18n";
import { Badge, Button, Icon, type IconName, Skeleton } from "../ui";
import { type Choice, getProviderName, listKeyed, shortenName } from "./modelChoices";
import { OutcomeText } from "./OutcomeText";
import type { Models } from "./useModels";
import { isSame, type Trial } from "./useTrial";

interface FoundModelsProps {
  models: Models;
  trial: Trial;
  canChange: boolean;
  /** Show the models of a provider that has a key. */
  onProvider: (name: string) => void;
}

/** What answers on the server's machine, and providers whose key is there: one press to use each. */
export function FoundModels({ models, trial, canChange, onProvider }: FoundModelsProps) {
  const words = useWords().models;
  const id = useId();
  const { view, isLooking, reload } = models;
  return (
    <section className="models-part" aria-labelledby={id}>
      <div className="models-part-head">
        <h3 id={id}>{words.found}</h3>
        <Button small tone="quiet" icon="refresh" busy={isLooking && view !== null} onClick={reload}>
          {words.lookAgain}
        </Button>
      </div>
      {view ? (
        <ModelRows models={models} trial={trial} canChange={canChange} onProvider={onProvider} />
      ) : (
        <div className="models-looking">
          <p role="status">{words.looking}</p>
          <Skeleton lines={2} />
        </div>
      )}
    </section>
  );
}

function ModelRows({ models, trial, canChange, onProvider }: FoundModelsProps) {
  const words = useWords().models;
  const view = models.view!;
  const keyed = listKeyed(view);
  const inUse = models.config?.model ?? null;
  const current = getProviderName(view.current.name);
  if (!view.found.length && !keyed.length) return <p className="models-none">{words.nothingFound}</p>;
  return (
    <ul className="models-rows">
      {view.found.map((found) => (
        <FoundRow
          key={`${found.provider} ${found.url}`}
          found={found}
          inUse={inUse}
          trial={canChange ? trial : null}
        />
      ))}
      {keyed.map((provider) => (
        <KeyedRow key={provider.name} provider={provider} isInUse={provider.name === current} onChoose={canChange ? onProvider : null} />
      ))}
    </ul>
  );
}

function FoundRow({ found, inUse, trial }: { found: Found; inUse: string | null; trial: Trial | null }) {
  const words = useWords().models;
  const { label, url, models } = found;
  const [wanted, setWanted] = useState<string | null>(null);
  const model = models.find((one) => one === (wanted ?? inUse)) ?? models[0];
  const icon: IconName = url === null ? "spark" : "monitor";
  const where = url === null ? words.program : new URL(url).host;
  if (model === undefined) return <ModelRow icon={icon} label={label} note={words.noModels} />;
  if (!trial) return <ModelRow icon={icon} label={label} note={url ? models.map(shortenName).join(", ") : where} />;
  const choice: Choice = { model, url };
  return (
    <ModelRow icon={icon} label={label} note={where} more={<OutcomeText trial={trial} choice={choice} />}>
      {models.length > 1 && (
        <select
          className="input"
          aria-label={words.modelOf(label)}
          value={model}
          onChange={(event) => setWanted(event.target.value)}
        >
          {models.map((one) => (
            <option key={one} value={one}>
              {shortenName(one)}
            </option>
          ))}
        </select>
      )}
      {models.length === 1 && url !== null && <span>{shortenName(model)}</span>}
      {model === inUse ? <Badge tone="accent">{words.inUse}</Badge> : <UseButton {...{ label, choice, trial }} />}
    </ModelRow>
  );
}

function UseButton({ label, choice, trial }: { label: string; choice: Choice; trial: Trial }) {
  const words = useWords().models;
  return (
    <Button
      tone="primary"
      busy={isSame(trial.underWay?.choice, choice)}
      disabled={trial.underWay !== null}
      aria-label={words.useThis(`${label} ${shortenName(choice.model)}`)}
      onClick={() => trial.use(choice)}
    >
      {words.use}
    </Button>
  );
}

interface KeyedRowProps {
  provider: ModelProvider;
  /** One of its models answers now, chosen or not. */
  isInUse: boolean;
  onChoose: ((name: string) => void) | null;
}

function KeyedRow({ provider, isInUse, onChoose }: KeyedRowProps) {
  const words = useWords().models;
  const { name, label, key } = provider;
  return (
    <ModelRow icon="key" label={label} note={words.keys[key!]}>
      {isInUse && <Badge tone="accent">{words.inUse}</Badge>}
      {onChoose && (
        <Button aria-label={words.showModelsOf(label)} onClick={() => onChoose(name)}>
          {words.showModels}
        </Button>
      )}
    </ModelRow>
  );
}

interface ModelRowProps {
  icon: IconName;
  label: string;
  note: string;
  /** What can be chosen and pressed. */
  children?: ReactNode;
  /** What came of it. */
  more?: ReactNode;
}

function ModelRow({ icon, label, note, children, more }: ModelRowProps) {
  return (
    <li className="models-row">
      <Icon name={icon} />
      <div className="models-row-words">
        <strong>{label}</strong>
        <span>{note}</span>
      </div>
      {children && <div className="models-row-controls">{children}</div>}
      {more}
    </li>
  );
}
