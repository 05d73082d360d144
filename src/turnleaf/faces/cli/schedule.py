"""`schedule`: what is asked by the clock."""

from __future__ import annotations

import shlex
import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from turnleaf.core.schedules import as_of_now, to_json
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, pass_workspace, take_text
from turnleaf.faces.cli.output import flatten, note, say, say_json, say_result
from turnleaf.faces.cli.talking import talk
from turnleaf.faces.cli.terminal import mention_wait, show_table
from turnleaf.faces.outside import deliveries
from turnleaf.faces.processes import stop_on
from turnleaf.scheduling import TAKES, Runner
from turnleaf.store.timing import in_words, local_zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.schedules import Schedule

NOTHING_YET = (
    "Nothing is asked by the clock yet."
    " Try: turnleaf schedule add --when '0 8 * * *' 'What should I know today?'"
)
WHO_RUNS_IT = "turnleaf serve or turnleaf slack must be running at that time"

zone_option = click.option(
    "--zone", metavar="ZONE", type=TEXT, help="The time zone, such as Asia/Taipei."
)
to_option = click.option(
    "--to", metavar="PLACE", type=TEXT, help="Where results go: log, file:NAME or slack:CHANNEL."
)
name_option = click.option("--name", metavar="NAME", type=TEXT, help="What to call it.")
id_argument = click.argument("wanted", metavar="ID", type=TEXT)


@click.group(invoke_without_command=True)
@click.pass_context
def schedule(ctx: click.Context) -> None:
    """Have the assistant asked something by the clock.

    TIMING is cron (minute, hour, day, month, day of the week; 0 and 7 are Sunday), an interval
    or one moment. turnleaf serve and turnleaf slack run what is due.

    \b
    turnleaf schedule add --when '0 8 * * 1-5' 'What should I know today?'
    turnleaf schedule add --when 'every 2h' --to file:news.md 'What is new?'
    turnleaf schedule add --when '2026-12-24 18:00' '提醒我打電話給媽媽'
    """  # noqa: D301 - click's mark for lines that stay as they are
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())


@schedule.command()
@click.argument("words", metavar="PROMPT...", nargs=-1, type=TEXT)
@click.option("--when", metavar="TIMING", required=True, type=TEXT, help="When to ask it.")
@zone_option
@name_option
@to_option
@as_json
@pass_workspace
def add(
    workspace: Workspace,
    words: tuple[str, ...],
    when: str,
    zone: str | None,
    name: str | None,
    to: str | None,
    *,
    as_json: bool,
) -> None:
    """Have PROMPT asked at the times that --when names."""
    made = workspace.schedules.add(
        take_text(words), when, zone=zone, name=name, deliver="log" if to is None else to
    )
    _report("added", made, as_json=as_json)
    note(WHO_RUNS_IT)
    _mention_lack(workspace, made)


@schedule.command("list")
@as_json
@pass_workspace
def list_(workspace: Workspace, *, as_json: bool) -> None:
    """List what is asked by the clock, when it is next, and how it went last."""
    known = workspace.schedules.get_all()
    if as_json:
        say_json([to_json(one) for one in known])
    elif known:
        rows = [
            (
                one.id,
                one.name or "",
                _describe_timing(one),
                _describe_next(one),
                _describe_last(one),
                one.prompt,
            )
            for one in known
        ]
        headings = ("ID", "Name", "When", "Next", "Last", "Prompt")
        show_table(headings, rows, wrapped={"Name", "When", "Last"})
    else:
        note(NOTHING_YET)


@schedule.command()
@id_argument
@as_json
@pass_workspace
def show(workspace: Workspace, wanted: str, *, as_json: bool) -> None:
    """Show a schedule and what came of its runs, the newest first."""
    one = _find(workspace, wanted)
    if as_json:
        say_json(to_json(one))
        return
    say(flatten(one.name or one.id))
    for title, value in (
        ("id", one.id),
        ("prompt", one.prompt),
        ("when", f"{_describe_timing(one)} ({one.timing}, {one.zone})"),
        ("next", _describe_next(one)),
        ("results", one.deliver),
    ):
        say(f"  {title:<9}{flatten(value)}")
    _show_runs(one)


@schedule.command()
@id_argument
@click.argument("words", metavar="[PROMPT]...", nargs=-1, type=TEXT)
@click.option("--when", metavar="TIMING", type=TEXT, help="When to ask it.")
@zone_option
@name_option
@to_option
@as_json
@pass_workspace
def edit(
    workspace: Workspace,
    wanted: str,
    words: tuple[str, ...],
    when: str | None,
    zone: str | None,
    name: str | None,
    to: str | None,
    *,
    as_json: bool,
) -> None:
    """Change what is given of a schedule; --name '' takes its name away."""
    if not words and {when, zone, name, to} == {None}:
        message = "say what is to change: a PROMPT, --when, --zone, --name or --to"
        raise InvalidInput(message)
    changed = workspace.schedules.update(
        _find(workspace, wanted).id,
        prompt=take_text(words) if words else None,
        timing=when,
        zone=zone,
        name=name,
        deliver=to,
    )
    _report("changed", changed, as_json=as_json)
    _mention_lack(workspace, changed)


