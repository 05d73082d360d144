"""What happens to the memory, as server-sent events, whoever did it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from turnleaf import __version__
from turnleaf.core.languages.replies import translate
from turnleaf.core.secrets import mask_secrets
from turnleaf.errors import TurnleafError
from turnleaf.faces.http.problems import Refused, request_language
from turnleaf.faces.http.request_reading import from_app, make_etag
from turnleaf.faces.http.schemas import FactView, JsonModel
from turnleaf.faces.http.streams import EventStream, log, make_event
from turnleaf.faces.outbound import redact
from turnleaf.import_jobs import JobState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from turnleaf.assistant import Assistant
    from turnleaf.import_jobs import ImportJob
    from turnleaf.learning import LearnedFact

MOST_SUBSCRIBERS = 64
MOST_WAITING = 100
"""How many events wait for a slow subscriber before it is dropped."""


class Hello(JsonModel):
    """The line is open: what may have changed before is to be looked at again."""

    version: str


class MemoryChanged(JsonModel):
    """The memory's version, and how many facts it has."""

    etag: str
    facts: int


class PendingChanged(JsonModel):
    """How many facts wait."""

    count: int


class Progress(JsonModel):
    """How far the index is with what it takes in."""

    done: int
    total: int


class ImportProgress(JsonModel):
    """How far an import is, in bytes."""

    id: str
    state: JobState
    done: int
    total: int


class LearnedLater(JsonModel):
    """A fact that was learned in the background, from what, and the change to take back."""

    action: Literal["added", "superseded", "ended", "waiting"]
    fact: FactView
    before: FactView | None
    quote: str | None
    conversation: str | None
    change: int | None

    @classmethod
    def of(cls, learned: LearnedFact) -> Self:
        """Return the form of what was learned."""
        made = learned.change
        source = made.source if made else None
        record = {
            "action": learned.action,
            "fact": FactView.of(learned.memory),
            "before": FactView.of(learned.before) if learned.before else None,
            "quote": learned.quote,
            "conversation": source.conversation if source else None,
            "change": made.n if made and learned.action != "waiting" else None,
        }
        return cls.model_validate(record)


class LearnedFacts(JsonModel):
    """What was learned in the background."""

    facts: list[LearnedLater]


class ProblemTold(JsonModel):
    """What goes wrong in the background."""

    message: str


class Nothing(JsonModel):
    """That something changed is all there is to tell."""


class ServerEvents(JsonModel):
    """The data of each event that is told to all, by the event's name."""

    hello: Hello
    memory: MemoryChanged
    pending: PendingChanged
    daily: Nothing
    index: Progress
    import_: ImportProgress = Field(alias="import")
    reading: Nothing
    learnt: LearnedFacts
    problem: ProblemTold
    settings: Nothing
    schedules: Nothing


class Subscriber:
    """Somebody who listens, on the event loop; telling them something waits for nobody."""

    def __init__(self, feed: EventFeed) -> None:
        self._feed = feed
        self.language = request_language.get()
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def next(self) -> bytes | None:
        """Wait for the next event; None is the end."""
        return await self._events.get()

    def leave(self) -> None:
        """Listen no more."""
        self._feed.forget(self)

    def tell(self, event: bytes | None) -> None:
        """Send them an event, from any thread; None ends the stream."""
        with suppress(RuntimeError):  # the server's loop is closed: nobody listens
            self._loop.call_soon_threadsafe(self._take, event)

    def _take(self, event: bytes | None) -> None:
        if self._events.qsize() < MOST_WAITING:
            self._events.put_nowait(event)
            return
        # They would hear of it all too late; whoever comes back looks at everything anyway.
        self.leave()
        while not self._events.empty():
            self._events.get_nowait()
        self._events.put_nowait(None)


