import { useState } from "react";
import { api, type ModelProvider } from "../api";
import { useWords, type Words } from "../i18n";
import { describeModel } from "../models/ModelState";
import { findLack, getProviderName, listDestinations, listPickable, listPicks, NO_MODEL, type Pick, shortenName } from "../models/modelChoices";
import { addRecent, getRecent } from "../models/recentModels";
import type { Models } from "../models/useModels";
import { buildAddress, go } from "../route";
import { Button, Dialog, FieldError, Icon, LinkButton, Menu, type MenuItem, ProblemText, Select, Skeleton } from "../ui";
import { useLoaded } from "../useLoaded";
import { putThread, type Thread } from "./threads";

const SETTINGS = `${buildAddress("settings")}?group=model`;
/** What the server calls the model that is set. */
const DEFAULT = "default";

/** Which model answers in this conversation, where words go, and how to send them. */
export function ModelLine({ thread, models }: { thread: Thread; models: Models }) {
  const words = useWords();
  const { view, config } = models;
  if (!view || !config) return <div className="chat-hint chat-model" />;
  const given = thread.picked ?? thread.model ?? DEFAULT;
  const model = given === DEFAULT ? view.current.name : given;
  const destinations = listDestinations(model, view, config);
  const isAsSet = model === view.current.name;
  return (
    <div className="chat-hint chat-model">
      <ModelMenu thread={thread} models={models} model={model} />
      {isAsSet && (model === NO_MODEL || findLack(view)) ? (
        <span>
          {model === NO_MODEL ? words.chat.noModel : describeModel(view, words.models)}{" "}
          <a href={SETTINGS}>{words.chat.chooseModel}</a>
        </span>
      ) : (
        <span>{destinations.length ? words.models.goTo(destinations) : words.models.stay}</span>
      )}
      <span className="chat-keys">{words.chat.keys}</span>
    </div>
  );
}

function nameModel(model: string, words: Words["models"]): string {
  return model === NO_MODEL ? words.noModel : shortenName(model);
}

function ModelMenu({ thread, models, model }: { thread: Thread; models: Models; model: string }) {
  const words = useWords().models;
  const view = models.view!;
  const choose = (wanted: string) => {
    if (!thread.isPrivate) addRecent(wanted);
    putThread({ ...thread, picked: wanted === view.current.name ? DEFAULT : wanted });
  };
  const describe = (pick: Pick) => {
    if (pick.model === NO_MODEL) return words.onlyQuotes;
    const where = pick.isLocal ? words.local(pick.label) : pick.label;
    return pick.model === view.current.name ? `${where} · ${words.asSet}` : where;
  };
  const items = listPicks(view, getRecent()).map(
    (pick): MenuItem => ({
      icon: pick.isLocal ? "monitor" : "spark",
      label: nameModel(pick.model, words),
      hint: describe(pick),
      isOneOf: true,
      isChecked: pick.model === model,
      onPick: () => choose(pick.model),
    }),
  );
  const name = nameModel(model, words);
  const [isListing, setListing] = useState(false);
  const providers = listPickable(view);
  const showMore = () => (providers.length ? setListing(true) : go(SETTINGS));
  return (
    <>
      <Menu
        small
        label={words.picker(name)}
        items={[...items, { icon: "settings", label: words.more, onPick: showMore }]}
      >
        <span className="chat-model-name">{name}</span>
        <Icon name="chevronDown" />
      </Menu>
      {isListing && (
        <MoreModels providers={providers} model={model} onPick={choose} onClose={() => setListing(false)} />
      )}
    </>
  );
}

interface MoreModelsProps {
  providers: ModelProvider[];
  /** The one that answers now. */
  model: string;
  onPick: (model: string) => void;
  onClose: () => void;
}

/** All models of the providers that have a key: they are asked only when somebody wants to see them. */
function MoreModels({ providers, model, onPick, onClose }: MoreModelsProps) {
  const words = useWords();
  const own = words.models;
  const current = providers.find(({ name }) => name === getProviderName(model)) ?? providers[0]!;
  const [provider, setProvider] = useState(current.name);
  const [wanted, setWanted] = useState("");
  const { value, problem, isLoading } = useLoaded(
    (signal) => api.listModels(provider, { url: null, confirm: false }, signal),
    [provider],
  );
  const { label } = providers.find(({ name }) => name === provider)!;
  const models = value?.models ?? [];
  const change = (name: string) => {
    setProvider(name);
    setWanted("");
  };
  const use = () => {
    onPick(wanted);
    onClose();
  };
  const actions = (
    <>
      <Button onClick={onClose}>{words.common.cancel}</Button>
      <Button tone="primary" disabled={!wanted} onClick={use}>
        {own.useModel}
      </Button>
    </>
  );
  return (
    <Dialog title={own.pickTitle} actions={actions} onClose={onClose}>
      <div className="chat-more-models">
        <Select
          label={own.provider}
          value={provider}
          choices={providers.map((one) => ({ value: one.name, label: one.label }))}
          onChange={change}
        />
        {isLoading ? (
          <>
            <p role="status">{own.listing(label)}</p>
            <Skeleton lines={1} />
          </>
        ) : problem ? (
          <FieldError>
            <ProblemText problem={problem} />
          </FieldError>
        ) : (
          <Select
            label={own.model}
            value={wanted}
            choices={[
              { value: "", label: own.chooseModel(models.length) },
              ...models.map((one) => ({ value: one, label: shortenName(one) })),
            ]}
            onChange={setWanted}
          />
        )}
        <LinkButton small tone="quiet" icon="settings" href={SETTINGS}>
          {own.pickSettings}
        </LinkButton>
      </div>
    </Dialog>
  );
}
