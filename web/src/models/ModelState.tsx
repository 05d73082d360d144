import type { ModelsView } from "../api";
import { useWords, type Words } from "../i18n";
import { Icon } from "../ui";
import { findLack, NO_MODEL } from "./modelChoices";

/** Which model answers, whether it can, and where words go. */
export function ModelState({ view }: { view: ModelsView | null }) {
  const words = useWords().models;
  if (!view) return <p className="models-state">{words.looking}</p>;
  const isAble = findLack(view) === null;
  const destination = view.wordsGo.local ? words.stay : words.goTo(view.wordsGo.to);
  return (
    <p className="models-state" data-able={isAble}>
      <Icon name={isAble ? "check" : "alert"} />
      <span>{words.joinSentences(describeModel(view, words), destination)}</span>
    </p>
  );
}

/** Return in a sentence which model answers, or why it cannot. */
export function describeModel(view: ModelsView, words: Words["models"]): string {
  const { name } = view.current;
  const lack = findLack(view);
  if (lack) return words.lacks[lack.kind](name, lack.label);
  return name === NO_MODEL ? words.none : words.now(name);
}
