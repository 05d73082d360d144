"""What the bot posts: a streamed answer, a note of what was learned, and results of schedules.

Slack interprets its own `<…>` marks also in Markdown. What we write notifies nobody, and no message
is too long. Names of people, groups and channels come from others: each becomes one token, so that
it cannot request anything.

The note has a line for each fact, with a button to undo it.
"""

from __future__ import annotations

import re
import time
import unicodedata
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackClientError

from turnleaf.core.languages.replies import choose_words
from turnleaf.errors import Conflict, NotFound, TurnleafError
from turnleaf.faces.slack.client import (
    Patience,
    find_reason,
    is_limited,
    is_passing,
    make_client,
    post,
)
from turnleaf.memory_commands import find_requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from slack_sdk import WebClient
    from slack_sdk.web import SlackResponse

    from turnleaf.core.changes import Change
    from turnleaf.core.schedules import Run, Schedule
    from turnleaf.learning import LearnedFact
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import Facts


LONGEST = 2900
"""The most characters of a message; escaped they are up to four times as many, of Slack's 12000."""
ENOUGH = 2200
"""The fewest characters of a message that another one continues."""
_ADDRESS = re.compile(r"<(https?://[!-;=?-{}~]+)>")
_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]{1,31};)")
_GREATER = re.compile(r"(?P<quote>^(?:[ \t]*>)+)|>", re.MULTILINE)
_CALL = re.compile(
    r"(?<![A-Za-z0-9])@(?=(?:channel|here|everyone)(?!_?[A-Za-z0-9]))", re.IGNORECASE
)
_UNFINISHED = re.compile(r"(?<![!-~])(?P<shown>[!-%'-;=-?A-~]*+)[<@&][!-~]*+\Z")
_FENCE = re.compile(r"([ \t>]{0,40})(`{3,20}(?=[^`]*\Z)|~{3,20}(?!~))(.*)")
"""A line that begins or ends a code block, also in a list or a quote."""
_INFO_CHARS = 20
_BREAKS = (re.compile(r"\n"), re.compile(r"(?<=[。！？；])|[ \t]+"))
_ZERO_WIDTH = "\u200b"
_MARK = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")
_SCHEMES = ("mailto:", "tel:")
_GROUP = "!subteam^"
_NAME_CHARS = 30
_CALLED = re.compile(r"[@#]\S+")


def escape(markdown: str) -> str:
    """Return Markdown in which no text is one of Slack's own marks."""
    text = _ADDRESS.sub(r"\1", markdown)
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;")
    text = _GREATER.sub(lambda found: found["quote"] or "&gt;", text)
    # Nothing in an answer may notify a whole channel.
    return _CALL.sub(f"@{_ZERO_WIDTH}", text)


