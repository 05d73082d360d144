"""`doctor`: check the installation and report problems. It changes nothing."""

from __future__ import annotations

from typing import Any

import click

from turnleaf.doctor_report import make_doctor_report
from turnleaf.faces.cli.arguments import Workspace, as_json, pass_workspace
from turnleaf.faces.cli.output import flatten, format_value, localize, say, say_json
from turnleaf.faces.cli.terminal import label
from turnleaf.store.opening import open_to_examine


@click.command()
@as_json
@pass_workspace
@click.pass_context
def doctor(ctx: click.Context, workspace: Workspace, *, as_json: bool) -> None:
    """Check paths, versions, settings and components, and report problems.

    Nothing is created or changed. The exit code is 1 if something does not work.
    """
    found = make_doctor_report(*open_to_examine(workspace.data_dir, workspace.space))
    if as_json:
        say_json(found)
    else:
        _print(found)
    ctx.exit(int(any(problem["level"] == "error" for problem in found["problems"])))


def _print(found: dict[str, Any]) -> None:
    versions = found["versions"]
    say(localize(f"turnleaf {versions['turnleaf']} on {versions['platform']}"))
    say(f"Python {versions['python']}, SQLite {versions['sqlite']}")
    folder = found["dataFolder"]
    _say_heading("Data folder")
    say(f"  {folder['path']}")
    why = folder["why"] if folder["exists"] else f"{folder['why']}; it will be created when needed"
    say(f"  {localize(why)}")
    _say_heading("Files")
    for row in found["files"]:
        say(f"  {label(row['name'], 15)}{localize(row['holds'])}")
        say(f"  {'':<15}{row['path']}")
    _say_heading("Settings")
    for limit in found["limits"]:
        value = _format_limit(limit["value"])
        say(f"  {limit['name']:<35}{value:<12}{localize(limit['from'])}")
    _say_heading("Parts")
    for name, state in found["parts"].items():
        say(f"  {label(name, 15)}{localize(state)}")
    _say_heading("Last background error")
    say(f"  {_describe_error(found['lastError'])}")
    _say_heading("Problems")
    for problem in found["problems"]:
        line = f"{problem['level']}: {flatten(problem['message'])}"
        say(f"  {localize(line)}")
    if not found["problems"]:
        say(f"  {localize('none')}")


def _say_heading(name: str) -> None:
    say(f"\n{localize(name)}")


def _describe_error(error: dict[str, str] | None) -> str:
    if error is None:
        return localize("none")
    return f"{error['time']}: {error['conversation']}: {localize(flatten(error['message']))}"


def _format_limit(value: object) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_number else format_value(value)
