"""People and channels in Slack: who may talk to the bot, and who can read its answers."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from slack_sdk.errors import SlackClientError

from turnleaf.core.keys import EVERYONE, only
from turnleaf.faces.slack.client import find_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from slack_sdk import WebClient

    from turnleaf.faces.slack.client import Identity, Patience
    from turnleaf.settings import Settings

KNOWN_SECONDS = 600.0
UNKNOWN_SECONDS = 60.0
"""How long Slack is not asked again about somebody it does not know."""
MOST_KNOWN = 1000
PUBLIC = "channel"
"""The channel type of public channels in events."""
DIRECT = "D"
_NO_MEMBER = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger")
_CLOSED = ("is_private", "is_im", "is_mpim")

V = TypeVar("V")

log = logging.getLogger("turnleaf")


class Recent(Generic[V]):
    """Values by name, of which the oldest are dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._guard = Lock()
        self._kept: dict[Hashable, V] = {}

    def add(self, name: Hashable, value: V) -> bool:
        """Add a value as the newest; return whether the name is new."""
        with self._guard:
            was_there = self._kept.pop(name, None) is not None
            self._kept[name] = value
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return not was_there

    def get(self, name: Hashable) -> V | None:
        """Return the value of a name, if it is still known."""
        with self._guard:
            return self._kept.get(name)

    def remove(self, name: Hashable) -> None:
        """Forget a name."""
        with self._guard:
            self._kept.pop(name, None)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in Slack; a member belongs to our workspace and is not a guest."""

    name: str
    is_member: bool
    known_until: float = 0.0


class People:
    """Asks Slack about people, and caches the answers."""

    def __init__(
        self,
        client: WebClient,
        me: Identity,
        settings: Callable[[], Settings],
        patiently: Patience,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._me = me
        self._settings = settings
        self._patiently = patiently
        self._clock = clock
        self._known = Recent[Person](MOST_KNOWN)

    def is_allowed(self, user: str, channel: str) -> bool:
        """Whether somebody may talk to us there, by the current settings."""
        if self.is_listed(user):
            return True
        channels = _split_ids(self._settings().slack_allowed_channels)
        return channel in channels and self._find_person(user).is_member

    def is_listed(self, user: str) -> bool:
        """Whether somebody is on the allow-list of users, and not only in an allowed channel."""
        return user in _split_ids(self._settings().slack_allowed_users)

    def find_name(self, user: str) -> str:
        """Return the name that people see."""
        return self._find_person(user).name

    def _find_person(self, user: str) -> Person:
        known = self._known.get(user)
        if known and known.known_until > self._clock():
            return known
        try:
            found = self._patiently(lambda: self._client.users_info(user=user))["user"]
        except SlackClientError as error:
            log.warning("cannot get the Slack user %s: %s", user, find_reason(error))
            until = self._clock() + UNKNOWN_SECONDS
            person = Person(user, is_member=False, known_until=until)
        else:
            person = self._describe(user, found)
        self._known.add(user, person)
        return person

    def _describe(self, user: str, found: Mapping[str, Any]) -> Person:
        profile = found.get("profile") or {}
        is_ours = found.get("team_id") == self._me.team
        return Person(
            profile.get("display_name") or found.get("real_name") or found.get("name") or user,
            is_member=is_ours and not any(found.get(flag) for flag in _NO_MEMBER),
            known_until=self._clock() + KNOWN_SECONDS,
        )


class Channels:
    """Knows which channels are public, from events or by asking Slack."""

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
        """Note the channel type of an event; that of a mention has none."""
        if event.get("channel_type"):
            self._keep(str(event.get("channel")), is_public=event["channel_type"] == PUBLIC)

    def find_audience(self, channel: str) -> str:
        """Return who may find messages of a channel: everyone, or only its members."""
        return EVERYONE if self._is_public(channel) else only(f"slack:{channel}")

    def _is_public(self, channel: str) -> bool:
        is_public, known_until = self._public.get(channel) or (False, 0.0)
        if known_until > self._clock() or channel.startswith(DIRECT):
            return is_public
        try:
            asked = self._patiently(lambda: self._client.conversations_info(channel=channel))
        except SlackClientError as error:
            log.warning("cannot get the Slack channel %s: %s", channel, find_reason(error))
            return self._keep(channel, is_public=False)
        found = asked["channel"]
        is_open = bool(found.get("is_channel")) and not any(found.get(flag) for flag in _CLOSED)
        return self._keep(channel, is_public=is_open)

    def _keep(self, channel: str, *, is_public: bool) -> bool:
        self._public.add(channel, (is_public, self._clock() + KNOWN_SECONDS))
        return is_public


def _split_ids(listed: str | None) -> list[str]:
    return listed.split(",") if listed else []
