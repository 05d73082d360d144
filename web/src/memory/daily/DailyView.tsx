/** Notes of the day, by date. */

import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { api, type Day, type DayLog } from "../../api";
import { addDays, getToday, isDay } from "../../calendar";
import { useFormat, useWords } from "../../i18n";
import { buildAddress, useRoute } from "../../route";
import { useServerEvent } from "../../serverEvents";
import { Button, EmptyState, Field, ProblemNotice, ProblemText, Skeleton, TextArea } from "../../ui";
import { isComposing } from "../../ui/keyboard";
import { Markdown } from "../../ui/Markdown";
import { useLoaded } from "../../useLoaded";
import { Calendar } from "./Calendar";
import { NoteRow } from "./NoteRow";
import { type EditedNote, hasOnlyNotes, keepEdited, removeTitle } from "./noteText";
import "./daily.css";

export default function DailyView() {
  const wanted = useRoute().parts[1];
  const days = useLoaded(async (signal) => (await api.getDays(signal)).days, []);
  useServerEvent("daily", days.reload);
  useServerEvent("hello", days.reload);
  const chosen = wanted && isDay(wanted) ? wanted : null;
  const shown = chosen ?? days.value?.[0]?.date ?? (days.value && getToday());
  if (!days.value && days.problem) return <ProblemNotice problem={days.problem} onRetry={days.reload} />;
  return (
    <div className="daily">
      <div className="daily-pick">
        <Calendar days={days.value ?? []} shown={shown ?? getToday()} />
        <DayList days={addToday(days.value ?? [])} shown={shown ?? ""} />
      </div>
      {shown ? <DayNotes key={shown} date={shown} onAdded={days.reload} /> : <Skeleton lines={6} />}
    </div>
  );
}

/** Today can always be chosen, since a note can always be written. */
function addToday(days: Day[]): Day[] {
  const date = getToday();
  return days.some((day) => day.date === date) ? days : [{ date, entries: 0, chars: 0 }, ...days];
}

function DayList({ days, shown }: { days: Day[]; shown: string }) {
  const words = useWords().memory.daily;
  const name = useDayName();
  return (
    <nav className="day-list" aria-label={words.days}>
      <ul role="list">
        {days.map((day) => (
          <li key={day.date}>
            <a href={buildAddress("memory", "daily", day.date)} aria-current={day.date === shown ? "date" : undefined}>
              <span>{name(day.date)}</span>
              {day.entries > 0 && <span className="day-count">{words.notes(day.entries)}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function useDayName(): (date: string) => string {
  const words = useWords().memory.daily;
  const format = useFormat();
  const yesterday = addDays(new Date(), -1);
  return (date) => {
    if (date === getToday()) return words.today;
    return date === yesterday ? words.yesterday : format.date(date);
  };
}

function DayNotes({ date, onAdded }: { date: string; onAdded: () => void }) {
  const words = useWords().memory.daily;
  const format = useFormat();
  const name = useDayName()(date);
  const note = useLoaded((signal) => api.getDay(date, signal), [date]);
  const [edited, setEdited] = useState<EditedNote | null>(null);
  const isToday = date === getToday();
  // Somebody else may have deleted the whole day while one of its notes is edited.
  const isEmpty = note.value && !note.value.exists && !edited;
  useServerEvent("hello", note.reload);
  useServerEvent("daily", note.reload);
  return (
    <section className="day" aria-label={format.date(date)}>
      <header className="day-head">
        <h2>{name}</h2>
        {name !== format.date(date) && <p>{format.date(date)}</p>}
      </header>
      {isToday && (
        <AddNote
          onAdded={() => {
            note.reload();
            onAdded();
          }}
        />
      )}
      {note.problem && <ProblemNotice problem={note.problem} onRetry={note.reload} />}
      {!note.value && !note.problem && <Skeleton lines={5} />}
      {note.value && !isEmpty && (
        <Notes
          date={date}
          note={note.value}
          edited={edited}
          onEdit={setEdited}
          onChanged={() => {
            note.reload();
            onAdded();
          }}
        />
      )}
      {isEmpty && (
        <EmptyState icon="calendar" title={words.emptyTitle}>
          <p>{isToday ? words.emptyToday : words.empty}</p>
        </EmptyState>
      )}
    </section>
  );
}

interface NotesProps {
  date: string;
  note: DayLog;
  edited: EditedNote | null;
  onEdit: (edited: EditedNote | null) => void;
  onChanged: () => void;
}

/** The notes of a day, each of which can be changed; what else somebody wrote there stands above them. */
function Notes({ date, note, edited, onEdit, onChanged }: NotesProps) {
  const words = useWords().memory.daily;
  const text = removeTitle(note.content, date);
  const shown = keepEdited(note.entries, edited);
  const rows = (
    <ul role="list" className="card note-list" aria-label={words.list}>
      {shown.entries.map((entry, at) => (
        <NoteRow
          key={at === shown.at ? "edited" : `${at} ${entry}`}
          date={date}
          entry={entry}
          isEditing={at === shown.at}
          onEdit={() => onEdit({ at, entry })}
          onStop={() => onEdit(null)}
          onChanged={onChanged}
        />
      ))}
    </ul>
  );
  if (hasOnlyNotes(text)) return rows;
  return (
    <>
      <div className="card day-notes">
        <Markdown text={text} />
      </div>
      {note.entries.length > 0 && (
        <details className="note-details">
          <summary>{words.editAll}</summary>
          {rows}
        </details>
      )}
    </>
  );
}

function AddNote({ onAdded }: { onAdded: () => void }) {
  const words = useWords().memory.daily;
  const [entry, setEntry] = useState("");
  const [isAdding, setAdding] = useState(false);
  const [error, setError] = useState<ReactNode>(null);

  const add = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!entry.trim() || isAdding) return;
    setAdding(true);
    try {
      await api.addNote(getToday(), entry.trim());
      setEntry((now) => (now === entry ? "" : now));
      setError(null);
      onAdded();
    } catch (problem) {
      setError(<ProblemText problem={problem} />);
    } finally {
      setAdding(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    void add();
  };
  return (
    <form className="add-note" onSubmit={(event) => void add(event)}>
      <Field label={words.label} hideLabel error={error}>
        {(ids) => (
          <TextArea
            {...ids}
            rows={1}
            placeholder={words.placeholder}
            value={entry}
            onKeyDown={onKeyDown}
            onChange={(event) => setEntry(event.target.value)}
          />
        )}
      </Field>
      <Button tone="primary" type="submit" icon="plus" busy={isAdding} disabled={!entry.trim()}>
        {words.add}
      </Button>
    </form>
  );
}
