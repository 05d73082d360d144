import { useState } from "react";
import { api, type Run, type Schedule } from "../api";
import { useI18n } from "../i18n";
import { buildAddress } from "../route";
import { useServerEvent } from "../serverEvents";
import { Badge, Button, Icon, ProblemNotice, ServerMessage, Skeleton } from "../ui";
import { Markdown } from "../ui/Markdown";
import { useLoaded } from "../useLoaded";
import { TONES } from "./ScheduleCard";

const FIRST = 5;
/** How much of a result is on record. */
const KEPT_CHARS = 2_000;

/** What a schedule's runs gave, the newest first. */
export default function Runs({ schedule }: { schedule: Schedule }) {
  const { schedules: words } = useI18n().words;
  const [isAll, setAll] = useState(false);
  const { value, problem, reload } = useLoaded((signal) => api.getRuns(schedule.id, signal), [schedule.id]);
  useServerEvent("schedules", reload);
  useServerEvent("hello", reload);
  if (!value) return problem ? <ProblemNotice problem={problem} onRetry={reload} /> : <Skeleton lines={3} />;
  return (
    <section className="runs" aria-label={words.history}>
      {!value.length && <p className="schedule-none">{words.runs.none}</p>}
      <ol role="list">
        {(isAll ? value : value.slice(0, FIRST)).map((run, at) => (
          <li key={run.id}>
            <RunView run={run} zone={schedule.timezone} isOpen={at === 0} />
          </li>
        ))}
      </ol>
      <div className="runs-foot">
        {value.length > FIRST && !isAll && (
          <Button small onClick={() => setAll(true)}>
            {words.runs.older}
          </Button>
        )}
        {value.some((run) => run.state === "done") && (
          <a href={buildAddress("chat", `schedule:${schedule.id}`)}>{words.runs.conversation}</a>
        )}
      </div>
    </section>
  );
}

function RunView({ run, zone, isOpen }: { run: Run; zone: string; isOpen: boolean }) {
  const { words, format } = useI18n();
  const own = words.schedules;
  return (
    <details className="run" open={isOpen}>
      <summary>
        <Icon name="chevronRight" />
        <Badge tone={TONES[run.state]}>{own.states[run.state]}</Badge>
        <time dateTime={run.due}>{format.due(run.due, zone)}</time>
        <span className="run-more">
          {run.startedAt && run.finishedAt && own.runs.took(format.number(countSeconds(run.startedAt, run.finishedAt)))}
          {run.attempts > 1 && ` ${own.runs.attempts(run.attempts)}`}
        </span>
      </summary>
      <div className="run-result">
        <RunOutcome run={run} />
      </div>
    </details>
  );
}

function RunOutcome({ run }: { run: Run }) {
  const { schedules: words } = useI18n().words;
  if (run.state === "missed") return <p>{words.runs.missed}</p>;
  if (run.state === "running") return <p>{words.running}</p>;
  return (
    <>
      {run.error && <p className="schedule-error"><ServerMessage text={run.error} /></p>}
      {run.result && <Markdown text={run.result} />}
      {[...(run.result ?? "")].length === KEPT_CHARS && <p className="schedule-none">{words.runs.cut}</p>}
      {!run.error && !run.result && <p>{words.runs.nothing}</p>}
    </>
  );
}

/** Count seconds, with a digit more where they are few. */
function countSeconds(from: string, to: string): number {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1_000;
  return seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds);
}
