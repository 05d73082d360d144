"""Who hears what is said in a channel, and so who may find it later."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackClientError

from turnleaf.core.audiences import EVERYONE, only
from turnleaf.faces.slack.client import reason
from turnleaf.faces.slack.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slack_sdk import WebClient

    from turnleaf.faces.slack.client import Patience

KNOWN_SECONDS = 600.0
MOST_KNOWN = 1000
PUBLIC = "channel"
"""What events call a public channel; direct messages, groups and private channels have others."""
DIRECT = "D"

log = logging.getLogger("turnleaf")


class Channels:
    """Knows which channels are public: by their events or, where those do not tell, by Slack."""

    def __init__(
        self,
        client: WebClient,
        patiently: Patience,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._patiently = patiently
        self._clock = clock
        self._public = Recent[tuple[bool, float]](MOST_KNOWN)

    def note(self, event: Mapping[str, Any]) -> None:
        """Keep what an event says of its channel; that of a mention says nothing."""
        if event.get("channel_type"):
            self._keep(str(event.get("channel")), is_public=event["channel_type"] == PUBLIC)

    def audience(self, channel: str) -> str:
        """Return who may find what is said there: everyone, or those in the channel alone."""
        return EVERYONE if self._is_public(channel) else only(f"slack:{channel}")

    def _is_public(self, channel: str) -> bool:
        is_public, known_until = self._public.get(channel) or (False, 0.0)
        if known_until > self._clock() or channel.startswith(DIRECT):
            return is_public
        try:
            found = self._patiently(lambda: self._client.conversations_info(channel=channel))
        except SlackClientError as error:
            log.warning("Slack did not say whether %s is public: %s", channel, reason(error))
            return self._keep(channel, is_public=False)
        return self._keep(channel, is_public=_describes_public(found["channel"]))

    def _keep(self, channel: str, *, is_public: bool) -> bool:
        self._public.add(channel, (is_public, self._clock() + KNOWN_SECONDS))
        return is_public


def _describes_public(found: Mapping[str, Any]) -> bool:
    closed = ("is_private", "is_im", "is_mpim")
    return bool(found.get("is_channel")) and not any(found.get(flag) for flag in closed)
