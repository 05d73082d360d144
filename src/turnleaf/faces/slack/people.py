"""Who may talk to the bot: those on the list, and members in the channels on the list."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackClientError

from turnleaf.faces.slack.client import reason
from turnleaf.faces.slack.recent import Recent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from slack_sdk import WebClient

    from turnleaf.faces.slack.client import Identity, Patience
    from turnleaf.settings import Settings

KNOWN_SECONDS = 600.0
UNKNOWN_SECONDS = 60.0
"""For how long Slack is not asked again about somebody of whom it said nothing."""
MOST_KNOWN = 1000
_NO_MEMBER = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger")

log = logging.getLogger("turnleaf")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in Slack; a member belongs to our workspace and is no guest."""

    name: str
    is_member: bool
    known_until: float = 0.0


class People:
    """Asks Slack about people, and keeps what it says for a while."""

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
        """Whether somebody may talk to us there, by the settings that hold now."""
        if self.is_listed(user):
            return True
        channels = _ids(self._settings().slack_allowed_channels)
        return channel in channels and self._person(user).is_member

    def is_listed(self, user: str) -> bool:
        """Whether somebody is trusted by name, and not let in by a channel alone."""
        return user in _ids(self._settings().slack_allowed_users)

    def name_of(self, user: str) -> str:
        """Give the name that people see."""
        return self._person(user).name

    def _person(self, user: str) -> Person:
        known = self._known.get(user)
        if known and known.known_until > self._clock():
            return known
        try:
            found = self._patiently(lambda: self._client.users_info(user=user))["user"]
        except SlackClientError as error:
            log.warning("Slack did not say who %s is: %s", user, reason(error))
            until = self._clock() + UNKNOWN_SECONDS
            person = Person(user, is_member=False, known_until=until)
        else:
            person = self._described(user, found)
        self._known.add(user, person)
        return person

    def _described(self, user: str, found: Mapping[str, Any]) -> Person:
        profile = found.get("profile") or {}
        is_ours = found.get("team_id") == self._me.team
        return Person(
            profile.get("display_name") or found.get("real_name") or found.get("name") or user,
            is_member=is_ours and not any(found.get(flag) for flag in _NO_MEMBER),
            known_until=self._clock() + KNOWN_SECONDS,
        )


def _ids(listed: str | None) -> list[str]:
    return listed.split(",") if listed else []
