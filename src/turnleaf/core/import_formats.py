"""What other assistants export, told from its first values and read into values of one form.

ChatGPT has `conversations.json`, or its shards `conversations-NNN.json`. A conversation is a tree
of nodes (`mapping`), of which the path to `current_node` is shown. What the `bio` tool was told to
keep, and the list of memories that a conversation began with (`model_set_context`), are saved
memories.

claude.ai exports conversations, memories, and projects. Conversations do not say which project they
belong to, so projects are notes of their own.

Gemini's share of Google's My Activity (`MyActivity.json`) has prompts, some with their answers. It
is a flat list that names no conversation, so what was said on one day is one.

Claude Code and Codex keep transcripts, one JSON object a line. The smaller kinds are the MCP memory
server's file, plain lists, Markdown vaults, and a form of our own.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.core.loading import load_data
from turnleaf.core.serialization import from_iso

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import tzinfo


Json: TypeAlias = Any
"""What a JSON file of somebody else holds: it may be anything."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message of a conversation, and the message that it follows.

    `parent` is the place of that message among those of the conversation; None: it is a beginning.
    """

    role: str
    text: str
    time: datetime | None = None
    parent: int | None = None
    trust: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A conversation with every branch; a message stands after the one that it follows."""

    program: str
    id: str
    title: str
    messages: tuple[FoundMessage, ...]
    leaf: int = -1
    """The place of the message that ends the branch that is shown."""

    @property
    def key(self) -> str:
        """The name of the conversation here, the same each time it is imported."""
        return f"import:{self.program}:{self.id}"


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A fact that another program had saved."""

    text: str
    time: datetime | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not taken, and why; no import drops anything in silence."""

    reason: str
    count: int = 1


Found: TypeAlias = FoundConversation | FoundMemory | Skipped


def make_note(program: str, name: str, text: str, time: datetime | None, trust: str) -> Found:
    """Return a text as a conversation of one message, so that it can be found and erased."""
    said = FoundMessage("user", text.strip(), time, trust=trust, source=f"note:{name}")
    return FoundConversation(program, name, name, (said,)) if said.text else Skipped("empty notes")


def read_time(value: Json) -> datetime | None:
    """Return a time from seconds since 1970 or ISO 8601; None for anything else."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC) if value > 0 else None
        return from_iso(value) if isinstance(value, str) else None
    # A time out of range ends in any of the three, depending on the system.
    except (ValueError, OverflowError, OSError):
        return None


def read_text(value: Json) -> str:
    """Return a value if it is text, and nothing otherwise."""
    return value if isinstance(value, str) else ""


def read_list(value: Json) -> list[Json]:
    """Return a value if it is a list, and an empty one otherwise."""
    return value if isinstance(value, list) else []


def read_dict(value: Json) -> dict[str, Json]:
    """Return a value if it is an object, and an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def order_tree(
    messages: Mapping[str, FoundMessage], parents: Mapping[str, str | None], leaf: str | None
) -> tuple[tuple[FoundMessage, ...], int]:
    """Return the messages, each with its parent's index, and the index of the shown leaf.

    `parents` may name nodes that are no messages (a system prompt, a tool's call): their message
    follows the nearest one above. Where nodes lead round in a circle, one of them is a beginning.
    """
    above = {node: _find_message(parents.get(node), messages, parents) for node in messages}
    places: dict[str, int] = {}
    for node in messages:
        _place(node, above, places)
    ordered = []
    for node, place in places.items():
        parent = places.get(above[node] or "")
        # In a circle of nodes one would follow itself.
        is_above = parent is not None and parent < place
        ordered.append(replace(messages[node], parent=parent if is_above else None))
    shown = _find_message(leaf, messages, parents)
    return tuple(ordered), places.get(shown or "", len(ordered) - 1)


def _find_message(
    node: str | None, messages: Mapping[str, FoundMessage], parents: Mapping[str, str | None]
) -> str | None:
    """Return a node if it is a message, or else the nearest one above it that is."""
    seen: set[str] = set()
    while node is not None and node not in messages:
        if node in seen:
            return None
        seen.add(node)
        node = parents.get(node)
    return node


