"""The bot: messages in Slack become turns of the assistant, one at a time in each thread."""

from __future__ import annotations

import logging
from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from threading import BoundedSemaphore, Condition, Event, Thread
from typing import TYPE_CHECKING, Any

from turnleaf.core.keys import slack_key
from turnleaf.core.languages.language import detect_language
from turnleaf.core.languages.replies import choose_words, translate
from turnleaf.core.model_dialogue import Text, ToolCall
from turnleaf.core.secrets import mask_secrets
from turnleaf.core.setting_kinds import read_pairs
from turnleaf.errors import TurnleafError
from turnleaf.faces.outbound import redact
from turnleaf.faces.slack.answers import (
    NoteLine,
    ThreadAnswer,
    ThreadPlace,
    escape,
    escape_plain,
    has_mention,
    is_to_another,
    list_learned_lines,
    make_blocks,
    make_fallback,
    make_line,
    make_name_token,
    make_readable,
    replace_block,
    take_back,
)
from turnleaf.faces.slack.client import Channels, Patience, People, Recent, attempt, post
from turnleaf.turn import Changed, Done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from slack_sdk import WebClient

    from turnleaf.assistant import Assistant
    from turnleaf.faces.slack.client import Identity
    from turnleaf.spaces import Spaces

STOP_SECONDS = 3.0
MOST_AT_ONCE = 4
MOST_WAITING = 200
"""How many messages may wait; more are refused."""
MOST_OF_ONE = 20
"""How many of them may be one person's."""
MOST_SEEN = 5000
MOST_THREADS = 1000
SAID = (None, "file_share", "thread_broadcast")
"""The subtypes of messages that a person wrote."""

log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """A message that a person wrote."""

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
        """The thread in which it is answered."""
        return ThreadPlace(self.channel, self.thread or self.ts, self.user, self.team)

    @property
    def time(self) -> datetime:
        """When it was written, by Slack's clock."""
        return datetime.fromtimestamp(float(self.ts), UTC)

    def phrase(self, name: str, *given: str) -> str:
        """Return one of our sentences in the language of the message."""
        return _choose_words(self.text)[name].format(*given)

    def translate(self, problem: str) -> str:
        """Return an error in the language of the message."""
        language = detect_language(self.text)
        return translate(problem, language.name, is_simplified=language.is_simplified)


