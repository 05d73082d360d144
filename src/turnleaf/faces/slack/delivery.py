"""Results of schedules, brought to a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turnleaf.errors import TurnleafError
from turnleaf.faces.slack.writing import escaped, messages

try:
    from turnleaf.faces.slack.answers import post
    from turnleaf.faces.slack.client import TROUBLE, make_client, reason
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "turnleaf":
        raise
    IS_THERE = False
else:
    IS_THERE = True

if TYPE_CHECKING:
    from slack_sdk import WebClient

    from turnleaf.core.schedules import Run, Schedule
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import Settings

EVENT_TYPE = "turnleaf_run"
MOST_LOOKED_AT = 100


def to_slack(settings: Settings) -> Deliver | None:
    """Give what brings results to Slack, or nothing without its package or a token."""
    if not IS_THERE or not settings.slack_bot_token:
        return None
    client = make_client(settings.slack_bot_token)

    def deliver(schedule: Schedule, run: Run, text: str) -> None:
        try:
            if run.attempts == 1 or not _was_delivered(client, schedule, run):
                _post(client, schedule, run, text)
        except TROUBLE as error:
            channel = _channel(schedule)
            message = f"Slack did not take it for {channel} ({reason(error)}); is the bot in there?"
            raise TurnleafError(message) from None

    return deliver


def _post(client: WebClient, schedule: Schedule, run: Run, text: str) -> None:
    """Send a result under the schedule's name; what one message does not hold goes below it."""
    name = " ".join((schedule.name or schedule.id).split())
    first, *others = messages(f"{name}\n\n{text.strip()}\n\n`{run.id}`")
    payload = {"schedule": schedule.id, "run": run.id}
    metadata = {"event_type": EVENT_TYPE, "event_payload": payload}
    channel = _channel(schedule)
    thread = post(client, channel, None, escaped(first), metadata=metadata)
    for other in others:
        post(client, channel, thread, escaped(other))


def _was_delivered(client: WebClient, schedule: Schedule, run: Run) -> bool:
    """Look for the run in the channel: it was interrupted, but perhaps after it was sent."""
    found = client.conversations_history(
        channel=_channel(schedule),
        oldest=str(run.due.timestamp()),
        limit=MOST_LOOKED_AT,
        include_all_metadata=True,
    )
    sent: list[dict[str, Any]] = found.get("messages", [])
    payloads = [one.get("metadata", {}).get("event_payload", {}) for one in sent]
    return any(payload.get("run") == run.id for payload in payloads)


def _channel(schedule: Schedule) -> str:
    return schedule.deliver.partition(":")[2]
