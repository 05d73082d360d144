import { useEffect, useState } from "react";
import { api } from "../api";
import { capitalise } from "../format";
import { useI18n } from "../i18n";
import { ExplanationText, Icon } from "../ui";
import { useLoaded } from "../useLoaded";
import { describeTiming } from "./describeTiming";

const PAUSE_MS = 250;

/** The next times of what is being written, or why there are none. */
export function Times({ timing, zone }: { timing: string; zone: string }) {
  const { words, language, format } = useI18n();
  const own = words.schedules.form;
  const asked = usePaused(timing.trim(), zone);
  const { value, problem, isLoading } = useLoaded(
    async (signal) => ({ of: asked, times: asked.timing ? await api.getTimes(asked.timing, asked.zone, signal) : [] }),
    [asked],
  );
  const { of, times } = (!problem && value) || { of: asked, times: [] };
  const isPast = value?.of === of && of.timing !== "" && !times.length;
  const isWrong = problem !== null || isPast;
  return (
    <aside className="schedule-times" aria-label={own.times} aria-busy={isLoading}>
      <h3>{own.times}</h3>
      <p role="status" className={isWrong ? "schedule-no-time" : undefined}>
        {isWrong && <Icon name="alert" />}
        <span>
          {problem && <ExplanationText {...own.noTime(capitalise(problem.message))} />}
          {!problem &&
            (isPast ? own.past : describeTiming(of.timing, of.zone, words.schedules.timing, language) || own.noTimes)}
        </span>
      </p>
      <ol role="list">
        {times.map((time) => (
          <li key={time}>
            <time dateTime={time}>{format.due(time, of.zone)}</time>
            <span>{format.until(time, of.zone)}</span>
          </li>
        ))}
      </ol>
    </aside>
  );
}

/** Return what was written once the writing pauses. */
function usePaused(timing: string, zone: string): { timing: string; zone: string } {
  const [asked, setAsked] = useState({ timing, zone });
  useEffect(() => {
    if (asked.timing === timing && asked.zone === zone) return;
    const timer = setTimeout(() => setAsked({ timing, zone }), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [asked, timing, zone]);
  return asked;
}
