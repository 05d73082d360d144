"""The bot: what people say to it becomes turns of the assistant, one at a time in each thread."""

from __future__ import annotations

import logging
from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from threading import BoundedSemaphore, Condition, Event, Thread
from typing import TYPE_CHECKING, Any

from turnleaf.assistant import Changed, Done
from turnleaf.core.dialogue import Text, ToolCall
from turnleaf.core.keys import slack_key
from turnleaf.core.languages.replies import choose_words
from turnleaf.core.secrets import mask_secrets
from turnleaf.core.setting_kinds import read_pairs
from turnleaf.errors import TurnleafError
from turnleaf.faces.outside import harmless
from turnleaf.faces.slack.answers import (
    NoteLine,
    ThreadAnswer,
    ThreadPlace,
    list_learned_lines,
    make_blocks,
    make_fallback,
    make_line,
    replace_block,
    take_back,
)
from turnleaf.faces.slack.client import Patience, attempt, post
from turnleaf.faces.slack.directory import Channels, People, Recent
from turnleaf.faces.slack.texts import (
    escape,
    escape_plain,
    has_mention,
    is_to_another,
    make_name_token,
    make_readable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from slack_sdk import WebClient

    from turnleaf.assistant import Assistant
    from turnleaf.faces.slack.client import Identity
    from turnleaf.spaces import Spaces

STOP_SECONDS = 3.0
MOST_AT_ONCE = 4
MOST_WAITING = 200
"""How much waits at most; more than that is not taken."""
MOST_OF_ONE = 20
"""How much of that may be one person's."""
MOST_SEEN = 5000
MOST_THREADS = 1000
SAID = (None, "file_share", "thread_broadcast")
"""The subtypes of what a person says; all others tell of something else."""

log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class SlackMessage:
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
    def place(self) -> ThreadPlace:
        """Where it is answered."""
        return ThreadPlace(self.channel, self.thread or self.ts, self.user, self.team)

    @property
    def time(self) -> datetime:
        """When it was said, by Slack's clock."""
        return datetime.fromtimestamp(float(self.ts), UTC)

    def phrase(self, name: str, *given: str) -> str:
        """Say something in the language in which it was said."""
        return _choose_words(self.text)[name].format(*given)


class Bot:
    """Answers in Slack. Whoever hears an event tells it, and need not wait."""

    def __init__(
        self,
        assistant: Assistant,
        client: WebClient,
        me: Identity,
        *,
        spaces: Spaces | None = None,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._own = assistant
        self._spaces = spaces
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
        self._places = Recent[ThreadPlace](MOST_THREADS)
        self._notes = Recent[list[dict[str, Any]]](MOST_THREADS)

    # What is heard.

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take an event of Slack; the same message is taken once."""
        self._channels.note(event)
        said = _read_event(event, self._me)
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
        if not self._lanes.do(lane, partial(self._take_press, body), user):
            log.warning("too much waits to be answered in Slack; a press of a button was left out")

    def tell_news(self) -> None:
        """Tell each thread what was learned from it in the background."""
        attempt(self._tell_news)

    def _tell_news(self) -> None:
        self._tell_news_of(self._own)
        if self._spaces:
            with self._spaces.use_open() as others:
                for one in others:
                    self._tell_news_of(one)

    def _tell_news_of(self, one: Assistant) -> None:
        for problem in one.problems():
            log.warning("in the background: %s", mask_secrets(problem))
        for key, lines in list_learned_lines(one.learnt()).items():
            place = self._places.get(key)
            if place and not self._lanes.do(key, partial(self._note, place, lines)):
                log.warning("too much waits in Slack; a note of what was learned was left out")

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

    # Whose memory it is.

    @contextmanager
    def _use_memory_of(self, user: str) -> Iterator[Assistant]:
        """Return the assistant of a person's space, or the one of all who have none."""
        spaces = read_pairs(self._own.settings.slack_spaces or "")
        if self._spaces is None or user not in spaces:
            yield self._own
            return
        with self._spaces.use(spaces[user]) as one:
            yield one

    # What is said.

    def _is_chatter(self, said: SlackMessage) -> bool:
        """Whether it is plain at once that nobody speaks to us."""
        is_elsewhere = said.thread is None or is_to_another(said.text, self._me.user)
        return is_elsewhere and not said.is_called

    def _turn_away(self, said: SlackMessage) -> None:
        """Say that there is too much to do, once a minute and without waiting for a lane."""
        minute = self._own.now().replace(second=0, microsecond=0)
        if said.is_called and self._refused.add((said.user, said.channel, minute), said.ts):
            self._asides.do(said.channel, partial(self._tell, said, said.phrase("busy")), said.user)

    def _take(self, said: SlackMessage) -> None:
        try:
            with self._use_memory_of(said.user) as own:
                if not (said.is_called or self._takes_part(said, own)):
                    return
                if self._people.is_allowed(said.user, said.channel):
                    self._answer(said, own)
                    return
            if said.is_called:
                self._refuse(said)
        except TurnleafError:
            if said.is_called:
                self._tell(said, said.phrase("broken"))
            raise

    def _takes_part(self, said: SlackMessage, own: Assistant) -> bool:
        """Whether we answered there; after a restart only what is kept of it tells."""
        return bool(self._places.get(said.key) or own.conversations.summary(said.key))

    def _was_answered(self, said: SlackMessage, text: str, own: Assistant) -> bool:
        """Whether it comes again, and was answered before we were started."""
        if said.time >= self._began:
            return False
        kept = own.conversations.get_history(said.key)
        times = [one.timestamp for one in kept if one.role == "user" and one.text == text]
        return any(time and said.time <= time < self._began for time in times)

    def _refuse(self, said: SlackMessage) -> None:
        """Say politely that somebody is not on the list, once a day."""
        today = self._own.now().date()
        if self._refused.add((said.user, said.channel, today), said.ts):
            self._tell(said, said.phrase("refused", said.user))

    def _answer(self, said: SlackMessage, own: Assistant) -> None:
        self._places.add(said.key, said.place)
        if self._stop.is_set():
            self._tell(said, said.phrase("stopping"))
            return
        text = make_readable(said.text, own=self._me.user, name_of=self._people.find_name)
        if self._was_answered(said, text, own):
            return
        if text:
            self._turn(said, text, own)
        if said.files:
            self._tell(said, said.phrase("files", ", ".join(said.files)))
        elif not text:
            self._tell(said, said.phrase("empty"))

    def _turn(self, said: SlackMessage, text: str, own: Assistant) -> None:
        answer = ThreadAnswer(self._client, said.place)
        answer.think()
        try:
            self._stream(said, text, answer, own)
            if not answer.said.strip():
                answer.remark(said.phrase("silent"))
        except TurnleafError as error:
            answer.remark(said.phrase("failed", harmless(str(error), own)))
        except Exception:
            answer.remark(said.phrase("broken"))
            raise
        finally:
            self._patiently(answer.end)
        if answer.notes:
            attempt(partial(self._note, said.place, answer.notes))

    def _stream(self, said: SlackMessage, text: str, answer: ThreadAnswer, own: Assistant) -> None:
        events = own.stream(
            said.key,
            text,
            audience=self._channels.find_audience(said.channel),
            speaker=make_name_token(self._people.find_name(said.user)) or said.user,
            trust="user" if self._people.is_listed(said.user) else "stranger",
            source=f"slack:{said.user}",
        )
        with closing(events):
            for event in events:
                if isinstance(event, Text):
                    answer.add(event.text)
                elif isinstance(event, ToolCall):
                    answer.show()
                elif isinstance(event, Changed):
                    answer.notes += map(make_line, event.changes)
                if self._stop.is_set() and not isinstance(event, Done):
                    answer.remark(said.phrase("stopped"))
                    return

    def _tell(self, said: SlackMessage, text: str) -> None:
        place = said.place
        self._patiently(lambda: post(self._client, place.channel, place.thread, escape(text)))

    # What was learned.

    def _note(self, place: ThreadPlace, lines: Sequence[NoteLine]) -> None:
        send = partial(
            self._client.chat_postMessage,
            channel=place.channel,
            thread_ts=place.thread,
            text=make_fallback(lines),
            blocks=make_blocks(lines),
            unfurl_links=False,
            unfurl_media=False,
        )
        self._patiently(send)

    def _take_press(self, body: Mapping[str, Any]) -> None:
        user, channel, message = body["user"]["id"], body["channel"]["id"], body["message"]
        if not self._people.is_allowed(user, channel):
            self._client.chat_postEphemeral(
                channel=channel,
                user=user,
                thread_ts=message.get("thread_ts"),
                text=_choose_words(str(message.get("text")))["refused"].format(user),
            )
            return
        for action in body["actions"]:
            with self._use_memory_of(user) as own:
                text = take_back(own.memory, str(action.get("value", "")))
            note = channel, message["ts"]
            before = self._notes.get(note) or message.get("blocks", ())
            shown = replace_block(before, action["block_id"], text)
            self._notes.add(note, shown)
            show = partial(self._client.chat_update, text=escape_plain(text), blocks=shown)
            self._patiently(partial(show, channel=channel, ts=message["ts"]))


def _choose_words(text: str) -> Mapping[str, str]:
    return choose_words(text, "slack")


def _read_event(event: Mapping[str, Any], me: Identity) -> SlackMessage | None:
    """Return what a person said; None when it was a program, ourselves, or no message."""
    user = event.get("user")
    is_human = user and not event.get("bot_id") and user not in {me.user, "USLACKBOT"}
    if not is_human or event.get("subtype") not in SAID or not event.get("ts"):
        return None
    channel, text = str(event.get("channel")), str(event.get("text") or "")
    thread = event.get("thread_ts") or None
    is_direct = event.get("channel_type") == "im" or channel.startswith("D")
    return SlackMessage(
        channel=channel,
        user=str(user),
        team=str(event.get("team") or me.team),
        text=text,
        ts=str(event["ts"]),
        thread=thread if thread != event["ts"] else None,
        is_called=is_direct or has_mention(text, me.user),
        files=tuple(str(one.get("name") or one.get("id")) for one in event.get("files") or ()),
    )


# Work in lanes


@dataclass(frozen=True, slots=True)
class Work:
    """Something to do, and for whom; what we do by ourselves is for nobody."""

    do: Callable[[], None]
    user: str | None


class Lanes:
    """Does what it is given, each in the lane that is named."""

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._places = BoundedSemaphore(most_at_once)
        self._changed = Condition()
        self._lanes: dict[str, deque[Work]] = {}

    def do(self, lane: str, do: Callable[[], None], user: str | None = None) -> bool:
        """Have something done after all that is in the lane; False when too much waits."""
        with self._changed:
            if self._is_full(user):
                return False
            if lane in self._lanes:
                self._lanes[lane].append(Work(do, user))
                return True
            return self._begin(lane, Work(do, user))

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to do; False when it takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, seconds)

    def _is_full(self, user: str | None) -> bool:
        waiting = [work.user for lane in self._lanes.values() for work in lane]
        is_too_much = user is not None and waiting.count(user) >= MOST_OF_ONE
        return is_too_much or len(waiting) >= MOST_WAITING

    def _begin(self, lane: str, work: Work) -> bool:
        thread = Thread(target=self._run, args=[lane], name="turnleaf-slack", daemon=True)
        self._lanes[lane] = deque([work])
        try:
            thread.start()
        except RuntimeError as error:
            del self._lanes[lane]
            log.warning("nothing more can be done at the same time: %s", error)
            return False
        return True

    def _run(self, lane: str) -> None:
        while work := self._next(lane):
            with self._places:
                attempt(work.do)
            with self._changed:
                self._lanes[lane].popleft()

    def _next(self, lane: str) -> Work | None:
        with self._changed:
            if self._lanes[lane]:
                return self._lanes[lane][0]
            del self._lanes[lane]
            self._changed.notify_all()
            return None
