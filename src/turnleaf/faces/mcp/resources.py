"""What can be read over MCP by its address: the memory, and the notes of a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.prompts import page_text
from turnleaf.errors import NotFound
from turnleaf.store.daily import local_now

if TYPE_CHECKING:
    from turnleaf.tools import MemoryTools

MAIN = "memory://main"
DAILY = "memory://daily/"
MARKDOWN = "text/markdown"
NEWEST = 7


class Resource(NamedTuple):
    """Something to read, as a client lists it."""

    uri: str
    name: str
    description: str


def known(tools: MemoryTools) -> list[Resource]:
    """Name the memory, today and the newest days that have notes."""
    days = {local_now().date(), *tools.daily.dates()[-NEWEST:]}
    return [
        Resource(MAIN, "memory", "The whole long-term memory; [day id] follows each fact."),
        *(
            Resource(f"{DAILY}{day}", f"daily log {day}", f"The notes of {day}.")
            for day in sorted(days, reverse=True)
        ),
    ]


def read(tools: MemoryTools, uri: str) -> str:
    """Give what stands at an address; refuse one where nothing does."""
    if uri == MAIN:
        return tools.page()
    if not uri.startswith(DAILY):
        message = f"there is nothing at {uri!r}; read {MAIN}, or {DAILY} with a date"
        raise NotFound(message)
    day = uri.removeprefix(DAILY)
    text = tools.daily.read(day)
    if not text and day != local_now().date().isoformat():
        message = f"there are no notes of {day}; resources/list names the newest days that have"
        raise NotFound(message)
    return page_text(text)
