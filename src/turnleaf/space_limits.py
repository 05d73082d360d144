"""`SpaceMeter`: how much one space may use, and how much it has used.

Limits are the operator's, and a space without any is not counted. Model calls and tokens are
counted in the space's own records, and messages and bytes by what is stored, so that they hold for
all programs and servers over one store.
"""

from __future__ import annotations

import json
import time
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from turnleaf.core.model_dialogue import Text, Usage
from turnleaf.core.setting_kinds import LARGEST
from turnleaf.core.tokens import estimate
from turnleaf.errors import Conflict, InvalidInput, LimitReached, ModelError, SpaceFull

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from turnleaf.core.model_dialogue import Event, Model, Prompt, Toolbox
    from turnleaf.store.contracts import Records, Stores

COLLECTION = "limits"
USED = "turnleaf:used"
KEPT_DAYS = timedelta(days=40)
KNOWN_SECONDS = 2.0
"""For how long the limits that were read are relied on."""
FIGURES_SECONDS = 30.0
"""For how long it is known how much is stored, as long as that is not near the limit."""
NEAR_MESSAGES, NEAR_BYTES = 2000, 64_000_000
"""What may come in meanwhile."""
TRIES = 20
MINUTE = 60.0
NO_MODEL = "recall"


@dataclass(frozen=True, slots=True)
class SpaceLimits:
    """What a space may use; 0 is no limit."""

    requests_per_minute: int = 0
    model_calls_per_day: int = 0
    model_tokens_per_day: int = 0
    messages: int = 0
    bytes: int = 0
    turns_at_once: int = 0


FOR_NEW_SPACES = SpaceLimits(
    requests_per_minute=120,
    model_calls_per_day=500,
    model_tokens_per_day=2_000_000,
    messages=200_000,
    bytes=1_000_000_000,
    turns_at_once=4,
)
"""What a space gets with its first token."""
NAMES = tuple(one.name for one in fields(SpaceLimits))


class DayUse(NamedTuple):
    """How often models were asked on a day, and for how many tokens."""

    calls: int = 0
    tokens: int = 0


def read_limits(records: Records, space: str) -> SpaceLimits:
    """Return the limits of a space from the operator's records; without any, none."""
    return _read_version(records, space)[1]


def _read_version(records: Records, space: str) -> tuple[int, SpaceLimits]:
    found = records.get(COLLECTION, space)
    known: Mapping[str, int] = json.loads(found.value) if found else {}
    limits = SpaceLimits(**{name: known[name] for name in NAMES if name in known})
    return found.version if found else 0, limits


def set_limits(records: Records, space: str, **changed: int | None) -> SpaceLimits:
    """Change some limits of a space; 0 is none, and None leaves one as it is."""
    for name, value in changed.items():
        if value is not None and not 0 <= value <= LARGEST:
            message = f"{name} must be a whole number from 0 to {LARGEST}; 0 means no limit"
            raise InvalidInput(message)
    given = {name: value for name, value in changed.items() if value is not None}
    for _ in range(TRIES):
        version, known = _read_version(records, space)
        limits = replace(known, **given)
        with suppress(Conflict):  # Somebody else has changed another limit meanwhile.
            _write(records, space, limits, version)
            return limits
    message = "another program is changing the limits of this space; try again in a moment"
    raise Conflict(message)


def _write(records: Records, space: str, limits: SpaceLimits, version: int) -> None:
    records.put(COLLECTION, space, json.dumps(asdict(limits)).encode(), expected=version)


def limit_new_space(records: Records, space: str) -> None:
    """Set the usual limits of a space, unless it has some; the operator's own space needs none."""
    if space != "default":
        with suppress(Conflict):
            _write(records, space, FOR_NEW_SPACES, 0)


def forget_limits(records: Records, space: str) -> None:
    """Remove the limits of a space that is erased."""
    records.pop(COLLECTION, space)


