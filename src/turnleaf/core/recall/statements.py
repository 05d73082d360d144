"""What a user stated in a conversation and has not taken back or replaced since."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from turnleaf.core.learning.findings import sure_facts
from turnleaf.core.learning.requests import find_meant, find_request
from turnleaf.core.learning.slots import slots
from turnleaf.core.memories import Memory
from turnleaf.core.recall.questions import asks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.learning.requests import Request
    from turnleaf.core.messages import Message

LONG_AGO = datetime.min.replace(tzinfo=UTC)
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def find_statements(history: Sequence[Message]) -> list[Message]:
    """Return what the user stated and has not taken back or replaced since, each text once.

    A request is done, not stated.
    """
    spoken = [message for message in history if message.role == "user"]
    wishes = [find_request(message.text) for message in spoken]
    settled = [_single_slots(message.text) for message in spoken]
    found = {
        message.text: message
        for number, message in enumerate(spoken)
        if wishes[number] is None
        and not asks(message.text)
        and not any(_takes_back(wish, message.text) for wish in wishes[number + 1 :])
        and settled[number].isdisjoint(chain.from_iterable(settled[number + 1 :]))
    }
    return [*found.values()]


def _single_slots(text: str) -> set[tuple[str, str, str]]:
    """Return what a message settles that has one value at a time, such as where the user lives."""
    stated = (fact.statement for fact in sure_facts(text, _SOME_DAY))
    return {(one.slot, one.subject, one.kind) for one in stated if slots()[one.slot].single}


def _takes_back(wish: Request | None, text: str) -> bool:
    said = Memory("", text, LONG_AGO, LONG_AGO)
    return wish is not None and wish.action == "forget" and bool(find_meant(wish.content, [said]))
