"""What the bot shows in a thread: a streamed answer, and a note of what was learned.

The note has a line for each fact, with a button to undo it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackClientError

from turnleaf.core.languages.replies import choose_words
from turnleaf.errors import Conflict, NotFound
from turnleaf.faces.slack.client import is_limited, is_passing, post
from turnleaf.faces.slack.texts import LONGEST, cut_message, cut_unfinished, escape, escape_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from slack_sdk import WebClient

    from turnleaf.core.changes import Change
    from turnleaf.learning import LearnedFact
    from turnleaf.store.contracts import Facts

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