def _place(node: str, above: Mapping[str, str | None], places: dict[str, int]) -> None:
    """Assign a node the next index, after all nodes above it."""
    # A loop and no recursion: a long conversation is deeper than Python's stack.
    chain: dict[str, None] = {}
    here: str | None = node
    while here is not None and here not in places and here not in chain:
        chain[here] = None
        here = above[here]
    for each in reversed(chain):
        places[each] = len(places)


CHATGPT = "chatgpt"

CONTEXT = "model_editable_context"
"""What a conversation began with: the saved memories."""
SPOKEN = {"text", "multimodal_text", "code"}
"""The kinds of content that a person reads as a message."""
_NUMBERED = re.compile(
    r"^[ \t]{0,20}\d{1,6}\.[ \t]{0,20}"
    r"(?:\[(?P<day>\d{4}-\d\d-\d\d)\]\.?[ \t]{0,20})?(?P<text>\S.*)$",
    re.MULTILINE,
)


def is_chatgpt_conversation(record: Json) -> bool:
    """Whether a JSON object is a conversation of ChatGPT."""
    return "mapping" in read_dict(record)


def read_chatgpt_conversation(record: Json) -> Iterator[Found]:
    """Yield a conversation, what it saved as memories, and what was left out."""
    nodes = {key: read_dict(node) for key, node in read_dict(record.get("mapping")).items()}
    messages: dict[str, FoundMessage] = {}
    for key, node in nodes.items():
        message = read_dict(node.get("message"))
        yield from _find_memories(message)
        found = _read_chatgpt_message(message)
        if isinstance(found, FoundMessage):
            messages[key] = found
        elif found:
            yield found
    parents = {key: read_text(node.get("parent")) or None for key, node in nodes.items()}
    ordered, leaf = order_tree(messages, parents, read_text(record.get("current_node")) or None)
    identity = read_text(record.get("conversation_id")) or read_text(record.get("id"))
    if not ordered:
        yield Skipped("conversations without a message")
    elif not identity:
        yield Skipped("conversations without an ID")
    else:
        yield FoundConversation(CHATGPT, identity, read_text(record.get("title")), ordered, leaf)


def _read_chatgpt_message(message: dict[str, Json]) -> FoundMessage | Skipped | None:
    role = read_text(read_dict(message.get("author")).get("role"))
    content = read_dict(message.get("content"))
    # What was said to a tool and not to a person is no part of what was said.
    if role not in {"user", "assistant"} or read_text(message.get("recipient")) not in {"", "all"}:
        return Skipped("tool calls and tool results") if role == "tool" else None
    # What the program itself hid from its user was not said to anybody.
    if read_dict(message.get("metadata")).get("is_visually_hidden_from_conversation"):
        return None
    kind = read_text(content.get("content_type"))
    if kind not in SPOKEN:
        is_lost = kind and role == "user" and kind != CONTEXT
        return Skipped(f"messages of the kind {kind}") if is_lost else None
    parts = [*map(_read_part, read_list(content.get("parts"))), read_text(content.get("text"))]
    text = "\n".join(part for part in parts if part).strip()
    if not text:
        return Skipped("pictures and sounds") if kind == "multimodal_text" else None
    return FoundMessage(role, text, read_time(message.get("create_time")))


def _read_part(part: Json) -> str:
    """Return the text of a part; a spoken message has its transcript in one."""
    if isinstance(part, str):
        return part
    is_spoken = read_dict(part).get("content_type") == "audio_transcription"
    return read_text(read_dict(part).get("text")) if is_spoken else ""


def _find_memories(message: dict[str, Json]) -> Iterator[FoundMemory]:
    content = read_dict(message.get("content"))
    time = read_time(message.get("create_time"))
    if message.get("recipient") == "bio":
        parts = [*read_list(content.get("parts")), content.get("text")]
        for line in "\n".join(map(read_text, parts)).splitlines():
            if line.strip():
                yield FoundMemory(line.strip(), time)
    for item in _NUMBERED.finditer(read_text(content.get("model_set_context"))):
        yield FoundMemory(item["text"].strip(), read_time(item["day"]) or time)


CLAUDE_AI = "claude"

