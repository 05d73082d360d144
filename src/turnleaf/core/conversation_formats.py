"""Conversations as text: conversations.json, what older versions kept, and documents for people.

conversations.json has one conversation a line, so that one can be changed alone. It is plain JSON:
whatever layout somebody else gave it is read as well. The archive had one file a month, one message
a line. A kill may have left the end of a line out, or the same message twice.

In Markdown every line of a message is quoted, so no message can pose as another one, and what
would be HTML is written out. JSON holds every message as it was stored.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from turnleaf.core import messages
from turnleaf.core.languages.language import DEFAULT
from turnleaf.core.languages.replies import choose_words, find_replies
from turnleaf.core.loading import make_pattern
from turnleaf.core.messages import StoredMessage
from turnleaf.core.serialization import dumps, from_iso, to_iso
from turnleaf.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from turnleaf.core.messages import ConversationSummary, Message


VERSION = 1
HEAD = f'{{"version": {VERSION}, "conversations": {{'
FOOT = "}}"
EMPTY = f"{HEAD}\n{FOOT}\n"
# Deep nesting ends in a RecursionError, and what somebody else wrote may hold any type.
_PROBLEMS = (AttributeError, KeyError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as it is stored."""

    created_at: datetime
    updated_at: datetime
    messages: Sequence[Message]


def parse(text: str) -> dict[str, str]:
    """Return each conversation's JSON by its key; raise CorruptFile for any other file."""
    lines = text.split("\n")
    # In our own layout a conversation is split off without parsing any of its messages.
    if lines[0] == HEAD and lines[-2:] == [FOOT, ""]:
        try:
            return dict(split_line(line) for line in lines[1:-2])
        except ValueError as error:
            message = f"it is not valid JSON: {error}"
            raise CorruptFile(message) from error
    return _parse_any_layout(text)


def write_line(key: str, body: str) -> bytes:
    """Return the line of a conversation in conversations.json."""
    return f"{dumps(key)}: {body}".encode()


def assemble(lines: Iterable[bytes]) -> bytes:
    """Return lines joined to the file that `parse` reads, copying them only once."""
    parts = list(lines)
    if not parts:
        return EMPTY.encode()
    parts[0] = f"{HEAD}\n".encode() + parts[0]
    parts[-1] += f"\n{FOOT}\n".encode()
    return b",\n".join(parts)


def dump(record: StoredConversation) -> str:
    """Return the JSON of one conversation."""
    return dumps(
        {
            "createdAt": to_iso(record.created_at),
            "updatedAt": to_iso(record.updated_at),
            "messages": [messages.to_json(message) for message in record.messages],
        }
    )


def load(text: str) -> StoredConversation:
    """Return the conversation in a JSON text; raise CorruptFile for anything else."""
    try:
        record = json.loads(text)
        return StoredConversation(
            created_at=from_iso(record["createdAt"]),
            updated_at=from_iso(record["updatedAt"]),
            messages=[messages.from_json(message) for message in record["messages"]],
        )
    except _PROBLEMS as error:
        message = f"it is not a conversation: {type(error).__name__} {error}"
        raise CorruptFile(message) from error


def read_updated_at(text: str) -> datetime:
    """Return when a conversation was last added to, without reading its messages."""
    # The times stand before the messages, of which there may be thousands.
    head = text.split(', "messages": ', 1)[0]
    try:
        return from_iso(json.loads(head + "}")["updatedAt"])
    except _PROBLEMS:
        return load(text).updated_at


_decoder = json.JSONDecoder()


def split_line(line: str) -> tuple[str, str]:
    """Return the key and the JSON of a conversation's line; raise ValueError for any other."""
    key, end = _decoder.raw_decode(line)
    if not isinstance(key, str) or line[end : end + 2] != ": ":
        message = f"a line does not begin with a conversation's name: {line[:40]!r}"
        raise ValueError(message)
    return key, line[end + 2 :].removesuffix(",")


def _parse_any_layout(text: str) -> dict[str, str]:
    try:
        # Some editors save a byte order mark, which JSON does not allow.
        value = json.loads(text.removeprefix("\ufeff"))
        if value["version"] != VERSION:
            message = f"it was written by a newer version of Turnleaf (format {value['version']})"
            raise CorruptFile(message)
        return {key: dumps(one) for key, one in value["conversations"].items()}
    except _PROBLEMS as error:
        message = f"it is not a file of conversations: {type(error).__name__} {error}"
        raise CorruptFile(message) from error


