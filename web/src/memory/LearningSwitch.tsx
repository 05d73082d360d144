import { useId, useState } from "react";
import { api, type Setting } from "../api";
import { useServerEvent } from "../events";
import { useWords } from "../i18n";
import { useLoaded } from "../loading";
import { to } from "../route";
import { FieldError, Icon, ProblemText, Switch } from "../ui";

interface Learning {
  isOn: boolean;
  /** Memory as a whole is in use. */
  isEnabled: boolean;
  /** The variable of the environment that fixes it. */
  lockedBy: string | null;
}

function learning(settings: Setting[]): Learning {
  const own = settings.find((setting) => setting.key === "autoExtract");
  const whole = settings.find((setting) => setting.key === "enabled");
  return { isOn: !!own?.value, isEnabled: whole?.value !== false, lockedBy: own?.locked ? own.variable : null };
}

/** Whether facts are learnt without being asked, and what that means. */
export function LearningSwitch() {
  const words = useWords().memory.learning;
  const id = useId();
  const [error, setError] = useState<unknown>(null);
  const state = useLoaded(async (signal) => learning((await api.settings(signal)).settings), []);
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
          {now ? <State now={now} /> : "\u00a0"}
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
        disabled={!now || now.lockedBy !== null}
        aria-describedby={`${id}-state`}
        onChange={(isOn) => void change(isOn)}
      />
    </div>
  );
}

function State({ now }: { now: Learning }) {
  const words = useWords().memory.learning;
  if (!now.isEnabled) {
    return (
      <>
        {words.disabled} <a href={to("settings")}>{words.settings}</a>
      </>
    );
  }
  if (now.lockedBy === null) return now.isOn ? words.on : words.off;
  return (
    <>
      <Icon name="lock" /> {now.isOn ? words.lockedOn(now.lockedBy) : words.lockedOff(now.lockedBy)}
    </>
  );
}
