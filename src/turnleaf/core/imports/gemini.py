"""Gemini's share of Google's My Activity (`MyActivity.json`): prompts, some with their answers.

It is a flat list that names no conversation, so what was said on one day is one.
"""

from __future__ import annotations

import html
import re
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from turnleaf.core.data import load_data
from turnleaf.core.imports.values import (
    Found,
    FoundConversation,
    FoundMessage,
    Json,
    Skipped,
    read_dict,
    read_list,
    read_text,
    read_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo

PROGRAM = "gemini"
_BREAK = re.compile(r"<(?:br\s*/?|/p|/li|/h\d|/tr|/pre)>", re.IGNORECASE)
_ITEM = re.compile(r"<li[^<>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")


@cache
def _prompt_mark() -> re.Pattern[str]:
    """Return what stands before a prompt, in the languages that My Activity is known in."""
    marks = "|".join(map(re.escape, load_data("imports/gemini.toml")["marks"]))
    return re.compile(rf"^(?:{marks})[:：]?\s+", re.IGNORECASE)


def is_activity(record: Json) -> bool:
    """Whether a JSON object is an entry of My Activity that belongs to Gemini."""
    entry = read_dict(record)
    names = [read_text(entry.get("header")), *map(read_text, read_list(entry.get("products")))]
    return "time" in entry and any("gemini" in name.lower() for name in names)


def read_activity(records: Iterable[Json], zone: tzinfo | None) -> Iterator[Found]:
    """Yield a conversation for each day in `zone`, and what was left out.

    The list has the newest first, so that a day's entries stand together.
    """
    entries = map(read_dict, records)
    for day, same in groupby(entries, key=lambda entry: _find_day(entry, zone)):
        if day is None:
            yield Skipped("activities that are no prompt", sum(1 for _ in same))
        else:
            yield from _read_day(day, same)


def _find_day(entry: dict[str, Json], zone: tzinfo | None) -> str | None:
    time = read_time(entry.get("time"))
    is_prompt = time is not None and _prompt_mark().match(read_text(entry.get("title")))
    return time.astimezone(zone).date().isoformat() if time and is_prompt else None


def _read_day(day: str, entries: Iterable[dict[str, Json]]) -> Iterator[Found]:
    messages: list[FoundMessage] = []
    for entry in sorted(entries, key=lambda entry: read_text(entry.get("time"))):
        time = read_time(entry.get("time"))
        items = map(read_dict, read_list(entry.get("safeHtmlItem")))
        answer = "\n\n".join(_to_text(read_text(item.get("html"))) for item in items).strip()
        prompt = _prompt_mark().sub("", read_text(entry.get("title"))).strip()
        for role, text in (("user", prompt), ("assistant", answer)):
            if text:
                parent = len(messages) - 1 if messages else None
                messages.append(FoundMessage(role, text, time, parent))
        if not answer:
            yield Skipped("answers that Google did not export (their prompts were imported)")
    if messages:
        yield FoundConversation(PROGRAM, day, f"Gemini, {day}", tuple(messages))


def _to_text(markup: str) -> str:
    """Return what a person reads of HTML."""
    lines = _ITEM.sub("- ", _BREAK.sub("\n", markup))
    return re.sub(r"\n{3,}", "\n\n", html.unescape(_TAG.sub("", lines))).strip()