ROLES = {"human": "user", "assistant": "assistant"}
_BULLET = re.compile(r"^\s*[-*•]\s+")
_HEADING = re.compile(r"#.*|\*\*[^*]*\*\*[:：]?")
NO_PARENT = "00000000-0000-4000-8000-000000000000"


def is_claude_conversation(record: Json) -> bool:
    """Whether a JSON object is a conversation of claude.ai."""
    return "chat_messages" in read_dict(record)


def is_claude_memory(record: Json) -> bool:
    """Whether a JSON object holds what claude.ai remembers of its user."""
    return not read_dict(record).keys().isdisjoint({"conversations_memory", "project_memories"})


def is_claude_project(record: Json) -> bool:
    """Whether a JSON object is a project of claude.ai."""
    return {"prompt_template", "docs"} <= read_dict(record).keys()


def read_claude_conversation(record: Json) -> Iterator[Found]:
    """Yield a conversation and what was left out of it."""
    messages: dict[str, FoundMessage] = {}
    parents: dict[str, str | None] = {}
    last: str | None = None
    for place, one in enumerate(map(read_dict, read_list(record.get("chat_messages")))):
        identity = read_text(one.get("uuid")) or str(place)
        parent = read_text(one.get("parent_message_uuid"))
        # Older exports name no parents: there each message follows the one before it.
        parents[identity] = (parent if parent != NO_PARENT else None) if parent else last
        last = identity
        yield from _count_left_out(one)
        message = _read_claude_message(one)
        if message:
            messages[identity] = message
    # Older exports do not say which branch was shown.
    leaf = read_text(record.get("current_leaf_message_uuid")) or last
    ordered, place = order_tree(messages, parents, leaf)
    identity = read_text(record.get("uuid"))
    if ordered and identity:
        yield FoundConversation(CLAUDE_AI, identity, read_text(record.get("name")), ordered, place)
    else:
        yield Skipped("conversations without a message")


def read_claude_memory(record: Json) -> Iterator[Found]:
    """Yield what is remembered of the user, line by line, and of each project as a note."""
    for line in read_text(read_dict(record).get("conversations_memory")).splitlines():
        text = _BULLET.sub("", line).strip()
        if text and not _HEADING.fullmatch(text):
            yield FoundMemory(text)
    for project, text in read_dict(read_dict(record).get("project_memories")).items():
        if read_text(text).strip():
            yield make_note(CLAUDE_AI, f"project-memory-{project}", read_text(text), None, "user")


def read_claude_project(record: Json) -> Iterator[Found]:
    """Yield a project's instructions and its documents as notes."""
    name = read_text(record.get("name")) or read_text(record.get("uuid"))
    time = read_time(record.get("created_at"))
    own = [read_text(record.get(part)) for part in ("description", "prompt_template")]
    if any(part.strip() for part in own):
        yield make_note(CLAUDE_AI, f"project {name}", "\n\n".join(filter(None, own)), time, "user")
    for document in map(read_dict, read_list(record.get("docs"))):
        title = f"project {name}: {read_text(document.get('filename'))}"
        said_at = read_time(document.get("created_at")) or time
        yield make_note(CLAUDE_AI, title, read_text(document.get("content")), said_at, "document")


def _read_claude_message(one: dict[str, Json]) -> FoundMessage | None:
    role = ROLES.get(read_text(one.get("sender")))
    parts = map(read_dict, read_list(one.get("content")))
    said = [read_text(part.get("text")) for part in parts if part.get("type") == "text"]
    text = "\n\n".join(part for part in said if part.strip()) or read_text(one.get("text"))
    if role is None or not text.strip():
        return None
    return FoundMessage(role, text.strip(), read_time(one.get("created_at")))


def _count_left_out(one: dict[str, Json]) -> Iterator[Skipped]:
    attached = len(read_list(one.get("attachments"))) + len(read_list(one.get("files")))
    if attached:
        yield Skipped("attachments", attached)
    kinds = [read_dict(part).get("type") for part in read_list(one.get("content"))]
    tools = sum(kind in {"tool_use", "tool_result"} for kind in kinds)
    if tools:
        yield Skipped("tool calls and tool results", tools)