class EventFeed:
    """Publishes announcements, learned facts and problems, on the threads of others."""

    def __init__(self, assistant: Assistant) -> None:
        self._own = assistant
        self._guard = Lock()
        self._subscribers: set[Subscriber] = set()
        self._trouble: dict[str, str] = {}
        self._progress = 0, 0
        self._unsubscribe: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to tell; what there is now is not news."""
        self._unsubscribe = self._own.stores.announcements.subscribe(self._look)
        self._own.on_news(self._look_at_learning)

    def stop(self) -> None:
        """Stop publishing, and end every subscription."""
        self._unsubscribe()
        self._own.on_news(None)
        for one in self._get_subscribers():
            one.tell(None)

    # Subscribers.

    def subscribe(self) -> Subscriber:
        """Add somebody who listens; refuse when there are too many."""
        subscriber = Subscriber(self)
        with self._guard:
            if len(self._subscribers) >= MOST_SUBSCRIBERS:
                detail = f"{MOST_SUBSCRIBERS} listen already; close a page and try again"
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, detail, {"Retry-After": "5"})
            self._subscribers.add(subscriber)
        return subscriber

    def forget(self, subscriber: Subscriber) -> None:
        """Remove a subscriber."""
        with self._guard:
            self._subscribers.discard(subscriber)

    def publish(self, name: str, data: BaseModel | Mapping[str, Any]) -> None:
        """Send an event to all subscribers."""
        event = make_event(name, data)
        for one in self._get_subscribers():
            one.tell(event)

    def _publish_problem(self, problem: str) -> None:
        """Announce a problem to all subscribers, each in their language."""
        message = redact(problem, self._own)
        for one in self._get_subscribers():
            told = ProblemTold(message=translate(message, one.language))
            one.tell(make_event("problem", told))

    def _get_subscribers(self) -> list[Subscriber]:
        with self._guard:
            return list(self._subscribers)

    # The index, which is told of by whoever brings it up to date.

    @property
    def progress(self) -> tuple[int, int]:
        """How many of how many things the index has taken in."""
        return self._progress

    def note_progress(self, done: int, total: int) -> None:
        """Take note of it and tell it."""
        self._progress = done, total
        self.publish("index", Progress(done=done, total=total))

    def note_import(self, job: ImportJob) -> None:
        """Announce how far an import is."""
        progress = ImportProgress(id=job.id, state=job.state, done=job.done, total=job.total)
        self.publish("import", progress)

    # What is announced.

    def _look(self, kinds: frozenset[str]) -> None:
        news: dict[str, tuple[str, Callable[[], JsonModel]]] = {
            "facts": ("memory", self._describe_memory),
            "pending": ("pending", self._count_pending),
            "daily": ("daily", Nothing),
            "config": ("settings", Nothing),
            "schedules": ("schedules", Nothing),
        }
        for kind in news.keys() & kinds:
            self._attempt(kind, partial(self._tell, *news[kind]))
        self._look_at_learning()

    def _tell(self, name: str, describe: Callable[[], JsonModel]) -> None:
        self.publish(name, describe())

    def _look_at_learning(self) -> None:
        """Publish what was learned in the background, and what went wrong there."""
        self._attempt("learning", self._tell_learned)

    def _tell_learned(self) -> None:
        for problem in self._own.problems():
            log.warning("in the background: %s", mask_secrets(problem))
            self._publish_problem(problem)
        facts = [LearnedLater.of(one) for one in self._own.learnt()]
        if facts:
            self.publish("learnt", LearnedFacts(facts=facts))

    def _describe_memory(self) -> MemoryChanged:
        memory = self._own.memory
        return MemoryChanged(etag=make_etag(memory.version()), facts=len(memory.get_all()))

    def _count_pending(self) -> PendingChanged:
        return PendingChanged(count=len(self._own.pending.get_all()))

    # What goes wrong.

    def _attempt(self, name: str, look: Callable[[], None]) -> None:
        """Look at one thing; what goes wrong is told once for as long as it does."""
        try:
            look()
        except Exception as error:  # noqa: BLE001 - the thread is somebody else's
            if self._trouble.get(name) != str(error):
                self._trouble[name] = str(error)
                self._complain(error)
        else:
            self._trouble.pop(name, None)

    def _complain(self, error: Exception) -> None:
        is_surprise = not isinstance(error, TurnleafError | OSError)
        log.warning("the memory could not be read: %s", error, exc_info=is_surprise)
        self._publish_problem(str(error))


router = APIRouter(tags=["talking"])

EVENTS = (
    "Events: `hello`, `memory` (its file changed, whoever changed it), `pending`, `daily` (the"
    " notes of some day), `index` (its progress), `import` (the progress of one),"
    " `reading` (a model reads an import), `learnt` (in the background), `problem`,"
    " `settings`, `schedules` (one was changed, or runs); the schema"
    " `ServerEvents` describes the data of each."
)


@router.get(
    "/api/events",
    summary="Listen to what happens to the memory",
    description=EVENTS,
    response_class=EventStream,
    status_code=200,
)
async def listen(feed: Annotated[EventFeed, from_app("feed")]) -> EventStream:
    """Stream events to a client until it disconnects."""
    return EventStream(feed.subscribe(), make_event("hello", Hello(version=__version__)))
