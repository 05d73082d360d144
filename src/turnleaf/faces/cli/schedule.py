"""`schedule`: prompts that run on a schedule."""

from __future__ import annotations

import shlex
import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

from turnleaf.core.schedules import mark_if_interrupted, to_json
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, pass_workspace, take_text
from turnleaf.faces.cli.output import (
    flatten,
    label,
    localize,
    mention_wait,
    note,
    say,
    say_json,
    say_result,
    show_table,
)
from turnleaf.faces.cli.sessions import talk
from turnleaf.faces.outbound import deliveries
from turnleaf.faces.processes import stop_on
from turnleaf.scheduling import DELIVERY_NEEDS, Runner
from turnleaf.store.schedules import describe_timing, find_local_zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.schedules import Schedule

NOTHING_YET = (
    "There are no schedules yet."
    " Try: turnleaf schedule add --when '0 8 * * *' 'What should I know today?'"
)
WHO_RUNS_IT = "schedules run only while turnleaf serve or turnleaf slack is running"

zone_option = click.option(
    "--zone", metavar="ZONE", type=TEXT, help="Time zone, such as Asia/Taipei."
)
to_option = click.option(
    "--to", metavar="PLACE", type=TEXT, help="Deliver results to log, file:NAME or slack:CHANNEL."
)
name_option = click.option("--name", metavar="NAME", type=TEXT, help="Name of the schedule.")
id_argument = click.argument("wanted", metavar="ID", type=TEXT)


@click.group(invoke_without_command=True)
@click.pass_context
def schedule(ctx: click.Context) -> None:
    """Run a prompt on a schedule.

    TIMING is a cron expression (minute, hour, day, month, weekday; 0 and 7 are Sunday), an
    interval, or a date and time. turnleaf serve and turnleaf slack run what is due.

    \b
    turnleaf schedule add --when '0 8 * * 1-5' 'What should I know today?'
    turnleaf schedule add --when 'every 2h' --to file:news.md 'What is new?'
    turnleaf schedule add --when '2026-12-24 18:00' '提醒我打電話給媽媽'
    """  # noqa: D301 - click's mark for lines that stay as they are
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())


@schedule.command()
@click.argument("words", metavar="PROMPT...", nargs=-1, type=TEXT)
@click.option("--when", metavar="TIMING", required=True, type=TEXT, help="When to run it.")
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
    """Add a schedule that runs PROMPT."""
    made = workspace.stores.schedules.add(
        take_text(words), when, zone=zone, name=name, deliver="log" if to is None else to
    )
    _report("added", made, as_json=as_json)
    note(WHO_RUNS_IT)
    _mention_lack(workspace, made)


@schedule.command("list")
@as_json
@pass_workspace
def list_(workspace: Workspace, *, as_json: bool) -> None:
    """List the schedules with their next and last runs."""
    known = workspace.stores.schedules.get_all()
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
    """Show a schedule and its runs, newest first."""
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
        say(f"  {label(title, 9)}{flatten(value)}")
    _show_runs(one)


@schedule.command()
@id_argument
@click.argument("words", metavar="[PROMPT]...", nargs=-1, type=TEXT)
@click.option("--when", metavar="TIMING", type=TEXT, help="When to run it.")
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
    """Change parts of a schedule; --name '' removes its name."""
    if not words and {when, zone, name, to} == {None}:
        message = "nothing to change; add a PROMPT, --when, --zone, --name or --to"
        raise InvalidInput(message)
    changed = workspace.stores.schedules.update(
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
    """Pause a schedule until it is resumed."""
    paused = workspace.stores.schedules.pause(_find(workspace, wanted).id)
    _report("paused", paused, as_json=as_json)


@schedule.command()
@id_argument
@as_json
@pass_workspace
def resume(workspace: Workspace, wanted: str, *, as_json: bool) -> None:
    """Resume a paused schedule. Missed runs are skipped."""
    resumed = workspace.stores.schedules.resume(_find(workspace, wanted).id)
    _report("resumed", resumed, as_json=as_json)


@schedule.command()
@id_argument
@pass_workspace
def run(workspace: Workspace, wanted: str) -> None:
    """Run a schedule now, deliver the result, and print it."""
    one = _find(workspace, wanted)
    with talk(workspace, flush=False) as assistant, mention_wait("running …"):
        runner = Runner(assistant, deliveries(workspace.settings))
        with stop_on([signal.SIGTERM], lambda: runner.stop(0)):
            say(runner.run(one.id))


@schedule.command()
@id_argument
@as_json
@pass_workspace
def remove(workspace: Workspace, wanted: str, *, as_json: bool) -> None:
    """Remove a schedule, and print the command that adds it again.

    Its results and its conversation are kept.
    """
    gone = workspace.stores.schedules.remove(_find(workspace, wanted).id)
    say_result(to_json(gone), f"removed {gone.id}: {flatten(gone.prompt)}", as_json=as_json)
    note(f"add it again with: {_make_command(gone)}")


def _find(workspace: Workspace, wanted: str) -> Schedule:
    """Return the schedule with this ID, beginning of an ID, or name."""
    known = workspace.stores.schedules.get_all()
    exact = [one for one in known if one.id == wanted]
    found = exact or [
        one for one in known if wanted and (one.id.startswith(wanted) or one.name == wanted)
    ]
    if not found:
        message = (
            f'no schedule has the ID or name "{flatten(wanted):.80}";'
            " list them with turnleaf schedule list"
        )
        raise NotFound(message)
    if len(found) > 1:
        message = f'{len(found)} schedules match "{flatten(wanted)}"; type the ID of one'
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
    """Write a note if something is missing for results to arrive."""
    if one.kind in DELIVERY_NEEDS and one.kind not in deliveries(workspace.settings):
        note(f"to deliver results to {one.kind}, that program needs {DELIVERY_NEEDS[one.kind]}")


def _describe_timing(one: Schedule) -> str:
    return localize(describe_timing(one.timing, one.zone))


def _describe_next(one: Schedule, *, is_zone_named: bool = False) -> str:
    if one.is_paused:
        return localize("paused")
    if one.next_due is None:
        return localize("never")
    is_late = one.next_due < datetime.now(UTC)
    time = _format_time(one.next_due, one, is_zone_named=is_zone_named)
    return localize(f"due since {time}") if is_late else time


def _describe_last(one: Schedule) -> str:
    if not one.runs:
        return ""
    run = one.runs[-1]
    state = mark_if_interrupted(run, datetime.now(UTC)).state
    return f"{localize(state)} {_format_time(run.finished_at or run.started_at or run.due, one)}"


def _format_time(moment: datetime, one: Schedule, *, is_zone_named: bool = False) -> str:
    """Return a time in the schedule's zone, which is named if it is not this machine's."""
    try:
        local = moment.astimezone(ZoneInfo(one.zone))
    except (ValueError, OSError, LookupError):
        local = moment.astimezone()
    zone = f" {one.zone}" if is_zone_named or one.zone != find_local_zone() else ""
    return f"{local:%Y-%m-%d %H:%M}{zone}"


def _show_runs(one: Schedule) -> None:
    rows = [
        (
            run.id,
            _format_time(run.due, one),
            localize(mark_if_interrupted(run, datetime.now(UTC)).state),
            str(run.attempts),
            localize(run.error) if run.error else run.result or "",
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
