/** What is asked by the clock, when, and what came of it. */

import { type RefObject, useEffect, useReducer, useRef, useState } from "react";
import { api, type Schedule, type Schedules } from "../api";
import { useI18n, useWords } from "../i18n";
import { useRoute } from "../route";
import { useServerEvent } from "../serverEvents";
import { Button, EmptyState, PageHead, ProblemNotice, Skeleton, useToasts } from "../ui";
import { type LoadedValue, useLoaded } from "../useLoaded";
import { describeTiming } from "./describeTiming";
import { getName, getTitleId, ScheduleCard } from "./ScheduleCard";
import { beginSchedule, hasBegunSchedule, ScheduleForm } from "./ScheduleForm";
import "./schedules.css";

const NEW = "new";
const ADD = "add-schedule";
const LOOK_MS = 30_000;

export default function SchedulesPage() {
  const words = useWords().schedules;
  const loaded = useLoaded((signal) => api.getSchedules(signal), []);
  const [edited, setEdited] = useState<string | null>(hasBegunSchedule() ? NEW : null);
  const focusOn = useFocus();
  useServerEvent("schedules", loaded.reload);
  useServerEvent("hello", loaded.reload);
  useClock();

  const close = (focus: string) => {
    focusOn.current = focus;
    setEdited(null);
  };
  const { value, problem, reload } = loaded;
  const add = (
    <Button id={ADD} tone="primary" icon="plus" disabled={!value || edited === NEW} onClick={() => setEdited(NEW)}>
      {words.add}
    </Button>
  );
  return (
    <div className="page schedules">
      <PageHead title={words.title} actions={add}>
        <p>{words.intro}</p>
      </PageHead>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {!value && !problem && <Skeleton lines={8} />}
      {value && edited === NEW && (
        <ScheduleForm
          known={value}
          onCancel={() => close(ADD)}
          onSaved={(made) => {
            loaded.set({ ...value, schedules: [...value.schedules, made] });
            close(getTitleId(made.id));
          }}
        />
      )}
      {value && !value.schedules.length && edited !== NEW && <NoSchedules onTry={() => setEdited(NEW)} />}
      {value && (
        <List loaded={loaded} known={value} edited={edited} onEdit={setEdited} onClose={close} focusOn={focusOn} />
      )}
    </div>
  );
}

interface ListProps {
  loaded: LoadedValue<Schedules>;
  known: Schedules;
  edited: string | null;
  onEdit: (id: string) => void;
  onClose: (focus: string) => void;
  focusOn: RefObject<string | null>;
}

function List({ loaded, known, edited, onEdit, onClose, focusOn }: ListProps) {
  const words = useWords().schedules;
  const toasts = useToasts();
  const opened = useRoute().parts[0];
  const { schedules } = known;
  const show = (changed: Schedule[]) => loaded.set({ ...known, schedules: changed });
  const put = (changed: Schedule) => show(schedules.map((one) => (one.id === changed.id ? changed : one)));

  const remove = async (schedule: Schedule) => {
    const at = schedules.indexOf(schedule);
    const beside = schedules[at + 1] ?? schedules[at - 1];
    try {
      await api.deleteSchedule(schedule.id);
      focusOn.current = beside ? getTitleId(beside.id) : ADD;
      show(schedules.filter((one) => one !== schedule));
      const said = schedule.lastRun ? words.deletedWithRuns : words.deleted;
      toasts.show({ text: said(getName(schedule)), undo: () => addAgain(schedule).finally(loaded.reload) });
    } catch (problem) {
      toasts.fail(problem);
      loaded.reload();
    }
  };
  if (!schedules.length) return null;
  return (
    <ul role="list" className="schedule-list" aria-label={words.list}>
      {schedules.map((schedule) => (
        <li key={schedule.id}>
          {schedule.id === edited ? (
            <ScheduleForm
              known={known}
              schedule={schedule}
              onCancel={() => onClose(getTitleId(schedule.id))}
              onSaved={(changed) => {
                put(changed);
                onClose(getTitleId(schedule.id));
              }}
            />
          ) : (
            <ScheduleCard
              schedule={schedule}
              isOpen={schedule.id === opened}
              onChanged={put}
              onReload={loaded.reload}
              onEdit={() => onEdit(schedule.id)}
              onDelete={() => void remove(schedule)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

/** Bring a deleted schedule back, as a new one that is the same. */
async function addAgain({ prompt, timing, timezone, name, deliver, paused }: Schedule): Promise<void> {
  const made = await api.addSchedule({ prompt, timing, timezone, name, deliver });
  if (paused) await api.changeSchedule(made.id, { paused });
}

/** Nothing yet, and an example of what could be. */
function NoSchedules({ onTry }: { onTry: () => void }) {
  const { words, language } = useI18n();
  const { example, timing, ...own } = words.schedules;
  const tryIt = () => {
    beginSchedule({ ...example, timezone: "", deliver: "log" });
    onTry();
  };
  const first = (
    <Button icon="plus" onClick={tryIt}>
      {own.tryExample}
    </Button>
  );
  return (
    <EmptyState icon="clock" title={own.emptyTitle} actions={first}>
      <p>{own.emptyText}</p>
      <figure className="card schedule-example">
        <blockquote>{example.prompt}</blockquote>
        <figcaption>{describeTiming(example.timing, "UTC", timing, language)}</figcaption>
      </figure>
    </EmptyState>
  );
}

/** Return a place for the id of what is to have the focus once it is shown. */
function useFocus(): RefObject<string | null> {
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    const found = wanted.current && document.getElementById(wanted.current);
    if (!found) return;
    found.focus();
    wanted.current = null;
  });
  return wanted;
}

/** Show again now and then, since “in 5 minutes” does not stay true. */
function useClock(): void {
  const [, look] = useReducer((round: number) => round + 1, 0);
  useEffect(() => {
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
}