class Bot:
    """Answers in Slack. Its methods for events return at once."""

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
        # Refusals do not wait in the queue whose being full they report.
        self._asides = Lanes(1)
        self._heard = Recent[str](MOST_SEEN)
        self._refused = Recent[str](MOST_SEEN)
        self._places = Recent[ThreadPlace](MOST_THREADS)
        self._notes = Recent[list[dict[str, Any]]](MOST_THREADS)

    def hear(self, event: Mapping[str, Any]) -> None:
        """Queue the message of an event; the same message is queued once."""
        self._channels.note(event)
        said = _read_event(event, self._me)
        if said is None or self._is_chatter(said):
            return
        message = said.channel, said.ts
        # Slack delivers a message again, and a mention as two events.
        if not self._heard.add(message, said.ts):
            return
        if not self._lanes.do(said.key, partial(self._take, said), said.user):
            log.warning("too many messages are waiting in Slack; one was dropped")
            # If Slack delivers it again, there may be room.
            self._heard.remove(message)
            self._turn_away(said)

    def press(self, body: Mapping[str, Any]) -> None:
        """Queue the press of a button under a note."""
        lane = str(body.get("container", {}).get("message_ts", ""))
        user = str(body.get("user", {}).get("id", ""))
        if not self._lanes.do(lane, partial(self._take_press, body), user):
            log.warning("too many messages are waiting in Slack; a button press was dropped")

    def report_news(self) -> None:
        """Post in each thread what was learned from it in the background."""
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
                log.warning("too many messages are waiting in Slack; a learning note was dropped")

    def hush(self) -> None:
        """Start no more answers, and end the running ones with the text so far."""
        self._stop.set()

    def stop(self) -> None:
        """End all answers, and store the text so far."""
        self.hush()
        self.wait(STOP_SECONDS)

    def wait(self, seconds: float) -> bool:
        """Wait until the queue is empty; return False if it takes longer."""
        return self._lanes.wait(seconds) and self._asides.wait(seconds)

    @contextmanager
    def _use_memory_of(self, user: str) -> Iterator[Assistant]:
        """Yield the assistant of a person's space, or the shared one."""
        spaces = read_pairs(self._own.settings.slack_spaces or "")
        if self._spaces is None or user not in spaces:
            yield self._own
            return
        with self._spaces.use(spaces[user]) as one:
            yield one

    def _is_chatter(self, said: SlackMessage) -> bool:
        """Whether a message is clearly not meant for us."""
        is_elsewhere = said.thread is None or is_to_another(said.text, self._me.user)
        return is_elsewhere and not said.is_called

    def _turn_away(self, said: SlackMessage) -> None:
        """Answer that too many messages are waiting, once a minute and outside the queue."""
        minute = self._own.now().replace(second=0, microsecond=0)
        if said.is_called and self._refused.add((said.user, said.channel, minute), said.ts):
            self._asides.do(said.channel, partial(self._tell, said, said.phrase("busy")), said.user)

    def _take(self, said: SlackMessage) -> None:
        try:
            # A stranger's message opens no memory, not even to see whether a thread is known.
            if not self._people.is_allowed(said.user, said.channel):
                if said.is_called:
                    self._refuse(said)
                return
            with self._use_memory_of(said.user) as own:
                if said.is_called or self._takes_part(said, own):
                    self._answer(said, own)
        except TurnleafError:
            if said.is_called:
                self._tell(said, said.phrase("broken"))
            raise

    def _takes_part(self, said: SlackMessage, own: Assistant) -> bool:
        """Whether we answered in that thread, also before a restart."""
        return bool(self._places.get(said.key) or own.conversations.summary(said.key))

    def _was_answered(self, said: SlackMessage, text: str, own: Assistant) -> bool:
        """Whether Slack sends it again and it was answered before we started."""
        if said.time >= self._began:
            return False
        kept = own.conversations.get_history(said.key)
        times = [one.timestamp for one in kept if one.role == "user" and one.text == text]
        return any(time and said.time <= time < self._began for time in times)

    def _refuse(self, said: SlackMessage) -> None:
        """Answer that somebody is not on the allow-list, once a day."""
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
            self._run_turn(said, text, own)
        if said.files:
            self._tell(said, said.phrase("files", ", ".join(said.files)))
        elif not text:
            self._tell(said, said.phrase("empty"))

    def _run_turn(self, said: SlackMessage, text: str, own: Assistant) -> None:
        answer = ThreadAnswer(self._client, said.place)
        answer.think()
        try:
            self._stream(said, text, answer, own)
            if not answer.whole_text.strip():
                answer.remark(said.phrase("silent"))
        except TurnleafError as error:
            answer.remark(said.phrase("failed", said.translate(redact(str(error), own))))
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
            # Whoever only an allowed channel lets in is a stranger to the memory.
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
                elif isinstance(event, Done) and event.reply.lacks_model:
                    answer.remark(said.phrase("no_model"))
                if self._stop.is_set() and not isinstance(event, Done):
                    answer.remark(said.phrase("stopped"))
                    return

    def _tell(self, said: SlackMessage, text: str) -> None:
        place = said.place
        self._patiently(lambda: post(self._client, place.channel, place.thread, escape(text)))

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
            # The press carries the note as it was then; another button may have changed it since.
            before = self._notes.get(note) or message.get("blocks", ())
            shown = replace_block(before, action["block_id"], text)
            self._notes.add(note, shown)
            show = partial(self._client.chat_update, text=escape_plain(text), blocks=shown)
            self._patiently(partial(show, channel=channel, ts=message["ts"]))


def _choose_words(text: str) -> Mapping[str, str]:
    return choose_words(text, "slack")


def _read_event(event: Mapping[str, Any], me: Identity) -> SlackMessage | None:
    """Return the message of a person; None for programs, ourselves and other events."""
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


# Queues


@dataclass(frozen=True, slots=True)
class TurnWork:
    """Something to do, and for which user, if any."""

    do: Callable[[], None]
    user: str | None


class Lanes:
    """Runs work in named lanes: one at a time in each, several lanes at once."""

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._places = BoundedSemaphore(most_at_once)
        self._changed = Condition()
        self._lanes: dict[str, deque[TurnWork]] = {}

    def do(self, lane: str, do: Callable[[], None], user: str | None = None) -> bool:
        """Queue work in a lane; return False if too much is waiting."""
        with self._changed:
            if self._is_full(user):
                return False
            if lane in self._lanes:
                self._lanes[lane].append(TurnWork(do, user))
                return True
            return self._begin(lane, TurnWork(do, user))

    def wait(self, seconds: float) -> bool:
        """Wait until all work is done; return False if it takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, seconds)

    def _is_full(self, user: str | None) -> bool:
        waiting = [work.user for lane in self._lanes.values() for work in lane]
        is_too_much = user is not None and waiting.count(user) >= MOST_OF_ONE
        return is_too_much or len(waiting) >= MOST_WAITING

    def _begin(self, lane: str, work: TurnWork) -> bool:
        thread = Thread(target=self._run, args=[lane], name="turnleaf-slack", daemon=True)
        self._lanes[lane] = deque([work])
        try:
            thread.start()
        except RuntimeError as error:
            del self._lanes[lane]
            log.warning("cannot start another thread: %s", error)
            return False
        return True

    def _run(self, lane: str) -> None:
        while work := self._next(lane):
            with self._places:
                attempt(work.do)
            with self._changed:
                # Only when it is done: until then its lane is busy,
                # and messages of one thread keep their order.
                self._lanes[lane].popleft()

    def _next(self, lane: str) -> TurnWork | None:
        with self._changed:
            if self._lanes[lane]:
                return self._lanes[lane][0]
            del self._lanes[lane]
            self._changed.notify_all()
            return None