@dataclass(frozen=True, slots=True)
class Older:
    """The messages of a file by conversation, and how many of its parts could not be read."""

    conversations: dict[str, list[Message]] = field(default_factory=dict)
    damaged: int = 0


def read_conversations(data: bytes) -> Older:
    """Read a conversations.json as far as it can be read."""
    text, damaged = _decode(data)
    bodies, unread = _split(text)
    found: dict[str, list[Message]] = {}
    for key, body in bodies.items():
        try:
            record = load(body)
            found[key] = [_with_time(one, record.updated_at) for one in record.messages]
        except CorruptFile:
            found[key] = _read_messages(body)
            unread += 1
    return Older({key: some for key, some in found.items() if some}, damaged + unread)


def read_month(data: bytes, month: datetime) -> Older:
    """Read a month of the archive as far as it can be read."""
    found: dict[str, list[Message]] = {}
    damaged = 0
    # A kill may have left the same line twice.
    for line in dict.fromkeys(data.splitlines()):
        entry = _read_line(line)
        if entry:
            found.setdefault(entry[0], []).append(_with_time(entry[1], month))
        elif line.strip():
            damaged += 1
    return Older(found, damaged)


def without_conversation(data: bytes, key: str) -> tuple[bytes, int]:
    """Return a conversations.json without a conversation, and how many messages that had.

    What cannot be read stays, unless it begins as that conversation's line does.
    """
    lines = data.splitlines(keepends=True)
    if not lines or lines[0].decode("utf-8", "replace").rstrip("\n") != HEAD:
        return _remove_in_any_layout(data, key)
    kept = [line for line in lines if _find_key(line) != key]
    if len(kept) == len(lines):
        return data, 0
    # The line that is the last one now has no comma after it.
    last = max(
        (number for number, line in enumerate(kept) if _find_key(line) is not None), default=0
    )
    if last and kept[last].endswith(b",\n"):
        kept[last] = kept[last][:-2] + b"\n"
    gone = read_conversations(data).conversations.get(key, [])
    # One that is damaged still counts: something was taken out.
    return b"".join(kept), max(1, len(gone))


def without_lines(data: bytes, key: str) -> tuple[bytes, int]:
    """Return a month of the archive without a conversation, and how many messages that had."""
    lines = data.splitlines(keepends=True)
    kept = [line for line in lines if not _is_of(line, key)]
    return b"".join(kept), len(lines) - len(kept)


def _decode(data: bytes) -> tuple[str, int]:
    text = data.decode("utf-8", "replace")
    return text, 0 if text.encode() == data else 1


def _split(text: str) -> tuple[dict[str, str], int]:
    """Return each conversation's JSON by its key, and how many lines could not be read."""
    try:
        return parse(text), 0
    except CorruptFile:
        lines = text.split("\n")
    if lines[0] != HEAD:
        return {}, 1
    found: dict[str, str] = {}
    damaged = 1
    for line in lines[1:]:
        try:
            found.update([split_line(line)])
        except ValueError:
            damaged += line not in {"", FOOT}
    return found, damaged


def _read_messages(body: str) -> list[Message]:
    """Return the messages of a damaged conversation that can be read and have a time."""
    try:
        records = json.loads(body)["messages"]
    except _PROBLEMS:
        return []
    found = [_read_message(record) for record in records if isinstance(record, dict)]
    # Without a time a message could not be recognised when the file is read again.
    return [message for message in found if message and message.timestamp]


def _read_message(record: dict[str, Any]) -> Message | None:
    try:
        return messages.from_json(record)
    except _PROBLEMS:
        return None


def _remove_in_any_layout(data: bytes, key: str) -> tuple[bytes, int]:
    try:
        bodies = parse(data.decode())
    except (CorruptFile, UnicodeDecodeError):
        return data, 0
    if bodies.pop(key, None) is None:
        return data, 0
    count = len(read_conversations(data).conversations.get(key, []))
    return assemble(write_line(one, body) for one, body in bodies.items()), max(1, count)


def _find_key(line: bytes) -> str | None:
    """Return the key of a line of a conversations.json, also if its rest is damaged."""
    try:
        return split_line(line.decode("utf-8", "replace"))[0]
    except ValueError:
        return None


def _read_line(line: bytes) -> tuple[str, Message] | None:
    try:
        record = json.loads(line)
        key, message = record["conversation"], messages.from_json(record)
        return (key, message) if isinstance(key, str) else None
    except _PROBLEMS:
        return None


