"""Delivery of schedules' results to a channel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Any

from turnleaf.errors import TurnleafError
from turnleaf.faces.slack.texts import escape, split_messages

try:
    from slack_sdk.errors import SlackClientError

    from turnleaf.faces.slack.client import Patience, find_reason, make_client, post
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "turnleaf":
        raise
    IS_THERE = False
else:
    IS_THERE = True

if TYPE_CHECKING:
    from collections.abc import Callable

    from slack_sdk import WebClient
    from slack_sdk.web import SlackResponse

    from turnleaf.core.schedules import Run, Schedule
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import Settings

EVENT_TYPE = "turnleaf_run"
MOST_LOOKED_AT = 100


def to_slack(settings: Settings, stop: Event | None = None) -> Deliver | None:
    """Return the function that delivers to Slack, or None without its package or a token.

    Once `stop` is set it no longer waits between retries.
    """
    if not IS_THERE or not settings.slack_bot_token:
        return None
    client = make_client(settings.slack_bot_token)
    patiently = Patience((stop or Event()).wait)

    def deliver(schedule: Schedule, run: Run, text: str) -> None:
        channel = Channel(client, schedule.deliver.partition(":")[2])
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
