"""The bot: what people say to it becomes turns of the assistant, one at a time in each thread."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

from turnleaf.assistant import Done
from turnleaf.core.dialogue import Text, ToolCall
from turnleaf.core.keys import slack_key
from turnleaf.core.languages.replies import choose_words
from turnleaf.core.secrets import masked
from turnleaf.core.times import to_millisecond
from turnleaf.errors import TurnleafError
from turnleaf.faces.places import harmless
from turnleaf.faces.slack import notes
from turnleaf.faces.slack.answers import Answer, Place, post
from turnleaf.faces.slack.channels import Channels
from turnleaf.faces.slack.client import Patience
from turnleaf.faces.slack.lanes import Lanes, attempt
from turnleaf.faces.slack.people import People
from turnleaf.faces.slack.reading import mentions, name_token, readable, speaks_to_another
from turnleaf.faces.slack.recent import Recent
from turnleaf.faces.slack.writing import escaped, literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from slack_sdk import WebClient

    from turnleaf.assistant import Assistant
    from turnleaf.faces.slack.client import Identity

STOP_SECONDS = 3.0
MOST_SEEN = 5000
MOST_THREADS = 1000
SAID = (None, "file_share", "thread_broadcast")
"""The subtypes of what a person says; all others tell of something else."""

log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class Said:
    """Something that a person said."""

    channel: str
    user: str
    team: str
    text: str
    ts: str
    thread: str | None
    is_called: bool
    files: tuple[str, ...]

    @property
    def key(self) -> str:
        """The conversation that it belongs to."""
        return slack_key(self.ts, self.thread)

    @property
    def place(self) -> Place:
        """Where it is answered."""
        return Place(self.channel, self.thread or self.ts, self.user, self.team)

    @property
    def time(self) -> datetime:
        """When it was said, by Slack's clock."""
        return datetime.fromtimestamp(float(self.ts), UTC)

    def words(self, name: str, *given: str) -> str:
        """Say something in the language in which it was said."""
        return _words(self.text)[name].format(*given)