def _is_of(line: bytes, key: str) -> bool:
    """Whether a line of the archive belongs to a conversation, also if it is incomplete."""
    entry = _read_line(line)
    beginning = f"{dumps({'conversation': key})[:-1]},".encode()
    # A kill may have torn the line, and what is left of it has to be erased as well.
    return line.startswith(beginning) if entry is None else entry[0] == key


def _with_time(message: Message, moment: datetime) -> Message:
    """Return a message with a time: the given one, if it has none of its own."""
    return message if message.timestamp else replace(message, timestamp=moment)


FORMATS = {"markdown": "md", "json": "json"}
"""The formats of an export, and how the names of such files end."""
NAME_CHARS = 60

_LINE_END = make_pattern(r"\r\n?|\n")
_SPECIAL = make_pattern(r"[\\`*_\[\]<>#&|~!]")
_MARKUP = make_pattern(r"<(?=[A-Za-z/!?])")
_FENCE = make_pattern(r"(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
# A fence that may belong to a list or a quote ends where that does, which nobody tells here.
_NESTED_FENCE = make_pattern(r"(?>(?:[ \t]|[-+*>]|\d{1,9}[.)])+)(?:`{3}|~{3})")
_NOT_IN_NAMES = make_pattern(r"[^\w.-]+")


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


def make_file_name(transcript: Transcript, ending: str) -> str:
    """Return a file name that every system accepts, of the first day and the title."""
    # Titles are text from outside: no slash or dot of theirs may lead to another folder.
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
    """Return a conversation as Markdown; `local` converts times to the reader's zone."""
    words = choose_words(_find_first_question(transcript.messages), "transcript")
    span = words["span"].format(
        *(_write_minute(local(time)) for time in (transcript.created_at, transcript.updated_at))
    )
    parts = [
        f"# {_escape_line(transcript.title) or words['untitled']}",
        f"{words['conversation'].format(_escape_line(transcript.key))}  \n{span}",
    ]
    for one in transcript.messages:
        parts += [
            f"## {_write_heading(one, words, local)}",
            _quote(_write_body(one.message, words)),
        ]
    return "\n\n".join(parts) + "\n"


def list_non_text(message: Message, calls: str | None = None) -> list[str]:
    """Return a line for each part of a message that is not text: pictures, tool calls."""
    calls = calls or find_replies(DEFAULT, "transcript")["calls"]
    parts = message.content if isinstance(message.content, list) else []
    called = [call.get("function", call) for call in message.tool_calls or ()]
    return [
        *(str(part.get("refusal") or f"[{part['type']}]") for part in parts if "text" not in part),
        *(f"[{calls.format(json.dumps(one, ensure_ascii=False))}]" for one in called),
    ]


def _find_first_question(stored: Sequence[StoredMessage]) -> str:
    return next((one.message.text for one in stored if one.message.role == "user"), "")


def _write_heading(
    stored: StoredMessage, words: Mapping[str, str], local: Callable[[datetime], datetime]
) -> str:
    message = stored.message
    speaker = _escape_line(message.name or "") or words[message.role]
    time = _write_minute(local(message.timestamp)) if message.timestamp else ""
    status = words.get(stored.status, "")
    return " · ".join(
        filter(None, (speaker, time, status, words["hidden"] if stored.is_hidden else ""))
    )


def _write_body(message: Message, words: Mapping[str, str]) -> str:
    return "\n".join(filter(None, (message.text, *list_non_text(message, words["calls"]))))


def _quote(text: str) -> str:
    lines = _write_out_markup(_LINE_END.split(text))
    # Every line is quoted, or a message could close its block and pose as another speaker.
    return "\n".join(f"> {line}" if line else ">" for line in lines)


def _write_out_markup(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with what would be HTML escaped, except in fenced code."""
    # Where a nested fence ends only a full parser can tell, so then no code is left as it is.
    has_code = not any(_NESTED_FENCE.match(line) for line in lines)
    end: re.Pattern[str] | None = None
    for line in lines:
        if end is not None:
            yield line
            end = None if end.fullmatch(line) else end
            continue
        # Markup inside a message would be shown as part of the page.
        yield _MARKUP.sub(r"\\<", line)
        fence = _FENCE.match(line) if has_code else None
        if fence:
            mark = fence["mark"]
            end = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")


def _escape_line(text: str) -> str:
    """Return a text as one line in which nothing is markup."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def _write_minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