GEMINI = "gemini"

_BREAK = re.compile(r"<(?:br\s*/?|/p|/li|/h\d|/tr|/pre)>", re.IGNORECASE)
_ITEM = re.compile(r"<li[^<>]{0,200}>", re.IGNORECASE)
# Bounded, because an answer may hold a lone bracket and much text after it.
_TAG = re.compile(r"<[^<>]{0,2000}>")


@cache
def _load_prompt_mark() -> re.Pattern[str]:
    """Return the pattern of what My Activity writes before a prompt, in any known language."""
    marks = "|".join(map(re.escape, load_data("gemini.toml")["marks"]))
    return re.compile(rf"^(?:{marks})[:：]?\s+", re.IGNORECASE)


def is_gemini_activity(record: Json) -> bool:
    """Whether a JSON object is an entry of My Activity that belongs to Gemini."""
    entry = read_dict(record)
    names = [read_text(entry.get("header")), *map(read_text, read_list(entry.get("products")))]
    return "time" in entry and any("gemini" in name.lower() for name in names)


def read_gemini_activity(records: Iterable[Json], zone: tzinfo | None) -> Iterator[Found]:
    """Yield a conversation for each day in `zone`, and what was left out.

    The list has the newest first, so that a day's entries stand together.
    """
    entries = map(read_dict, records)
    for day, same in groupby(entries, key=lambda entry: _find_day(entry, zone)):
        if day is None:
            yield Skipped("activities that are not prompts", sum(1 for _ in same))
        else:
            yield from _read_day(day, same)


def _find_day(entry: dict[str, Json], zone: tzinfo | None) -> str | None:
    time = read_time(entry.get("time"))
    is_prompt = time is not None and _load_prompt_mark().match(read_text(entry.get("title")))
    return time.astimezone(zone).date().isoformat() if time and is_prompt else None


def _read_day(day: str, entries: Iterable[dict[str, Json]]) -> Iterator[Found]:
    messages: list[FoundMessage] = []
    # The export has the newest first, and a conversation has it last.
    for entry in sorted(entries, key=lambda entry: read_text(entry.get("time"))):
        time = read_time(entry.get("time"))
        items = map(read_dict, read_list(entry.get("safeHtmlItem")))
        answer = "\n\n".join(_to_text(read_text(item.get("html"))) for item in items).strip()
        prompt = _load_prompt_mark().sub("", read_text(entry.get("title"))).strip()
        for role, text in (("user", prompt), ("assistant", answer)):
            if text:
                parent = len(messages) - 1 if messages else None
                messages.append(FoundMessage(role, text, time, parent))
        if not answer:
            yield Skipped("answers that Google did not export (their prompts were imported)")
    if messages:
        yield FoundConversation(GEMINI, day, f"Gemini, {day}", tuple(messages))


def _to_text(markup: str) -> str:
    """Return the readable text of HTML."""
    lines = _ITEM.sub("- ", _BREAK.sub("\n", markup))
    return re.sub(r"\n{3,}", "\n\n", html.unescape(_TAG.sub("", lines))).strip()


CLAUDE_CODE = "claude-code"
CODEX = "codex"
TOOLS = "tool calls and tool results"
_WRITTEN_BY_A_PROGRAM = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|command-(?:name|message)|"
    r"local-command-|system-reminder|INSTRUCTIONS)|# AGENTS\.md instructions|"
    r"Caveat: The messages below|\[Request interrupted)"
)
"""How texts begin that these programs add in the user's name."""


def is_claude_code(record: Json) -> bool:
    """Whether a line is one of a transcript of Claude Code."""
    line = read_dict(record)
    return "sessionId" in line or {"leafUuid", "summary"} <= line.keys()


def is_codex(record: Json) -> bool:
    """Whether a line is one of a transcript of Codex, of today's form or the older one."""
    line = read_dict(record)
    is_older = {"id", "timestamp", "instructions"} <= line.keys()
    return is_older or ("payload" in line and "type" in line)


