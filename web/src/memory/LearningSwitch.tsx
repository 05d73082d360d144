import { useId, useState } from "react";
import { api, type Setting } from "../api";
import { useWords } from "../i18n";
import { buildAddress } from "../route";
import { useServerEvent } from "../serverEvents";
import { FieldError, Icon, ProblemText, Switch } from "../ui";
import { useLoaded } from "../useLoaded";

interface LearningState {
  isOn: boolean;
  /** Memory as a whole is in use. */
  isEnabled: boolean;
  isLocked: boolean;
}

function readLearning(settings: Setting[]): LearningState {
  const own = settings.find((setting) => setting.key === "autoExtract");
  const whole = settings.find((setting) => setting.key === "enabled");
  return { isOn: !!own?.value, isEnabled: whole?.value !== false, isLocked: own?.locked ?? false };
}

/** Whether facts are learned from conversations, and what that means. */
export function LearningSwitch() {
  const words = useWords().memory.learning;
  const id = useId();
  const [error, setError] = useState<unknown>(null);
  const state = useLoaded(async (signal) => readLearning((await api.getSettings(signal)).settings), []);
  useServerEvent("settings", state.reload);
  useServerEvent("hello", state.reload);

  const now = state.value;
  const change = async (isOn: boolean) => {
    if (!now) return;
    state.set({ ...now, isOn });
    setError(null);
    try {
      await api.configure({ autoExtract: isOn });
    } catch (problem) {
      state.set(now);
      setError(problem);
    }
  };
  const failed = error ?? state.problem;
  return (
    <div className="learning">
      <div className="learning-words">
        <label htmlFor={id}>{words.label}</label>
        <p id={`${id}-state`} aria-live="polite">
          {now ? <LearningNote now={now} /> : failed === null && "\u00a0"}
        </p>
        {failed !== null && (
          <FieldError>
            <ProblemText problem={failed} />
          </FieldError>
        )}
      </div>
      <Switch
        id={id}
        checked={now?.isOn ?? false}
        disabled={!now || now.isLocked}
        aria-describedby={`${id}-state`}
        onChange={(isOn) => void change(isOn)}
      />
    </div>
  );
}

function LearningNote({ now }: { now: LearningState }) {
  const words = useWords().memory.learning;
  if (!now.isEnabled) {
    return (
      <>
        {words.disabled} <a href={buildAddress("settings")}>{words.settings}</a>
      </>
    );
  }
  if (!now.isLocked) return now.isOn ? words.on : words.off;
  return (
    <>
      <Icon name="lock" /> {now.isOn ? words.lockedOn : words.lockedOff}
    </>
  );
}
