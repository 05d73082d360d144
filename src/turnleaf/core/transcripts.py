"""A conversation as a document: Markdown to be read, and JSON that can be read back.

In Markdown every line of a message is quoted, so no message can pose as another one, and what
would be HTML is written out. JSON holds every message as it was stored.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from turnleaf.core import messages
from turnleaf.core.languages.language import DEFAULT
from turnleaf.core.languages.replies import choose_words, words_in
from turnleaf.core.messages import StoredMessage
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.times import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from turnleaf.core.messages import ConversationSummary, Message

FORMATS = {"markdown": "md", "json": "json"}
"""The formats of an export, and how the names of such files end."""
NAME_CHARS = 60

_LINE_END = lazy_pattern(r"\r\n?|\n")
_SPECIAL = lazy_pattern(r"[\\`*_\[\]<>#&|~!]")
_MARKUP = lazy_pattern(r"<(?=[A-Za-z/!?])")
_FENCE = lazy_pattern(r"(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
# A fence that may belong to a list or a quote ends where that does, which nobody tells here.
_NESTED_FENCE = lazy_pattern(r"(?:[ \t]|[-+*>]|\d{1,9}[.)])++(?:`{3}|~{3})")
_NOT_IN_NAMES = lazy_pattern(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation with the messages that are shown of it."""

    key: str
    title: str
    created_at: datetime
    updated_at: datetime
    messages: tuple[StoredMessage, ...]
    audience: str = ""
    is_searched: bool = True
    is_renamed: bool = False


def make_transcript(summary: ConversationSummary, stored: Sequence[StoredMessage]) -> Transcript:
    """Return a conversation with its messages."""
    return Transcript(
        key=summary.key,
        title=summary.title,
        created_at=summary.created_at,
        updated_at=summary.updated_at,
        messages=tuple(stored),
        audience=summary.audience,
        is_searched=summary.is_searched,
        is_renamed=summary.is_renamed,
    )


def file_name(transcript: Transcript, ending: str) -> str:
    """Return a name for a file that every system takes, from the title and the first day."""
    words = _NOT_IN_NAMES.sub("-", transcript.title)[:NAME_CHARS].strip("-.")
    day = f"{transcript.created_at:%Y-%m-%d}"
    return f"{day}-{words}.{ending}" if words else f"{day}.{ending}"


# JSON


def to_json(transcript: Transcript) -> dict[str, Any]:
    """Return the form that `from_json` reads."""
    return {
        "key": transcript.key,
        "title": transcript.title,
        "renamed": transcript.is_renamed,
        "createdAt": to_iso(transcript.created_at),
        "updatedAt": to_iso(transcript.updated_at),
        "audience": transcript.audience,
        "searched": transcript.is_searched,
        "messages": [message_to_json(one) for one in transcript.messages],
    }


def from_json(record: Mapping[str, Any]) -> Transcript:
    """Read what `to_json` wrote; raise ValueError, TypeError or KeyError for anything else."""
    return Transcript(
        key=record["key"],
        title=record["title"],
        created_at=from_iso(record["createdAt"]),
        updated_at=from_iso(record["updatedAt"]),
        messages=tuple(message_from_json(one) for one in record["messages"]),
        audience=record["audience"],
        is_searched=record["searched"],
        is_renamed=record["renamed"],
    )


def message_to_json(stored: StoredMessage) -> dict[str, Any]:
    """Return a message with all that is known of it."""
    return {
        "id": stored.id,
        **messages.to_json(stored.message),
        "status": stored.status,
        "trust": stored.trust,
        "source": stored.source,
        "parent": stored.parent,
        "versions": list(stored.versions),
        "hidden": stored.is_hidden,
        "shapedBy": None if stored.shaped_by is None else dict(stored.shaped_by),
    }


def message_from_json(record: Mapping[str, Any]) -> StoredMessage:
    """Read what `message_to_json` wrote."""
    return StoredMessage(
        id=record["id"],
        message=messages.from_json(record),
        status=record["status"],
        trust=record["trust"],
        source=record["source"],
        parent=record["parent"],
        versions=tuple(record["versions"]),
        is_hidden=record["hidden"],
        shaped_by=record["shapedBy"],
    )


# Markdown


def to_markdown(
    transcript: Transcript,
    local: Callable[[datetime], datetime] = lambda time: time.astimezone(UTC),
) -> str:
    """Return a conversation for people to read; `local` gives the times of their zone."""
    words = choose_words(_first_question(transcript.messages), "transcript")
    span = words["span"].format(
        *(_minute(local(time)) for time in (transcript.created_at, transcript.updated_at))
    )
    parts = [
        f"# {_plain(transcript.title) or words['untitled']}",
        f"{words['conversation'].format(_plain(transcript.key))}  \n{span}",
    ]
    for one in transcript.messages:
        parts += [f"## {_heading(one, words, local)}", _quote(_body(one.message, words))]
    return "\n\n".join(parts) + "\n"


def non_text(message: Message, calls: str | None = None) -> list[str]:
    """Return a line for each part of a message that is no text: pictures, tool calls."""
    calls = calls or words_in(DEFAULT, "transcript")["calls"]
    parts = message.content if isinstance(message.content, list) else []
    called = [call.get("function", call) for call in message.tool_calls or ()]
    return [
        *(str(part.get("refusal") or f"[{part['type']}]") for part in parts if "text" not in part),
        *(f"[{calls.format(json.dumps(one, ensure_ascii=False))}]" for one in called),
    ]


def _first_question(stored: Sequence[StoredMessage]) -> str:
    return next((one.message.text for one in stored if one.message.role == "user"), "")


def _heading(
    stored: StoredMessage, words: Mapping[str, str], local: Callable[[datetime], datetime]
) -> str:
    message = stored.message
    speaker = _plain(message.name or "") or words[message.role]
    time = _minute(local(message.timestamp)) if message.timestamp else ""
    status = words.get(stored.status, "")
    return " · ".join(
        filter(None, (speaker, time, status, words["hidden"] if stored.is_hidden else ""))
    )


def _body(message: Message, words: Mapping[str, str]) -> str:
    return "\n".join(filter(None, (message.text, *non_text(message, words["calls"]))))


def _quote(text: str) -> str:
    lines = _write_out_markup(_LINE_END.split(text))
    return "\n".join(f"> {line}" if line else ">" for line in lines)


def _write_out_markup(lines: Sequence[str]) -> Iterator[str]:
    """Write out what would be HTML, but not where code is shown as it is."""
    has_code = not any(_NESTED_FENCE.match(line) for line in lines)
    end: re.Pattern[str] | None = None
    for line in lines:
        if end is not None:
            yield line
            end = None if end.fullmatch(line) else end
            continue
        yield _MARKUP.sub(r"\\<", line)
        fence = _FENCE.match(line) if has_code else None
        if fence:
            mark = fence["mark"]
            end = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")


def _plain(text: str) -> str:
    """Write a text as one line in which nothing is markup."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