def escape_plain(text: str) -> str:
    """Return a text for one of Slack's plain-text fields."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _CALL.sub(f"@{_ZERO_WIDTH}", text)


def cut_unfinished(text: str) -> str:
    """Return the part of a growing text that will not look different later."""
    return _UNFINISHED.sub(r"\g<shown>", text[:ENOUGH])


def split_messages(text: str) -> list[str]:
    """Return a text as the messages that hold it."""
    held = []
    while len(text) > LONGEST:
        first, text = cut_message(text)
        held.append(first)
    return [*held, text]


def cut_message(text: str) -> tuple[str, str]:
    """Split off the first message of a longer text; an open code block continues in the rest."""
    at = _find_cut(text)
    head, rest = text[:at], text[at:]
    fence = _find_open_fence(head)
    if fence is None:
        return head, rest.lstrip("\n")
    indent, mark, info = fence
    begins = f"{indent}{mark}{info[:_INFO_CHARS]}"
    return f"{head}\n{indent}{mark}", f"{begins}\n{rest.removeprefix(chr(10))}"


def _find_cut(text: str) -> int:
    """Return where to cut: between paragraphs, else lines, else sentences or words."""
    window = text[:LONGEST]
    for found in reversed([*re.finditer(r"\n\n", window)]):
        if found.start() >= ENOUGH and _find_open_fence(text[: found.start()]) is None:
            return found.start()
    for kind in _BREAKS:
        places = [found.start() for found in kind.finditer(window, ENOUGH)]
        if places:
            return places[-1]
    return LONGEST


def _find_open_fence(text: str) -> tuple[str, str, str] | None:
    """Return the indent, mark and info of a code block that is open at the end, if any."""
    opened: tuple[str, str, str] | None = None
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        if found and opened is None:
            opened = found[1], found[2], found[3].strip()
        elif found and opened and found[2].startswith(opened[1]) and not found[3].strip():
            opened = None
    return opened


def make_readable(text: str, *, own: str, name_of: Callable[[str], str]) -> str:
    """Return a text as people see it, without mentions of `own`."""
    mention = rf"<@{re.escape(own)}(?:\|[^<>]*)?>"
    text = re.sub(rf"^\s*+{mention}[\s,:，：、]*", "", text)
    text = re.sub(rf"(?:(?<![ \t])[ \t]*+)?{mention}[ \t]*+", " ", text)
    named = _replace_marks(text, lambda one, label: make_name_token(label or name_of(one)) or one)
    bare = _replace_marks(text, lambda one, _: one)
    # A name is what somebody chose for themselves, and must not change what is asked for.
    return named if _find_requests(named) == _find_requests(bare) else bare


def has_mention(text: str, user: str) -> bool:
    """Whether a text mentions a user."""
    return f"<@{user}>" in text or f"<@{user}|" in text


def is_to_another(text: str, user: str) -> bool:
    """Whether a text begins with a mention of somebody else."""
    first = re.match(r"\s*<@[^<>]*>", text)
    return first is not None and not has_mention(first[0], user)


def _replace_marks(text: str, called: Callable[[str, str], str]) -> str:
    """Return a text without marks; `called` returns the name for an ID and its label."""
    return _unescape(_MARK.sub(lambda found: _read_mark(found[1], called), text)).strip()


def _read_mark(mark: str, called: Callable[[str, str], str]) -> str:
    body, _, label = mark.partition("|")
    if body.startswith("@"):
        return f"@{called(body[1:], label)}"
    if body.startswith("#"):
        return f"#{called(body[1:], label or body[1:])}"
    if body.startswith(_GROUP):
        group = body.removeprefix(_GROUP)
        return f"@{called(group, label.removeprefix('@') or group)}"
    if body.startswith("!"):
        return label or f"@{body[1:].partition('^')[0]}"
    return _show_link(body, label)


def make_name_token(name: str) -> str:
    """Return a name as one word of letters, digits, hyphens and underscores."""
    plain = "".join(one if _is_of_word(one) else " " for one in name)
    return "_".join(plain.split())[:_NAME_CHARS]


def _is_of_word(character: str) -> bool:
    return character in "-_" or unicodedata.category(character)[0] in "LMN"


def _find_requests(text: str) -> list[tuple[str, str]]:
    """Return the requests in a text, with all names replaced."""
    return [(one.action, _CALLED.sub("@", one.content)) for one in find_requests(text)]


def _show_link(address: str, label: str) -> str:
    for scheme in _SCHEMES:
        address = address.removeprefix(scheme)
    return f"{label} ({address})" if label and label not in address else address


def _unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


STREAM_SECONDS = 1.0
EDIT_SECONDS = 2.0
"""How often new text is shown; Slack allows about fifty edits a minute."""
THINKING = "is thinking…"
PLACEHOLDER = "…"
UNDO = "turnleaf_undo"
MOST_FACTS = 10
SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """A thread, and who is answered there."""

    channel: str
    thread: str
    user: str
    team: str


class ThreadAnswer:
    """Shows a growing text in as many messages as it needs, each streamed or edited."""

    def __init__(
        self, client: WebClient, place: ThreadPlace, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._place = place
        self._clock = clock
        self._said: list[str] = []
        self._text = ""
        self._message = ThreadMessage(client, place)
        self._left: list[tuple[ThreadMessage, str]] = []
        self._is_over = False
        self._shown_at = clock()
        self.notes: list[NoteLine] = []
        """What was changed in the memory, to be noted under the answer."""

    def think(self) -> None:
        """Show that an answer is coming."""
        try:
            self._client.assistant_threads_setStatus(
                channel_id=self._place.channel, thread_ts=self._place.thread, status=THINKING
            )
        except SlackClientError as error:
            if not is_limited(error):
                with suppress(SlackClientError):
                    self._message.post(PLACEHOLDER)

    def add(self, text: str) -> None:
        """Add a piece, and show it soon."""
        self._said.append(text)
        self._text += text
        while len(self._text) > LONGEST:
            first, self._text = cut_message(self._text)
            self._left.append((self._message, escape(first)))
            self._message = ThreadMessage(self._client, self._place, streams=self._message.streams)
        pause = STREAM_SECONDS if self._message.streams else EDIT_SECONDS
        if self._left or self._clock() - self._shown_at >= pause:
            self.show()

    def show(self) -> None:
        """Show the text so far; what cannot be shown now is shown later, or at the end."""
        with suppress(SlackClientError):
            self._show_left()
            self._message.show(escape(cut_unfinished(self._text)))
        self._shown_at = self._clock()

    @property
    def whole_text(self) -> str:
        """The whole text so far."""
        return "".join(self._said)

    def remark(self, text: str) -> None:
        """Add a paragraph."""
        self.add(f"\n\n{text}" if self._text.strip() else text)

    def end(self) -> None:
        """Show all that is left; may be called again after an error."""
        if not self._is_over:
            self._left.append((self._message, escape(self._text)))
            self._is_over = True
        self._show_left()

    def _show_left(self) -> None:
        """Show the complete messages in order."""
        while self._left:
            message, text = self._left[0]
            message.end(text)
            del self._left[0]


class ThreadMessage:
    """One message of an answer: a stream where Slack allows it, else one that is edited."""

    def __init__(self, client: WebClient, place: ThreadPlace, *, streams: bool = True) -> None:
        self.streams = streams
        self._client = client
        self._place = place
        self._stream = client.chat_stream(
            buffer_size=1,
            channel=place.channel,
            thread_ts=place.thread,
            recipient_user_id=place.user,
            recipient_team_id=place.team,
        )
        self._streamed = ""
        """What was given to the stream; the library sends what failed with the next piece."""
        self._is_ended = False
        self._posted: str | None = None
        self._shown = ""

    def post(self, text: str) -> None:
        """Post a placeholder."""
        self.streams = False
        self._edit(text)

    def show(self, text: str) -> None:
        """Show the text so far."""
        if text.strip() and text != self._shown and not self._add(text):
            self._edit(text)

    def end(self, text: str) -> None:
        """Show the whole text."""
        if not text.strip() or (self._stream.ts and self._add(text, is_last=True)):
            return
        if text != self._shown:
            self._edit(text)

    def _add(self, text: str, *, is_last: bool = False) -> bool:
        """Append the new part of a text to the stream; return False where streams do not work.

        Not every place has them, and Slack ends one after some minutes: then the message is
        edited. A rate limit is raised.
        """
        if not self.streams:
            return False
        more, self._streamed = text[len(self._streamed) :], text
        try:
            (self._stream.stop if is_last else self._stream.append)(markdown_text=more)
        except SlackClientError as error:
            if is_limited(error):
                raise
            self.streams = False
            self._shown = ""
            return False
        self._is_ended = is_last
        self._shown = text
        return True

    def _edit(self, text: str) -> None:
        self._end_stream()
        ts = self._stream.ts or self._posted
        if ts is None:
            self._posted = post(self._client, self._place.channel, self._place.thread, text)
        else:
            self._client.chat_update(channel=self._place.channel, ts=ts, markdown_text=text)
        self._shown = text

    def _end_stream(self) -> None:
        """End an abandoned stream; before that, Slack accepts no edits."""
        if self._stream.ts is None or self._is_ended:
            return
        try:
            self._client.chat_stopStream(channel=self._place.channel, ts=self._stream.ts)
        except SlackClientError as error:
            if is_passing(error):
                raise
        self._is_ended = True


# The note of what was learned


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One fact of a note; `change` is what its button undoes, `before` what it replaced."""

    kind: str
    content: str
    change: str | None = None
    before: str = ""

    @property
    def text(self) -> str:
        """The line as people read it."""
        return choose_note_words(self.content)[self.kind].format(
            _shorten(self.content), _shorten(self.before)
        )


