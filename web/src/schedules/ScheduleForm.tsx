import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { api, type Schedule, type Schedules, type Wanted } from "../api";
import { addDays } from "../calendar";
import { useWords } from "../i18n";
import { Button, Field, FieldError, Input, ProblemText, Segmented, TextArea } from "../ui";
import { askBeforeReload } from "../unsavedChanges";
import type { ResultKind, ResultPlace } from "./resultPlaces";
import { getName } from "./ScheduleCard";
import { EMPTY, findMissing, makeDraft, pickChanges, readDraft, type ScheduleDraft } from "./scheduleDraft";
import { Times } from "./Times";

/** A new schedule that was begun and not finished: whoever looks elsewhere finds it again. */
let unfinished: Wanted | null = null;

askBeforeReload(hasBegunSchedule);

/** Begin a new schedule with this. */
export function beginSchedule(wanted: Wanted): void {
  unfinished = wanted;
}

/** Whether a new schedule was begun and not finished. */
export function hasBegunSchedule(): boolean {
  return unfinished !== null;
}

interface ScheduleFormProps {
  known: Schedules;
  /** What is edited; without it a new one is made. */
  schedule?: Schedule;
  onCancel: () => void;
  onSaved: (schedule: Schedule) => void;
}

/** Says what to ask and when; the next times are shown while that is written. */
export function ScheduleForm({ known, schedule, onCancel, onSaved }: ScheduleFormProps) {
  const words = useWords();
  const own = words.schedules.form;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const first = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useState(() => makeDraft(schedule ?? unfinished ?? EMPTY));
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const zone = draft.timezone.trim() || known.timezone;

  useEffect(() => {
    first.current?.focus();
  }, []);

  const change = (part: Partial<ScheduleDraft>) => {
    const next = { ...draft, ...part };
    setDraft(next);
    setError(null);
    if (!schedule) unfinished = readDraft(next, next.timezone);
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (isSaving) return;
    const lacking = findMissing(draft);
    if (lacking) return setError(own[lacking]);
    setSaving(true);
    try {
      const wanted = readDraft(draft, zone);
      const saving = schedule
        ? api.changeSchedule(schedule.id, pickChanges(schedule, wanted))
        : api.addSchedule(wanted);
      const saved = await saving;
      if (!schedule) unfinished = null;
      onSaved(saved);
    } catch (problem) {
      setError(<ProblemText problem={problem} />);
      setSaving(false);
    }
  };
  const cancel = () => {
    if (!schedule) unfinished = null;
    onCancel();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit();
  };
  return (
    <form ref={form} className="card schedule-form" aria-labelledby={id} onSubmit={(event) => void save(event)}>
      <h2 id={id}>{schedule ? own.editTitle(getName(schedule)) : own.addTitle}</h2>
      <Field label={own.prompt}>
        {(ids) => (
          <TextArea
            {...ids}
            ref={first}
            rows={2}
            placeholder={own.promptHint}
            value={draft.prompt}
            onKeyDown={onKeyDown}
            onChange={(event) => change({ prompt: event.target.value })}
          />
        )}
      </Field>
      <TimingField timing={draft.timing} onChange={(timing) => change({ timing })} />
      <Times timing={draft.timing} zone={zone} />
      <Field label={own.zone} hint={own.zoneHint(known.timezone)}>
        {(ids) => (
          <Zone
            ids={ids}
            value={draft.timezone}
            placeholder={known.timezone}
            onChange={(timezone) => change({ timezone })}
          />
        )}
      </Field>
      <ResultPlaceField place={draft.place} hasSlack={known.channels} onChange={(place) => change({ place })} />
      <Field label={own.name} hint={own.nameHint}>
        {(ids) => (
          <Input
            {...ids}
            autoComplete="off"
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <div className="schedule-form-end">
        {error !== null && <FieldError>{error}</FieldError>}
        <Button tone="quiet" disabled={isSaving} onClick={cancel}>
          {words.common.cancel}
        </Button>
        <Button tone="primary" type="submit" busy={isSaving}>
          {schedule ? words.common.save : own.create}
        </Button>
      </div>
    </form>
  );
}

function TimingField({ timing, onChange }: { timing: string; onChange: (timing: string) => void }) {
  const words = useWords().schedules;
  const choices: [string, string][] = [...words.choices, [words.once, tomorrow()]];
  return (
    <div className="schedule-timing">
      <Field label={words.form.timing} hint={words.form.timingHint}>
        {(ids) => (
          <Input
            {...ids}
            className="schedule-cron"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={timing}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      <div className="schedule-choices" role="group" aria-label={words.form.examples}>
        {choices.map(([label, its]) => (
          <button key={label} type="button" aria-pressed={its === timing} onClick={() => onChange(its)}>
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Return tomorrow at nine, to be corrected. */
function tomorrow(): string {
  return `${addDays(new Date(), 1)} 09:00`;
}

interface ZoneProps {
  ids: object;
  value: string;
  placeholder: string;
  onChange: (zone: string) => void;
}

function Zone({ ids, value, placeholder, onChange }: ZoneProps) {
  const list = useId();
  const [zones] = useState(() => ["UTC", ...Intl.supportedValuesOf("timeZone")]);
  return (
    <>
      <Input
        {...ids}
        list={list}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}

interface ResultPlaceFieldProps {
  place: ResultPlace;
  hasSlack: boolean;
  onChange: (place: ResultPlace) => void;
}

function ResultPlaceField({ place, hasSlack, onChange }: ResultPlaceFieldProps) {
  const words = useWords().schedules.form;
  const kinds: ResultKind[] = ["log", "slack", "file"];
  const isSlack = place.kind === "slack";
  const channelHint = hasSlack ? words.channelHint : words.channelHintWithoutSlack;
  return (
    <div className="schedule-place">
      <span className="field-label" aria-hidden="true">
        {words.place}
      </span>
      <Segmented
        label={words.place}
        choices={kinds.map((value) => ({ value, label: words[value] }))}
        value={place.kind}
        onChange={(kind) => onChange({ kind, name: "" })}
      />
      {place.kind === "log" ? (
        <p className="field-hint">{words.logHint}</p>
      ) : (
        <Field
          label={isSlack ? words.channel : words.fileName}
          hint={isSlack ? channelHint : words.fileHint}
        >
          {(ids) => (
            <Input
              {...ids}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              value={place.name}
              onChange={(event) => onChange({ ...place, name: event.target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
