"""The small note under an answer: what was learnt, each with a button that takes it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages.replies import choose_words
from turnleaf.errors import Conflict, NotFound
from turnleaf.faces.slack.writing import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from turnleaf.assistant import Learnt
    from turnleaf.core.changes import Change
    from turnleaf.store.memories import MemoryStore

UNDO = "turnleaf_undo"
MOST_FACTS = 10
SHOWN_CHARS = 300
IN_A_TURN = ("request", "tool")
"""The origins of what a turn saves, removes or changes by itself."""
ACTIONS = ("add", "update", "delete", "revive")


@dataclass(frozen=True, slots=True)
class Line:
    """One fact of a note; `change` is what its button takes back, `before` what it replaced."""

    kind: str
    content: str
    change: str | None = None
    before: str = ""

    @property
    def text(self) -> str:
        """The line as people read it."""
        told = words(self.content)[self.kind]
        return told.format(_short(self.content), _short(self.before))


def words(text: str) -> Mapping[str, str]:
    """Return what we say, in the language of a text."""
    return choose_words(text, "slack_notes")


def of_turn(changes: Iterable[Change], key: str, started: datetime) -> list[Line]:
    """Give the lines for what was changed in a turn, at the user's request or by a tool."""
    return [
        _line(one)
        for one in changes
        if one.origin in IN_A_TURN and one.op in ACTIONS
        if one.time >= started and _conversation(one) == key
    ]


def of_learnt(
    learnt: Sequence[Learnt], changes: Sequence[Change], pending: Sequence[Change]
) -> dict[str, list[Line]]:
    """Give the lines for what was learnt in the background, by conversation."""
    found: dict[str, list[Line]] = {}
    for one in learnt:
        is_waiting = one.action == "waiting"
        made = _made(one.memory.id, pending if is_waiting else changes)
        if made is not None:
            line = Line("waiting", one.memory.content) if is_waiting else _line(made)
            found.setdefault(_conversation(made) or "", []).append(line)
    return found


def blocks(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Give a note in the form that Slack shows."""
    shown = [_block(line) for line in lines[:MOST_FACTS]]
    left = len(lines) - MOST_FACTS
    if left > 0:
        shown.append(_section(words(lines[0].content)["more"].format(left)))
    return shown


def fallback(lines: Sequence[Line]) -> str:
    """Give a note for where blocks are not shown."""
    return literal("\n".join(line.text for line in lines[:MOST_FACTS]))


def take_back(memory: MemoryStore, value: str) -> str:
    """Take back the change that a button names, and say what came of it."""
    number, _, memory_id = value.partition(":")
    made = [one for one in memory.changes(memory_id) if str(one.n) == number]
    if not made:
        return Line("gone", memory_id).text
    content = _line(made[0]).content
    try:
        memory.undo(made[0].n)
    except NotFound:
        return Line("gone", content).text
    except Conflict:
        return Line("changed", content).text
    return Line("undone", content).text


def pressed(shown: Sequence[dict[str, Any]], block: str, text: str) -> list[dict[str, Any]]:
    """Give a note in which the line whose button was pressed says what came of it."""
    return [_section(text) if one.get("block_id") == block else one for one in shown]


def _made(memory_id: str, history: Sequence[Change]) -> Change | None:
    """Find the change by which a fact was learnt; it may have been taken back since."""
    about = (one for one in reversed(history) if one.op in ACTIONS and one.concerns(memory_id))
    return next((one for one in about if _conversation(one)), None)


def _line(change: Change) -> Line:
    fact = change.after or change.before
    return Line(
        "add" if change.op == "revive" else change.op,
        fact.content if fact else change.id,
        f"{change.n}:{change.id}",
        change.before.content if change.before else "",
    )


def _conversation(change: Change) -> str | None:
    return change.source.conversation if change.source else None


def _block(line: Line) -> dict[str, Any]:
    shown = _section(line.text)
    if line.change is None:
        return shown
    label = {"type": "plain_text", "text": words(line.content)["undo"]}
    button = {"type": "button", "action_id": UNDO, "value": line.change, "text": label}
    return {**shown, "block_id": f"change-{line.change}", "accessory": button}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"