def read_claude_code(lines: Iterable[Json], name: str) -> Iterator[Found]:
    """Yield the conversation of a transcript; side chains and results of tools are left out."""
    messages: dict[str, FoundMessage] = {}
    parents: dict[str, str | None] = {}
    title, session, last = "", name, None
    for line in map(read_dict, lines):
        title = read_text(line.get("summary")) or title
        session = read_text(line.get("sessionId")) or session
        identity = read_text(line.get("uuid"))
        if not identity or line.get("isSidechain"):
            continue
        parents[identity] = read_text(line.get("parentUuid")) or None
        found = None if line.get("isMeta") else _read_turn(line)
        if isinstance(found, FoundMessage):
            messages[identity] = found
            last = identity
        elif found:
            yield found
    yield _make_conversation(CLAUDE_CODE, session, title, *order_tree(messages, parents, last))


def read_codex(lines: Iterable[Json], name: str) -> Iterator[Found]:
    """Yield the conversation of a transcript, without what the program itself put in."""
    messages: list[FoundMessage] = []
    session = name
    for line in map(read_dict, lines):
        item = read_dict(line.get("payload")) or line
        if line.get("type") == "session_meta" or "instructions" in line:
            session = read_text(item.get("id")) or session
        if line.get("type") not in {"response_item", "message"}:
            continue
        if item.get("type") != "message":
            yield Skipped(TOOLS)
            continue
        text = _join(item.get("content"), {"input_text", "output_text", "text"})
        role = read_text(item.get("role"))
        # These programs write in the user's name what no user said, and it must not be learned
        # from.
        if role in {"user", "assistant"} and text and not _WRITTEN_BY_A_PROGRAM.match(text):
            parent = len(messages) - 1 if messages else None
            time = read_time(line.get("timestamp")) or read_time(item.get("timestamp"))
            messages.append(FoundMessage(role, text, time, parent))
    yield _make_conversation(CODEX, session, "", tuple(messages), len(messages) - 1)


def _read_turn(line: dict[str, Json]) -> FoundMessage | Skipped | None:
    message = read_dict(line.get("message"))
    role = read_text(message.get("role"))
    if role not in {"user", "assistant"}:
        return None
    content = message.get("content")
    text = content if isinstance(content, str) else _join(content, {"text"})
    if not text.strip():
        kinds = {read_dict(part).get("type") for part in read_list(content)}
        return Skipped(TOOLS) if kinds & {"tool_use", "tool_result"} else None
    if role == "user" and _WRITTEN_BY_A_PROGRAM.match(text):
        return None
    return FoundMessage(role, text.strip(), read_time(line.get("timestamp")))


def _join(content: Json, kinds: set[str]) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = map(read_dict, read_list(content))
    texts = [read_text(part.get("text")) for part in parts if part.get("type") in kinds]
    return "\n\n".join(text for text in texts if text.strip()).strip()


def _make_conversation(
    program: str, session: str, title: str, messages: tuple[FoundMessage, ...], leaf: int
) -> Found:
    if not messages:
        return Skipped("transcripts without messages")
    return FoundConversation(program, session, title, messages, leaf)


_FRONT_MATTER = re.compile(r"\A---\r?\n(?P<head>.{0,20000}?)\r?\n---\s*(?:\n|\Z)", re.DOTALL)
_DATED = re.compile(
    r"^(?:created(?:_at)?|date)\s*:\s*[\"']?(?P<day>\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]{1,30})?)",
    re.MULTILINE | re.IGNORECASE,
)
_MARK = re.compile(r"^\s*(?:(?:[-*•]|\d{1,3}[.)])\s+|\d{1,3}、\s*)")


def is_graph(record: Json) -> bool:
    """Whether a line is one of the MCP memory server's file."""
    return read_dict(record).get("type") in {"entity", "relation"}


def read_graph(lines: Iterable[Json]) -> Iterator[Found]:
    """Yield each observation and each relation as a sentence that is clear by itself."""
    for line in map(read_dict, lines):
        name = read_text(line.get("name"))
        if line.get("type") == "entity" and name:
            category = read_text(line.get("entityType")) or None
            for text in map(read_text, read_list(line.get("observations"))):
                if text.strip():
                    yield FoundMemory(_name_subject(name, text.strip()), category=category)
        elif line.get("type") == "relation":
            parts = [read_text(line.get(key)) for key in ("from", "relationType", "to")]
            yield FoundMemory(" ".join(parts)) if all(parts) else Skipped("incomplete relations")
        else:
            yield Skipped("lines that are neither an entity nor a relation")