class SpaceMeter:
    """Counts what a space uses, and refuses what is over its limits."""

    def __init__(
        self,
        stores: Stores,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stores = stores
        self._now = now
        self._clock = clock
        self._known: tuple[float, SpaceLimits] | None = None
        self._stored: tuple[float, int, int] | None = None
        self._minute: tuple[float, int] = (0.0, 0)
        self._counting = Lock()

    @property
    def limits(self) -> SpaceLimits:
        """The limits that hold now, or did two seconds ago."""
        known = self._known
        if known is None or self._clock() >= known[0]:
            limits = read_limits(self._stores.operator_records, self._stores.space)
            known = self._known = self._clock() + KNOWN_SECONDS, limits
        return known[1]

    def count_request(self) -> None:
        """Count a request to this process; raise LimitReached where there were too many."""
        most = self.limits.requests_per_minute
        # Handlers run on several threads; a count that another one overwrites lets more through.
        with self._counting:
            begun, count = self._minute
            if self._clock() >= begun + MINUTE:
                begun, count = self._clock(), 0
            if most and count >= most:
                seconds = int(begun + MINUTE - self._clock()) + 1
                message = (
                    f"this space is limited to {most:,} requests per minute; wait {seconds} seconds"
                )
                raise LimitReached(message, seconds)
            self._minute = begun, count + 1

    def check_room(self) -> None:
        """Raise SpaceFull where as much is stored as may be."""
        limits = self.limits
        # To count what is stored takes a while, and most spaces have no limit.
        if not limits.messages and not limits.bytes:
            return
        messages, size = self._read_stored(limits)
        if limits.messages and messages >= limits.messages:
            message = (
                f"this space has reached its limit of {limits.messages:,} messages; erase "
                "conversations, or ask the operator to raise the limit"
            )
            raise SpaceFull(message)
        if limits.bytes and size >= limits.bytes:
            message = (
                f"this space has reached its limit of {limits.bytes:,} bytes; erase "
                "conversations, or ask the operator to raise the limit"
            )
            raise SpaceFull(message)

    def read_used(self) -> DayUse:
        """Return what models were asked for today, by UTC."""
        return self._read_used()[1]

    def check_calls(self) -> None:
        """Raise LimitReached where models were asked as much as may be today."""
        limits = self.limits
        if limits.model_calls_per_day or limits.model_tokens_per_day:
            self._check_used(self.read_used())

    def meter(self, model: Model) -> Model:
        """Return a model whose use is counted, where that has a limit."""
        limits = self.limits
        is_counted = limits.model_calls_per_day or limits.model_tokens_per_day
        if not is_counted or model.name == NO_MODEL or isinstance(model, MeteredModel):
            return model
        return cast("Model", MeteredModel(model, self))

    def count_use(self, calls: int, tokens: int) -> None:
        """Count calls and tokens, also where others count at the same moment.

        Raise LimitReached for a call that is one too many.
        """
        for _ in range(TRIES):
            version, used = self._read_used()
            # Checked with what is written in the same step: two servers must not both take the last
            # call.
            if calls:
                self._check_used(used)
            new = DayUse(used.calls + calls, used.tokens + tokens)
            value = json.dumps(new._asdict()).encode()
            try:
                self._stores.records.put(
                    USED, self._find_day(), value, expected=version, ttl=KEPT_DAYS
                )
            except Conflict:
                continue
            return
        message = "too many model calls are running in this space; try again in a moment"
        raise LimitReached(message, 1)

    def _check_used(self, used: DayUse) -> None:
        limits, seconds = self.limits, self._find_rest_of_day()
        hours = max(1, round(seconds / 3600))
        if limits.model_calls_per_day and used.calls >= limits.model_calls_per_day:
            most = limits.model_calls_per_day
            message = (
                f"this space has used its {most:,} model calls for today; the limit resets "
                f"at 00:00 UTC, in about {hours} h"
            )
            raise LimitReached(message, seconds)
        if limits.model_tokens_per_day and used.tokens >= limits.model_tokens_per_day:
            most = limits.model_tokens_per_day
            message = (
                f"this space has used its {most:,} model tokens for today; the limit resets "
                f"at 00:00 UTC, in about {hours} h"
            )
            raise LimitReached(message, seconds)

    def _read_used(self) -> tuple[int, DayUse]:
        found = self._stores.records.get(USED, self._find_day())
        return (found.version, DayUse(**json.loads(found.value))) if found else (0, DayUse())

    def _find_day(self) -> str:
        return self._now().astimezone(UTC).date().isoformat()

    def _find_rest_of_day(self) -> int:
        now = self._now().astimezone(UTC)
        tomorrow = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        return int((tomorrow - now).total_seconds()) + 1

    def _read_stored(self, limits: SpaceLimits) -> tuple[int, int]:
        """Return how many messages and bytes are stored, counted anew where that may matter."""
        known = self._stored
        # Near the limit each message counts, so what was read a while ago will not do.
        is_near = known is not None and (
            known[1] + NEAR_MESSAGES >= (limits.messages or LARGEST)
            or known[2] + NEAR_BYTES >= (limits.bytes or LARGEST)
        )
        if known is None or is_near or self._clock() >= known[0]:
            store = self._stores.conversations
            figures = store.figures() if store.exists() else None
            messages, size = (figures.messages, figures.bytes) if figures else (0, 0)
            known = self._stored = self._clock() + FIGURES_SECONDS, messages, size
        return known[1:]


class MeteredModel:
    """A model whose calls and tokens count for a space."""

    def __init__(self, model: Model, meter: SpaceMeter) -> None:
        self._model = model
        self._meter = meter

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the model has
        return getattr(self._model, name)

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Event]:
        """Answer, and count what it took, however it ends."""
        # Before the model is asked, or many turns at once would all pass.
        self._meter.count_use(1, 0)
        return self._count(prompt, self._model.stream(prompt, tools))

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        """Answer with JSON, and count what it took."""
        try:
            self._meter.count_use(1, estimate(system) + estimate(text))
        except LimitReached as error:
            raise ModelError(str(error)) from None  # Whoever learns from it tries again later.
        answer = self._model.generate_json(system, text, schema)
        self._meter.count_use(0, estimate(answer))
        return answer

    def _count(self, prompt: Prompt, events: Iterator[Event]) -> Generator[Event]:
        usage: Usage | None = None
        said: list[str] = []
        try:
            with closing(cast("Generator[Event]", events)):
                for event in events:
                    if isinstance(event, Usage):
                        usage = event
                    elif isinstance(event, Text):
                        said.append(event.text)
                    yield event
        finally:
            # An answer that was stopped or failed has cost its tokens all the same.
            self._meter.count_use(0, _find_tokens(prompt, "".join(said), usage))


def _find_tokens(prompt: Prompt, said: str, usage: Usage | None) -> int:
    if usage:
        return usage.input_tokens + usage.output_tokens
    # A provider that tells no usage must not make a space free of limits.
    asked = sum(estimate(one.text) for one in prompt.messages)
    return estimate(prompt.system) + asked + estimate(said)
