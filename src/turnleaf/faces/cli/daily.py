"""`log` and `today`."""

from __future__ import annotations

from datetime import datetime

import click

from turnleaf.errors import NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json, given_text
from turnleaf.faces.cli.output import note, say, say_json
from turnleaf.faces.cli.place import Place, pass_place


@click.command()
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@pass_place
def log(place: Place, words: tuple[str, ...]) -> None:
    """Add TEXT to today's log.

    Without TEXT, or with -, the entry is what is piped in.
    """
    place.daily.append(given_text(words))
    say("logged; turnleaf today shows the day")


@click.command()
@click.option("--date", "day", type=TEXT, metavar="YYYY-MM-DD", help="Show another day's log.")
@as_json
@pass_place
def today(place: Place, day: str | None, *, as_json: bool) -> None:
    """Show today's log."""
    shown = day or datetime.now().astimezone().date().isoformat()
    text = place.daily.read(shown)
    if as_json:
        say_json({"date": shown, "text": text})
    elif text:
        say(text.rstrip("\n"))
    if day and not text:
        message = f"nothing was logged on {day}"
        raise NotFound(message)
    if not text:
        note('Nothing is logged today. Try: turnleaf log "Watered the plants"')