@schedule.command()
@id_argument
@as_json
@pass_workspace
def pause(workspace: Workspace, wanted: str, *, as_json: bool) -> None:
    """Let a schedule rest until it is resumed."""
    _report("paused", workspace.schedules.pause(_find(workspace, wanted).id), as_json=as_json)


@schedule.command()
@id_argument
@as_json
@pass_workspace
def resume(workspace: Workspace, wanted: str, *, as_json: bool) -> None:
    """Let a schedule go on; what it missed is not made up for."""
    _report("resumed", workspace.schedules.resume(_find(workspace, wanted).id), as_json=as_json)


@schedule.command()
@id_argument
@pass_workspace
def run(workspace: Workspace, wanted: str) -> None:
    """Run a schedule now, deliver the result, and print it."""
    one = _find(workspace, wanted)
    with talk(workspace, flush=False) as assistant, mention_wait("asking …"):
        runner = Runner(assistant, deliveries(workspace.settings))
        with stop_on([signal.SIGTERM], lambda: runner.stop(0)):
            say(runner.run(one.id))


@schedule.command()
@id_argument
@as_json
@pass_workspace
def remove(workspace: Workspace, wanted: str, *, as_json: bool) -> None:
    """Remove a schedule, and say how it can be made again.

    What it said stays in the log, the files and the channels, and in its conversation.
    """
    gone = workspace.schedules.remove(_find(workspace, wanted).id)
    say_result(to_json(gone), f"removed {gone.id}: {flatten(gone.prompt)}", as_json=as_json)
    note(f"this makes it again: {_make_command(gone)}")


def _find(workspace: Workspace, wanted: str) -> Schedule:
    """Return the schedule that was meant: by its id, the beginning of it, or its name."""
    known = workspace.schedules.get_all()
    exact = [one for one in known if one.id == wanted]
    found = exact or [
        one for one in known if wanted and (one.id.startswith(wanted) or one.name == wanted)
    ]
    if not found:
        message = (
            f'no schedule has the id or the name "{flatten(wanted):.80}";'
            " see turnleaf schedule list"
        )
        raise NotFound(message)
    if len(found) > 1:
        message = f'{len(found)} schedules are meant by "{flatten(wanted)}"; give the id of one'
        raise InvalidInput(message)
    return found[0]


def _report(done: str, one: Schedule, *, as_json: bool) -> None:
    say_result(
        to_json(one),
        f"{done} {one.id}: {flatten(one.name or one.prompt)}",
        f"  {_describe_timing(one)}; next: {_describe_next(one, is_zone_named=True)}",
        as_json=as_json,
    )


def _mention_lack(workspace: Workspace, one: Schedule) -> None:
    """Say what is missing here for results to arrive."""
    if one.kind in TAKES and one.kind not in deliveries(workspace.settings):
        note(f"to bring results to {one.kind}, that program needs {TAKES[one.kind]}")


def _describe_timing(one: Schedule) -> str:
    return in_words(one.timing, one.zone)


def _describe_next(one: Schedule, *, is_zone_named: bool = False) -> str:
    if one.is_paused:
        return "paused"
    if one.next_due is None:
        return "never"
    is_late = one.next_due < datetime.now(UTC)
    time = _format_time(one.next_due, one, is_zone_named=is_zone_named)
    return f"{'due since ' if is_late else ''}{time}"


def _describe_last(one: Schedule) -> str:
    if not one.runs:
        return ""
    run = one.runs[-1]
    state = as_of_now(run, datetime.now(UTC)).state
    return f"{state} {_format_time(run.finished_at or run.started_at or run.due, one)}"


def _format_time(moment: datetime, one: Schedule, *, is_zone_named: bool = False) -> str:
    """Return a time in the schedule's zone, which is always named if it is not this machine's."""
    try:
        local = moment.astimezone(ZoneInfo(one.zone))
    except (ValueError, OSError, LookupError):
        local = moment.astimezone()
    zone = f" {one.zone}" if is_zone_named or one.zone != local_zone() else ""
    return f"{local:%Y-%m-%d %H:%M}{zone}"


def _show_runs(one: Schedule) -> None:
    rows = [
        (
            run.id,
            _format_time(run.due, one),
            as_of_now(run, datetime.now(UTC)).state,
            str(run.attempts),
            run.error or run.result or "",
        )
        for run in reversed(one.runs)
    ]
    if rows:
        say()
        show_table(("Run", "Due", "State", "Attempts", "Result"), rows)


def _make_command(one: Schedule) -> str:
    options: Sequence[str] = (
        *("--when", one.timing),
        *("--zone", one.zone),
        *(("--name", one.name) if one.name else ()),
        *(("--to", one.deliver) if one.deliver != "log" else ()),
    )
    return f"turnleaf schedule add {shlex.join((*options, '--', one.prompt))}"
