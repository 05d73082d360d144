import { useWords } from "../i18n";
import { Button, Icon } from "../ui";
import "./models.css";
import { type Choice, shortenName } from "./modelChoices";
import { isSame, type Trial } from "./useTrial";

/** How the test of a model goes: it is being asked, it answered, or what to do. */
export function OutcomeText({ trial, choice }: { trial: Trial; choice: Choice }) {
  const words = useWords().models;
  const isBusy = isSame(trial.underWay?.choice, choice);
  const outcome = isSame(trial.outcome?.choice, choice) ? trial.outcome : null;
  return (
    <div className="models-outcome" role="status">
      {isBusy && <p className="models-waiting">{words.asking(shortenName(choice.model))}</p>}
      {!isBusy && outcome && (
        <p className={outcome.isGood ? "models-good" : "models-bad"}>
          <Icon name={outcome.isGood ? "check" : "alert"} />
          <span>{outcome.text}</span>
          {!outcome.isGood && (
            <Button small tone="quiet" onClick={() => trial.keep(choice)}>
              {words.useAnyway}
            </Button>
          )}
        </p>
      )}
    </div>
  );
}