def choose_note_words(text: str) -> Mapping[str, str]:
    """Return our words in the language of a text."""
    return choose_words(text, "slack_notes")


def list_learned_lines(learned: Iterable[LearnedFact]) -> dict[str, list[NoteLine]]:
    """Return the lines for what was learned in the background, by conversation."""
    found: dict[str, list[NoteLine]] = {}
    for one in learned:
        made = one.change
        if made and made.source and made.source.conversation:
            is_waiting = one.action == "waiting"
            line = NoteLine("waiting", one.memory.content) if is_waiting else make_line(made)
            found.setdefault(made.source.conversation, []).append(line)
    return found


def make_blocks(lines: Sequence[NoteLine]) -> list[dict[str, Any]]:
    """Return a note in the form that Slack shows."""
    shown = [_make_block(line) for line in lines[:MOST_FACTS]]
    left = len(lines) - MOST_FACTS
    if left > 0:
        shown.append(_make_section(choose_note_words(lines[0].content)["more"].format(left)))
    return shown


def make_fallback(lines: Sequence[NoteLine]) -> str:
    """Return a note for where blocks are not shown."""
    return escape_plain("\n".join(line.text for line in lines[:MOST_FACTS]))


def take_back(memory: Facts, value: str) -> str:
    """Undo the change of a button, and return what to show."""
    number, _, memory_id = value.partition(":")
    made = [one for one in memory.changes(memory_id) if str(one.n) == number]
    if not made:
        return NoteLine("gone", memory_id).text
    content = make_line(made[0]).content
    try:
        memory.undo(made[0].n)
    except NotFound:
        return NoteLine("gone", content).text
    except Conflict:
        return NoteLine("changed", content).text
    return NoteLine("undone", content).text