class Bot:
    """Answers in Slack. Whoever hears an event tells it, and need not wait."""

    def __init__(
        self,
        assistant: Assistant,
        client: WebClient,
        me: Identity,
        *,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._own = assistant
        self._client = client
        self._me = me
        self._began = assistant.now()
        self._stop = Event()
        self._patiently = Patience(wait or self._stop.wait)
        self._people = People(client, me, lambda: assistant.settings, self._patiently)
        self._channels = Channels(client, self._patiently)
        self._lanes = Lanes()
        self._asides = Lanes(1)
        self._heard = Recent[str](MOST_SEEN)
        self._refused = Recent[str](MOST_SEEN)
        self._places = Recent[Place](MOST_THREADS)
        self._notes = Recent[list[dict[str, Any]]](MOST_THREADS)

    # What is heard.

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take an event of Slack; the same message is taken once."""
        self._channels.note(event)
        said = _said(event, self._me)
        if said is None or self._is_chatter(said):
            return
        message = said.channel, said.ts
        if not self._heard.add(message, said.ts):
            return
        if not self._lanes.do(said.key, partial(self._take, said), said.user):
            log.warning("too much waits to be answered in Slack; a message was left out")
            self._heard.remove(message)
            self._turn_away(said)

    def press(self, body: Mapping[str, Any]) -> None:
        """Take the press of a button under a note."""
        lane = str(body.get("container", {}).get("message_ts", ""))
        user = str(body.get("user", {}).get("id", ""))
        if not self._lanes.do(lane, partial(self._pressed, body), user):
            log.warning("too much waits to be answered in Slack; a press of a button was left out")

    def tell_news(self) -> None:
        """Tell each thread what was learnt from it in the background."""
        attempt(self._tell_news)

    def _tell_news(self) -> None:
        for problem in self._own.problems():
            log.warning("in the background: %s", masked(problem))
        learnt = self._own.learnt()
        if not learnt:
            return
        found = notes.of_learnt(learnt, self._own.memory.changes(), self._own.pending.changes())
        for key, lines in found.items():
            place = self._places.get(key)
            if place and not self._lanes.do(key, partial(self._note, place, lines)):
                log.warning("too much waits in Slack; a note of what was learnt was left out")

    def hush(self) -> None:
        """Begin no answer any more, and end those under way with what was said so far."""
        self._stop.set()

    def stop(self) -> None:
        """End all answers, and keep what was said."""
        self.hush()
        self.wait(STOP_SECONDS)

    def wait(self, seconds: float) -> bool:
        """Wait until all that was heard is dealt with; False when it takes longer."""
        return self._lanes.wait(seconds) and self._asides.wait(seconds)

    # What is said.

    def _is_chatter(self, said: Said) -> bool:
        """Tell whether it is plain at once that nobody speaks to us."""
        is_elsewhere = said.thread is None or speaks_to_another(said.text, self._me.user)
        return is_elsewhere and not said.is_called

    def _turn_away(self, said: Said) -> None:
        """Say that there is too much to do, once a minute and without waiting for a lane."""
        minute = self._own.now().replace(second=0, microsecond=0)
        if said.is_called and self._refused.add((said.user, said.channel, minute), said.ts):
            self._asides.do(said.channel, partial(self._tell, said, said.words("busy")), said.user)

    def _take(self, said: Said) -> None:
        try:
            if not (said.is_called or self._takes_part(said)):
                return
            if self._people.is_allowed(said.user, said.channel):
                self._answer(said)
            elif said.is_called:
                self._refuse(said)
        except TurnleafError:
            if said.is_called:
                self._tell(said, said.words("broken"))
            raise

    def _takes_part(self, said: Said) -> bool:
        """Whether we answered there; after a restart only what is kept of it tells."""
        return bool(self._places.get(said.key) or self._own.conversations.summary(said.key))

    def _was_answered(self, said: Said, text: str) -> bool:
        """Tell whether it comes again, and was answered before we were started."""
        if said.time >= self._began:
            return False
        kept = self._own.conversations.get_history(said.key)
        times = [one.timestamp for one in kept if one.role == "user" and one.text == text]
        return any(time and said.time <= time < self._began for time in times)

    def _refuse(self, said: Said) -> None:
        """Say politely that somebody is not on the list, once a day."""
        today = self._own.now().date()
        if self._refused.add((said.user, said.channel, today), said.ts):
            self._tell(said, said.words("refused", said.user))

    def _answer(self, said: Said) -> None:
        self._places.add(said.key, said.place)
        if self._stop.is_set():
            self._tell(said, said.words("stopping"))
            return
        text = readable(said.text, own=self._me.user, name_of=self._people.name_of)
        if self._was_answered(said, text):
            return
        if text:
            self._turn(said, text)
        if said.files:
            self._tell(said, said.words("files", ", ".join(said.files)))
        elif not text:
            self._tell(said, said.words("empty"))

    def _turn(self, said: Said, text: str) -> None:
        started = to_millisecond(self._own.now())
        answer = Answer(self._client, said.place)
        answer.think()
        try:
            self._stream(said, text, answer)
            if not answer.said.strip():
                answer.remark(said.words("silent"))
        except TurnleafError as error:
            answer.remark(said.words("failed", harmless(str(error), self._own)))
        except Exception:
            answer.remark(said.words("broken"))
            raise
        finally:
            self._patiently(answer.end)
        attempt(partial(self._note_turn, said, started))

    def _note_turn(self, said: Said, started: datetime) -> None:
        lines = notes.of_turn(self._own.memory.changes(), said.key, started)
        if lines:
            self._note(said.place, lines)

    def _stream(self, said: Said, text: str, answer: Answer) -> None:
        events = self._own.stream(
            said.key,
            text,
            audience=self._channels.audience(said.channel),
            speaker=name_token(self._people.name_of(said.user)) or said.user,
            trust="user" if self._people.is_listed(said.user) else "stranger",
            source=f"slack:{said.user}",
        )
        with closing(events):
            for event in events:
                if isinstance(event, Text):
                    answer.add(event.text)
                elif isinstance(event, ToolCall):
                    answer.show()
                if self._stop.is_set() and not isinstance(event, Done):
                    answer.remark(said.words("stopped"))
                    return

    def _tell(self, said: Said, text: str) -> None:
        place = said.place
        self._patiently(lambda: post(self._client, place.channel, place.thread, escaped(text)))

    # What was learnt.

    def _note(self, place: Place, lines: Sequence[notes.Line]) -> None:
        send = partial(
            self._client.chat_postMessage,
            channel=place.channel,
            thread_ts=place.thread,
            text=notes.fallback(lines),
            blocks=notes.blocks(lines),
            unfurl_links=False,
            unfurl_media=False,
        )
        self._patiently(send)

    def _pressed(self, body: Mapping[str, Any]) -> None:
        user, channel, message = body["user"]["id"], body["channel"]["id"], body["message"]
        if not self._people.is_allowed(user, channel):
            self._client.chat_postEphemeral(
                channel=channel,
                user=user,
                thread_ts=message.get("thread_ts"),
                text=_words(str(message.get("text")))["refused"].format(user),
            )
            return
        for action in body["actions"]:
            text = notes.take_back(self._own.memory, str(action.get("value", "")))
            note = channel, message["ts"]
            before = self._notes.get(note) or message.get("blocks", ())
            shown = notes.pressed(before, action["block_id"], text)
            self._notes.add(note, shown)
            show = partial(self._client.chat_update, text=literal(text), blocks=shown)
            self._patiently(partial(show, channel=channel, ts=message["ts"]))


def _words(text: str) -> Mapping[str, str]:
    return choose_words(text, "slack")


def _said(event: Mapping[str, Any], me: Identity) -> Said | None:
    """Give what a person said; None when it was a program, ourselves, or no message."""
    user = event.get("user")
    is_human = user and not event.get("bot_id") and user not in {me.user, "USLACKBOT"}
    if not is_human or event.get("subtype") not in SAID or not event.get("ts"):
        return None
    channel, text = str(event.get("channel")), str(event.get("text") or "")
    thread = event.get("thread_ts") or None
    is_direct = event.get("channel_type") == "im" or channel.startswith("D")
    return Said(
        channel=channel,
        user=str(user),
        team=str(event.get("team") or me.team),
        text=text,
        ts=str(event["ts"]),
        thread=thread if thread != event["ts"] else None,
        is_called=is_direct or mentions(text, me.user),
        files=tuple(str(one.get("name") or one.get("id")) for one in event.get("files") or ()),
    )
