"""Which conversation is meant: by its number in the list, its key, or how its title begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.keys import checked_key, cli_key
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.output import minute, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.store.conversations import ConversationSummary

MOST_NAMED = 10
TITLE_CHARS = 60


def find_conversation(wanted: str, known: Sequence[ConversationSummary]) -> ConversationSummary:
    """Return the conversation that is meant, of the list that `turnleaf history` shows.

    What begins several of them is refused, and those are named.
    """
    checked_key(wanted)
    found = _matches(wanted, known)
    if not found:
        message = f'there is no conversation "{one_line(wanted)}"; turnleaf history lists them'
        raise NotFound(message)
    if len(found) > 1:
        raise InvalidInput(_ask_for_more(wanted, found, known))
    return found[0]


def describe(number: int, summary: ConversationSummary) -> str:
    """Return a line that tells a conversation from the others."""
    title = one_line(summary.title)
    short = title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 1]}…"
    return f"{number:>4}  {minute(summary.updated_at)}  {short}  ({one_line(summary.key)})"


def _matches(wanted: str, known: Sequence[ConversationSummary]) -> list[ConversationSummary]:
    """Return what fits best: a key, a number, a whole title, and only then a beginning."""
    exact = [one for one in known if one.key == wanted]
    if exact:
        return exact
    # More digits than any list has would take long to read as a number.
    if wanted.isascii() and wanted.isdecimal() and len(wanted) <= len(str(len(known))):
        number = int(wanted)
        if 1 <= number <= len(known):
            return [known[number - 1]]
    title = _normalize(wanted)
    whole = [one for one in known if _normalize(one.title) == title]
    if whole:
        return whole
    keys = (wanted, cli_key(wanted))
    return [
        one for one in known if one.key.startswith(keys) or _normalize(one.title).startswith(title)
    ]


def _ask_for_more(
    wanted: str, found: Sequence[ConversationSummary], known: Sequence[ConversationSummary]
) -> str:
    numbers = {one.key: number for number, one in enumerate(known, 1)}
    lines = [describe(numbers[one.key], one) for one in found[:MOST_NAMED]]
    rest = len(found) - MOST_NAMED
    more = [f"      and {rest:,} more"] if rest > 0 else []
    head = (
        f'{len(found)} conversations begin with "{one_line(wanted)}"; give a number or more of it'
    )
    return "\n".join([f"{head}:", *lines, *more])


def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()
