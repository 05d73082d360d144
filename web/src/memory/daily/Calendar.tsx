import { useEffect, useState } from "react";
import type { Day } from "../../api";
import { getToday, listWeeks } from "../../calendar";
import { useI18n } from "../../i18n";
import { buildAddress } from "../../route";
import { IconButton } from "../../ui";

const A_SUNDAY = new Date(2023, 0, 1);

/** A month, with the days that have notes to choose from. */
export function Calendar({ days, shown }: { days: Day[]; shown: string }) {
  const { words, language, format } = useI18n();
  const own = words.memory.daily;
  const [month, setMonth] = useState(() => getMonth(shown));
  useEffect(() => setMonth(getMonth(shown)), [shown]);

  const counts = new Map(days.map((day) => [day.date, day.entries]));
  const move = (step: number) => setMonth(new Date(month.getFullYear(), month.getMonth() + step, 1));
  const title = new Intl.DateTimeFormat(language, { year: "numeric", month: "long" }).format(month);
  return (
    <div className="card calendar">
      <div className="calendar-head">
        <IconButton small icon="chevronLeft" label={own.previous} onClick={() => move(-1)} />
        <p aria-live="polite">{title}</p>
        <IconButton small icon="chevronRight" label={own.next} onClick={() => move(1)} />
      </div>
      <table>
        <thead>
          <tr>
            {listWeekdays(language, own.weekStart).map((name) => (
              <th key={name.long} scope="col" abbr={name.long}>
                {name.short}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {listWeeks(month.getFullYear(), month.getMonth(), own.weekStart).map((week, at) => (
            <tr key={at}>
              {week.map((date, weekday) => (
                <td key={date ?? weekday}>
                  {date && (
                    <DayCell
                      date={date}
                      isShown={date === shown}
                      label={
                        counts.has(date) ? own.dayWithNotes(format.date(date), own.notes(counts.get(date)!)) : null
                      }
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A day; only one with notes, and today, leads somewhere. */
function DayCell({ date, isShown, label }: { date: string; isShown: boolean; label: string | null }) {
  const { words, format } = useI18n();
  const number = Number(date.slice(-2));
  const isToday = date === getToday();
  if (label === null && !isToday) return <span className="day-cell">{number}</span>;
  return (
    <a
      className={`day-cell${label ? " day-noted" : ""}${isToday ? " day-today" : ""}`}
      href={buildAddress("memory", "daily", date)}
      aria-current={isShown ? "date" : undefined}
      aria-label={label ?? words.memory.daily.dayWithNotes(words.memory.daily.today, format.date(date))}
      title={label ?? words.memory.daily.today}
    >
      {number}
    </a>
  );
}

function getMonth(date: string): Date {
  const day = new Date(`${date}T00:00`);
  return new Date(day.getFullYear(), day.getMonth(), 1);
}

function listWeekdays(language: string, start: number): { short: string; long: string }[] {
  const short = new Intl.DateTimeFormat(language, { weekday: "narrow" });
  const long = new Intl.DateTimeFormat(language, { weekday: "long" });
  return Array.from({ length: 7 }, (_, at) => {
    const day = new Date(A_SUNDAY.getFullYear(), A_SUNDAY.getMonth(), A_SUNDAY.getDate() + start + at);
    return { short: short.format(day), long: long.format(day) };
  });
}