def _name_subject(name: str, text: str) -> str:
    # An observation alone ("likes tea") would not say whom it is about.
    return text if name.casefold() in text.casefold() else f"{name.replace('_', ' ')}: {text}"


def read_list_of_memories(text: str) -> Iterator[Found]:
    """Yield one memory for each line, without its bullet or number."""
    for line in text.splitlines():
        memory = _MARK.sub("", line).strip()
        if memory:
            yield FoundMemory(memory)


def read_note(name: str, text: str, time: datetime) -> Found:
    """Return a page of a vault as a note, dated by what stands above it or by its file."""
    head = _FRONT_MATTER.match(text)
    dated = _DATED.search(head["head"]) if head else None
    body = text[head.end() :] if head else text
    said_at = read_time(dated["day"]) if dated else None
    return make_note("notes", name, body, said_at or time, "user")


def is_own_form(record: Json) -> bool:
    """Whether a JSON object is a conversation in the form that docs describe."""
    return isinstance(read_dict(record).get("messages"), list)


def read_own_form(record: Json) -> Iterator[Found]:
    """Yield a conversation in the form that docs describe."""
    messages: dict[str, FoundMessage] = {}
    parents: dict[str, str | None] = {}
    last: str | None = None
    for place, one in enumerate(map(read_dict, record["messages"])):
        identity = str(one.get("id") or place)
        role, text = read_text(one.get("role")), read_text(one.get("content")).strip()
        parents[identity] = str(one["parent"]) if one.get("parent") is not None else last
        last = identity
        if role not in {"user", "assistant"} or not text:
            yield Skipped("messages without text, or with a role other than user and assistant")
            continue
        messages[identity] = FoundMessage(role, text, read_time(one.get("time")))
    ordered, leaf = order_tree(messages, parents, last)
    identity = str(record.get("id") or "")
    if ordered and identity:
        yield FoundConversation("file", identity, read_text(record.get("title")), ordered, leaf)
    else:
        yield Skipped("conversations without an ID or without a message")


Reader: TypeAlias = "Callable[[Iterable[Json]], Iterator[Found]]"
NOT_UNDERSTOOD = "unknown records"


def choose_json_reader(first: Json, zone: tzinfo | None) -> Reader | None:
    """Return what reads a JSON file that begins with this record; None: nothing does."""
    if is_gemini_activity(first):
        return partial(read_gemini_activity, zone=zone)
    for is_kind, read in _RECORDS:
        if is_kind(first):
            return partial(_read_each, is_kind, read)
    return None


def choose_lines_reader(first: Iterable[Json], name: str) -> Reader | None:
    """Return what reads a file of one JSON value a line, by its first lines."""
    for line in first:
        if is_graph(line):
            return read_graph
        if is_claude_code(line):
            return partial(read_claude_code, name=name)
        if is_codex(line):
            return partial(read_codex, name=name)
        if is_own_form(line):
            return partial(_read_each, is_own_form, read_own_form)
    return None


def is_list_of_memories(first: Json) -> bool:
    """Whether a JSON file begins with a memory as `turnleaf export` writes it."""
    record = read_dict(first)
    return isinstance(record.get("content"), str) and "messages" not in record


def _read_each(
    is_kind: Callable[[Json], bool],
    read: Callable[[Json], Iterator[Found]],
    records: Iterable[Json],
) -> Iterator[Found]:
    for record in records:
        if is_kind(record):
            yield from read(record)
        else:
            yield Skipped(NOT_UNDERSTOOD)


_RECORDS: tuple[tuple[Callable[[Json], bool], Callable[[Json], Iterator[Found]]], ...] = (
    (is_chatgpt_conversation, read_chatgpt_conversation),
    (is_claude_conversation, read_claude_conversation),
    (is_claude_memory, read_claude_memory),
    (is_claude_project, read_claude_project),
    (is_own_form, read_own_form),
)
