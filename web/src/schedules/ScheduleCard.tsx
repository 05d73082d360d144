import { type ReactNode, Suspense, useState } from "react";
import { api, type RunState, type Schedule } from "../api";
import { isOwnZone, shorten } from "../format";
import { useI18n } from "../i18n";
import { LoadingView, lazyView } from "../lazyViews";
import { buildAddress, go } from "../route";
import { Badge, Button, Icon, IconButton, ServerMessage, Spinner, useToasts } from "../ui";
import { describeTiming } from "./describeTiming";
import { parsePlace } from "./resultPlaces";

const Runs = lazyView("runs", () => import("./Runs"));

const TITLE_CHARS = 80;

export const TONES: Record<RunState, "accent" | "warn" | "danger"> = {
  running: "accent",
  done: "accent",
  failed: "danger",
  interrupted: "warn",
  missed: "warn",
};

/** Name a schedule, if only by what it asks. */
export function getName({ name, prompt }: Schedule): string {
  if (name) return name;
  const line = prompt.trim().split("\n")[0]!;
  return shorten(line, TITLE_CHARS);
}

/** Return the id of the title of a schedule's card. */
export function getTitleId(id: string): string {
  return `schedule-${id}`;
}

interface ScheduleCardProps {
  schedule: Schedule;
  /** Its past runs are shown. */
  isOpen: boolean;
  onChanged: (schedule: Schedule) => void;
  onReload: () => void;
  onEdit: () => void;
  onDelete: () => void;
}

/** One schedule: what it asks and when, how it went, and what can be done with it. */
export function ScheduleCard({ schedule, isOpen, onChanged, onReload, onEdit, onDelete }: ScheduleCardProps) {
  const { words, language } = useI18n();
  const own = words.schedules;
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const title = getName(schedule);
  const id = getTitleId(schedule.id);
  const isOver = schedule.nextRun === null && !schedule.paused;

  const attempt = async (act: () => Promise<unknown>) => {
    if (isBusy) return;
    setBusy(true);
    await act().catch((problem: unknown) => {
      toasts.fail(problem);
      onReload();
    });
    setBusy(false);
  };
  const pause = () =>
    attempt(async () => onChanged(await api.changeSchedule(schedule.id, { paused: !schedule.paused })));
  const run = () =>
    schedule.running ||
    attempt(async () => {
      await api.runSchedule(schedule.id);
      onReload();
      toasts.show({ text: own.begun(title) });
      open(true);
    });
  const open = (isWanted: boolean) =>
    go(isWanted ? buildAddress("schedules", schedule.id) : buildAddress("schedules"), { replace: true });
  return (
    <article className={`card schedule${schedule.paused ? " is-paused" : ""}`} aria-labelledby={id}>
      <header className="schedule-head">
        <div>
          <h2 id={id} tabIndex={-1}>
            {title}
          </h2>
          <p className="schedule-when">
            <Icon name="clock" />
            <span>
              {describeTiming(schedule.timing, schedule.timezone, own.timing, language)}{" "}
              {!isOwnZone(schedule.timezone) && <span className="schedule-zone">{schedule.timezone}</span>}
            </span>
          </p>
        </div>
        <div className="schedule-marks">
          <IconButton icon="edit" label={words.common.edit} onClick={onEdit} />
          <IconButton icon="trash" label={words.common.delete} onClick={onDelete} />
        </div>
      </header>
      {schedule.name && <p className="schedule-prompt">{schedule.prompt}</p>}
      <ScheduleDetails schedule={schedule} />
      {schedule.lastRun?.state === "failed" && schedule.lastRun.error && !isOpen && (
        <p className="schedule-error">
          <ServerMessage text={schedule.lastRun.error} />
        </p>
      )}
      <div className="schedule-actions">
        <Button small icon="play" aria-disabled={schedule.running} onClick={() => void run()}>
          {own.run}
        </Button>
        {!isOver && (
          <Button small icon={schedule.paused ? "refresh" : "pause"} onClick={() => void pause()}>
            {schedule.paused ? own.resume : own.pause}
          </Button>
        )}
        <Button
          small
          tone="quiet"
          icon={isOpen ? "chevronDown" : "chevronRight"}
          aria-expanded={isOpen}
          onClick={() => open(!isOpen)}
        >
          {own.history}
        </Button>
      </div>
      {isOpen && (
        <Suspense fallback={<LoadingView lines={3} />}>
          <Runs schedule={schedule} />
        </Suspense>
      )}
    </article>
  );
}

/** When it runs next, how it went last, and where its results go. */
function ScheduleDetails({ schedule }: { schedule: Schedule }) {
  const { words, format } = useI18n();
  const own = words.schedules;
  const { lastRun } = schedule;
  return (
    <dl className="schedule-facts">
      <Detail label={own.next}>
        <NextRun schedule={schedule} />
      </Detail>
      <Detail label={own.last}>
        {lastRun ? (
          <>
            <Badge tone={TONES[lastRun.state]}>{own.states[lastRun.state]}</Badge>
            <time className="schedule-exact" dateTime={lastRun.due} title={format.dateTime(lastRun.due)}>
              {format.ago(lastRun.startedAt ?? lastRun.due)}
            </time>
          </>
        ) : (
          <span className="schedule-none">{own.neverRan}</span>
        )}
      </Detail>
      <Detail label={own.result}>
        <ResultLink deliver={schedule.deliver} />
      </Detail>
    </dl>
  );
}

function Detail({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function NextRun({ schedule: { running, paused, nextRun, timezone } }: { schedule: Schedule }) {
  const { words, format } = useI18n();
  const own = words.schedules;
  if (running) {
    return (
      <>
        <Spinner /> {own.running}
      </>
    );
  }
  if (paused) return <Badge tone="warn">{own.paused}</Badge>;
  if (nextRun === null) return <span className="schedule-none">{own.never}</span>;
  return (
    <>
      {format.until(nextRun, timezone)}
      <time className="schedule-exact" dateTime={nextRun}>
        {format.due(nextRun, timezone)}
      </time>
    </>
  );
}

function ResultLink({ deliver }: { deliver: string }) {
  const { places } = useI18n().words.schedules;
  const { kind, name } = parsePlace(deliver);
  if (kind === "slack") return places.slack(name);
  if (kind === "file") return places.file(name);
  return <a href={buildAddress("memory", "daily")}>{places.log}</a>;
}
