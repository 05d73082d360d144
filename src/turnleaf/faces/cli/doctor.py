"""`doctor`: what was found and what is wrong with it. It looks, and changes nothing."""

from __future__ import annotations

from typing import Any

import click

from turnleaf.checkup import checkup
from turnleaf.faces.cli.arguments import as_json
from turnleaf.faces.cli.output import one_line, say, say_json
from turnleaf.faces.cli.place import Place, pass_place


@click.command()
@as_json
@pass_place
@click.pass_context
def doctor(ctx: click.Context, place: Place, *, as_json: bool) -> None:
    """Show what was found: paths, versions, limits, parts, and what is wrong.

    Nothing is created or changed. The exit code is 1 when something does not work.
    """
    found = checkup(place.folder)
    if as_json:
        say_json(found)
    else:
        _print(found)
    ctx.exit(int(any(problem["level"] == "error" for problem in found["problems"])))


def _print(found: dict[str, Any]) -> None:
    versions = found["versions"]
    say(f"turnleaf {versions['turnleaf']} on {versions['platform']}")
    say(f"Python {versions['python']}, SQLite by {versions['sqlite']}")
    folder = found["dataFolder"]
    _section("Data folder")
    say(f"  {folder['path']}")
    say(f"  {folder['why']}{'' if folder['exists'] else '; the first remember makes it'}")
    _section("Files")
    for row in found["files"]:
        say(f"  {row['name']:<15}{row['holds']}")
        say(f"  {'':<15}{row['path']}")
    _section("Settings")
    for limit in found["limits"]:
        say(f"  {limit['name']:<35}{_value(limit['value']):<12}{limit['from']}")
    _section("Parts")
    for name, state in found["parts"].items():
        say(f"  {name:<15}{state}")
    _section("Last background error")
    error = found["lastError"]
    say(f"  {one_line(': '.join(error.values())) if error else 'none'}")
    _section("Problems")
    for problem in found["problems"]:
        say(f"  {problem['level']}: {one_line(problem['message'])}")
    if not found["problems"]:
        say("  none")


def _section(title: str) -> None:
    say(f"\n{title}")


def _value(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) else one_line(str(value))
