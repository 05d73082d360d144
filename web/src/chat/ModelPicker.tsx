import { useWords, type Words } from "../i18n";
import { describeModel } from "../models/ModelState";
import { findLack, listDestinations, listPicks, NO_MODEL, type Pick, shortenName } from "../models/modelChoices";
import { addRecent, getRecent } from "../models/recentModels";
import type { Models } from "../models/useModels";
import { buildAddress, go } from "../route";
import { Icon, Menu, type MenuItem } from "../ui";
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
  return (
    <Menu
      small
      label={words.picker(name)}
      items={[...items, { icon: "settings", label: words.more, onPick: () => go(SETTINGS) }]}
    >
      <span className="chat-model-name">{name}</span>
      <Icon name="chevronDown" />
    </Menu>
  );
}
