"""`doctor`: check the installation and report problems. It changes nothing."""

from __future__ import annotations

from typing import Any

import click

from turnleaf.doctor_report import make_doctor_report
from turnleaf.faces.cli.arguments import Workspace, as_json, pass_workspace
from turnleaf.faces.cli.output import flatten, format_value, say, say_json


@click.command()
@as_json
@pass_workspace
@click.pass_context
def doctor(ctx: click.Context, workspace: Workspace, *, as_json: bool) -> None:
    """Check paths, versions, settings and components, and report problems.

    Nothing is created or changed. The exit code is 1 if something does not work.
    """
    found = make_doctor_report(workspace.folder)
    if as_json:
        say_json(found)
    else:
        _print(found)
    ctx.exit(int(any(problem["level"] == "error" for problem in found["problems"])))


def _print(found: dict[str, Any]) -> None:
    versions = found["versions"]
    say(f"turnleaf {versions['turnleaf']} on {versions['platform']}")
    say(f"Python {versions['python']}, SQLite {versions['sqlite']}")
    folder = found["dataFolder"]
    say("\nData folder")
    say(f"  {folder['path']}")
    say(f"  {folder['why']}{'' if folder['exists'] else '; it will be created when needed'}")
    say("\nFiles")
    for row in found["files"]:
        say(f"  {row['name']:<15}{row['holds']}")
        say(f"  {'':<15}{row['path']}")
    say("\nSettings")
    for limit in found["limits"]:
        say(f"  {limit['name']:<35}{_format_limit(limit['value']):<12}{limit['from']}")
    say("\nParts")
    for name, state in found["parts"].items():
        say(f"  {name:<15}{state}")
    say("\nLast background error")
    error = found["lastError"]
    say(f"  {flatten(': '.join(error.values())) if error else 'none'}")
    say("\nProblems")
    for problem in found["problems"]:
        say(f"  {problem['level']}: {flatten(problem['message'])}")
    if not found["problems"]:
        say("  none")


def _format_limit(value: object) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_number else format_value(value)
