"""An answer that appears in a thread while it is being given."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackClientError

from turnleaf.faces.slack.client import is_limited, passes
from turnleaf.faces.slack.writing import LONGEST, escaped, first_message, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from slack_sdk import WebClient

STREAM_SECONDS = 1.0
EDIT_SECONDS = 2.0
"""How often what came meanwhile is shown; Slack allows about fifty edits a minute."""
THINKING = "is thinking…"
PLACEHOLDER = "…"


@dataclass(frozen=True, slots=True)
class Place:
    """A thread, and who is answered there."""

    channel: str
    thread: str
    user: str
    team: str


class Answer:
    """Shows a growing text in as many messages as it needs, each streamed or edited."""

    def __init__(
        self, client: WebClient, place: Place, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._place = place
        self._clock = clock
        self._said: list[str] = []
        self._text = ""
        self._message = Message(client, place)
        self._left: list[tuple[Message, str]] = []
        self._is_over = False
        self._shown_at = clock()

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
        """Take a piece, and show it soon."""
        self._said.append(text)
        self._text += text
        while len(self._text) > LONGEST:
            first, self._text = first_message(self._text)
            self._left.append((self._message, escaped(first)))
            self._message = Message(self._client, self._place, streams=self._message.streams)
        pause = STREAM_SECONDS if self._message.streams else EDIT_SECONDS
        if self._left or self._clock() - self._shown_at >= pause:
            self.show()

    def show(self) -> None:
        """Show what came so far; what cannot be shown now is shown later, or at the end."""
        with suppress(SlackClientError):
            self._show_left()
            self._message.show(escaped(settled(self._text)))
        self._shown_at = self._clock()

    @property
    def said(self) -> str:
        """All that was said so far."""
        return "".join(self._said)

    def remark(self, text: str) -> None:
        """Add something in a paragraph of its own."""
        self.add(f"\n\n{text}" if self._text.strip() else text)

    def end(self) -> None:
        """Show all that is left; whoever could not may try again."""
        if not self._is_over:
            self._left.append((self._message, escaped(self._text)))
            self._is_over = True
        self._show_left()

    def _show_left(self) -> None:
        """Show what is whole, in its order."""
        while self._left:
            message, text = self._left[0]
            message.end(text)
            del self._left[0]


class Message:
    """One message of an answer: a stream where Slack lets us, else one that is edited."""

    def __init__(self, client: WebClient, place: Place, *, streams: bool = True) -> None:
        self.streams = streams
        self._client = client
        self._place = place
        self._ts: str | None = None
        self._shown = ""
        self._is_open = False
        """Whether there is a stream that nobody has ended yet."""

    def post(self, text: str) -> None:
        """Show a first text that will be another."""
        self.streams = False
        self._edit(text)

    def show(self, text: str) -> None:
        """Show the text so far."""
        if text.strip() and text != self._shown and not (self.streams and self._stream(text)):
            self._edit(text)

    def end(self, text: str) -> None:
        """Show the whole text."""
        if not text.strip() or (self.streams and self._ts and self._end_stream(text)):
            return
        if text != self._shown:
            self._edit(text)

    def _stream(self, text: str) -> bool:
        try:
            if self._ts is None:
                self._ts = self._start(text)
                self._is_open = True
            else:
                self._client.chat_appendStream(**self._here, markdown_text=self._more(text))
        except SlackClientError as error:
            self._give_up_stream(error)
            return False
        self._shown = text
        return True

    def _start(self, text: str) -> str:
        started = self._client.chat_startStream(
            channel=self._place.channel,
            thread_ts=self._place.thread,
            recipient_user_id=self._place.user,
            recipient_team_id=self._place.team,
            markdown_text=text,
        )
        return str(started["ts"])

    def _end_stream(self, text: str) -> bool:
        try:
            self._client.chat_stopStream(**self._here, markdown_text=self._more(text) or None)
        except SlackClientError as error:
            self._give_up_stream(error)
            return False
        self._is_open = False
        self._shown = text
        return True

    def _give_up_stream(self, error: SlackClientError) -> None:
        """Go on by editing: not every place has streams, and Slack ends one after some minutes.

        Where we were only too quick it goes on as it is.
        """
        if is_limited(error):
            raise error
        self.streams = False
        self._shown = ""

    def _edit(self, text: str) -> None:
        self._close_stream()
        if self._ts is None:
            self._ts = post(self._client, self._place.channel, self._place.thread, text)
        else:
            self._client.chat_update(**self._here, markdown_text=text)
        self._shown = text

    def _close_stream(self) -> None:
        """End a stream that we gave up; until Slack has heard of that it takes no edit."""
        if self._is_open:
            try:
                self._client.chat_stopStream(**self._here)
            except SlackClientError as error:
                if passes(error):
                    raise
            self._is_open = False

    def _more(self, text: str) -> str:
        return text[len(self._shown) :]

    @property
    def _here(self) -> dict[str, Any]:
        return {"channel": self._place.channel, "ts": self._ts}


def post(client: WebClient, channel: str, thread: str | None, text: str, **more: Any) -> str:  # noqa: ANN401 - Slack's own
    """Send a message, in which links bring nothing of what they lead to; give its name."""
    sent = client.chat_postMessage(
        channel=channel,
        thread_ts=thread,
        markdown_text=text,
        unfurl_links=False,
        unfurl_media=False,
        **more,
    )
    return str(sent["ts"])
