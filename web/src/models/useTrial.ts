import { useState } from "react";
import { api } from "../api";
import { useI18n } from "../i18n";
import { rewriteMessage } from "../problems";
import { useToasts } from "../ui";
import { type Choice, NO_MODEL, planChange, shortenName } from "./modelChoices";
import { addRecent } from "./recentModels";
import type { Confirm } from "./useConfirmation";
import type { Models } from "./useModels";

/** How a test ended: in words, and for which choice. */
export interface Outcome {
  choice: Choice;
  isGood: boolean;
  text: string;
}

export interface Trial {
  /** What is being done, and with what. */
  underWay: { choice: Choice; act: "test" | "use" } | null;
  outcome: Outcome | null;
  test: (choice: Choice) => void;
  /** Test a model, and have it answer from now on if it can. */
  use: (choice: Choice) => void;
  /** Have it answer from now on, whatever a test says. */
  keep: (choice: Choice) => void;
}

/** Whether two choices are the same. */
export function isSame(one: Choice | undefined, other: Choice): boolean {
  return one?.model === other.model && one.url === other.url;
}

/** Test models and choose one; `onUsed` is called once it is chosen. */
export function useTrial({ view, config, reload }: Models, confirm: Confirm, onUsed?: () => void): Trial {
  const { words, format } = useI18n();
  const toasts = useToasts();
  const [underWay, setUnderWay] = useState<Trial["underWay"]>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);

  const attempt = async (choice: Choice): Promise<boolean> => {
    if (choice.model === NO_MODEL) return true;
    const result = await confirm(choice.url, (isConfirmed) => api.testModel({ ...choice, confirm: isConfirmed }));
    const said = result.kind === "no-key" ? words.models.noKey : rewriteMessage(result.sentence ?? "", words.errors);
    const text = result.ok ? words.models.answers(format.number(result.milliseconds / 1000)) : said;
    setOutcome({ choice, isGood: result.ok, text });
    return result.ok;
  };
  const save = async (choice: Choice) => {
    const part = planChange(choice, view!, config!);
    await confirm(choice.url, (isConfirmed) => api.configure({ ...part, confirm: isConfirmed }));
    addRecent(choice.model);
    setOutcome(null);
    reload();
    const isNone = choice.model === NO_MODEL;
    toasts.show({ text: isNone ? words.models.noneChosen : words.models.chosen(shortenName(choice.model)) });
    onUsed?.();
  };
  const run = async (choice: Choice, act: "test" | "use", work: () => Promise<unknown>) => {
    setUnderWay({ choice, act });
    if (!isSame(outcome?.choice, choice)) setOutcome(null);
    try {
      await work();
    } catch (error) {
      toasts.fail(error);
    } finally {
      setUnderWay(null);
    }
  };
  const isKnownGood = (choice: Choice) => outcome?.isGood && isSame(outcome.choice, choice);
  return {
    underWay,
    outcome,
    test: (choice) => void run(choice, "test", () => attempt(choice)),
    use: (choice) =>
      void run(choice, "use", async () => (isKnownGood(choice) || (await attempt(choice))) && save(choice)),
    keep: (choice) => void run(choice, "use", () => save(choice)),
  };
}