def replace_block(shown: Sequence[dict[str, Any]], block: str, text: str) -> list[dict[str, Any]]:
    """Return a note in which the line of the pressed button is replaced."""
    return [_make_section(text) if one.get("block_id") == block else one for one in shown]


def make_line(change: Change) -> NoteLine:
    """Return the line for a change of the memory."""
    fact = change.after or change.before
    return NoteLine(
        "add" if change.op == "revive" else change.op,
        fact.content if fact else change.id,
        f"{change.n}:{change.id}",
        change.before.content if change.before else "",
    )


def _make_block(line: NoteLine) -> dict[str, Any]:
    shown = _make_section(line.text)
    if line.change is None:
        return shown
    label = {"type": "plain_text", "text": choose_note_words(line.content)["undo"]}
    button = {"type": "button", "action_id": UNDO, "value": line.change, "text": label}
    return {**shown, "block_id": f"change-{line.change}", "accessory": button}


def _make_section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"


EVENT_TYPE = "turnleaf_run"
MOST_LOOKED_AT = 100


def make_delivery(settings: Settings, stop: Event | None = None) -> Deliver | None:
    """Return the function that delivers to Slack, or None without a token.

    Once `stop` is set it no longer waits between retries.
    """
    if not settings.slack_bot_token:
        return None
    client = make_client(settings.slack_bot_token)
    patiently = Patience((stop or Event()).wait)

    def deliver(schedule: Schedule, run: Run, text: str) -> None:
        channel = Channel(client, schedule.deliver.partition(":")[2])
        # Each retry counts as another attempt, which looks first at
        # what has arrived: it may be that only Slack's answer was lost.
        attempts = count(run.attempts)
        try:
            patiently(lambda: channel.bring(schedule, replace(run, attempts=next(attempts)), text))
        except SlackClientError as error:
            reason = find_reason(error)
            message = f"cannot post to {channel.id} ({reason}); is the bot in that channel?"
            raise TurnleafError(message) from None

    return deliver


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel to deliver to."""

    client: WebClient
    id: str

    def bring(self, schedule: Schedule, run: Run, text: str) -> None:
        """Send a result under the schedule's name; a long one continues in the thread.

        After a failed attempt only the parts that did not arrive are sent.
        """
        name = " ".join((schedule.name or schedule.id).split())
        parts = split_messages(f"{name}\n\n{text.strip()}\n\n`{run.id}`")
        # A first attempt has sent nothing yet.
        sent = self._find_sent(run) if run.attempts > 1 else {}
        for number, part in enumerate(parts):
            if number not in sent:
                payload = {"schedule": schedule.id, "run": run.id, "part": number}
                metadata = {"event_type": EVENT_TYPE, "event_payload": payload}
                thread, shown = sent.get(0), escape(part)
                sent[number] = post(self.client, self.id, thread, shown, metadata=metadata)

    def _find_sent(self, run: Run) -> dict[int, str]:
        """Return the parts that have arrived, by number."""
        look = partial(self._look, run)
        oldest = str(run.due.timestamp())
        first = look(partial(self.client.conversations_history, oldest=oldest))
        if not first:
            return {}
        return first | look(partial(self.client.conversations_replies, ts=first[0]))

    def _look(self, run: Run, ask: Callable[..., SlackResponse]) -> dict[int, str]:
        found = ask(channel=self.id, limit=MOST_LOOKED_AT, include_all_metadata=True)
        there: list[dict[str, Any]] = found.get("messages", [])
        payloads = [(one, one.get("metadata", {}).get("event_payload", {})) for one in there]
        return {
            int(payload.get("part", 0)): str(one["ts"])
            for one, payload in payloads
            if payload.get("run") == run.id
        }
