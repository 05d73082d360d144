"""Slack's Web API, with retries and understandable errors, and the people and channels there."""

from __future__ import annotations

import logging
import time
import traceback
from dataclasses import dataclass
from http.client import HTTPException
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from turnleaf.core.keys import EVERYONE, make_own_audience
from turnleaf.core.secrets import mask_secrets
from turnleaf.errors import SettingsError, TurnleafError
from turnleaf.settings import find_slack_url

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from slack_sdk.web import SlackResponse

    from turnleaf.settings import Settings


T = TypeVar("T")

TIMEOUT_SECONDS = 30
PAUSES_SECONDS = (1.0, 5.0, 30.0, 120.0)
"""The pauses before each retry; Slack may ask for longer ones."""
LONGEST_PAUSE_SECONDS = 120.0
TOO_MANY = 429
SERVER_FAULT = 500
PASSING = {"fatal_error", "internal_error", "request_timeout", "service_unavailable"}
"""Errors of Slack after which the same call may work a little later."""
KINDS = {"SLACK_BOT_TOKEN": "xoxb-", "SLACK_APP_TOKEN": "xapp-"}
PLACES = {
    "SLACK_BOT_TOKEN": "OAuth & Permissions",
    "SLACK_APP_TOKEN": "Basic Information, App-Level Tokens",
}
WRONG_TOKEN = {
    "account_inactive", "invalid_auth", "not_allowed_token_type", "not_authed", "token_expired",
    "token_revoked",
}  # fmt: skip

log = logging.getLogger("turnleaf")

# The library logs messages and people; we log what matters.
silent = logging.getLogger("turnleaf.slack.library")
silent.propagate = False
silent.setLevel(logging.CRITICAL + 1)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are in Slack, and in which workspace."""

    user: str
    name: str
    team: str
    team_name: str


class Unreachable(SlackClientError):
    """No answer came from Slack."""


class SlackClient(WebClient):
    """Slack's own client, with a SlackClientError for network errors too."""

    def api_call(self, api_method: str, **given: Any) -> SlackResponse:  # noqa: ANN401 - Slack's
        """Call the API; a network error becomes Unreachable."""
        try:
            return super().api_call(api_method, **given)
        except (OSError, HTTPException) as error:
            raise Unreachable(find_reason(error)) from error


class Patience:
    """Retries calls that failed for the moment, after a pause."""

    def __init__(self, wait: Callable[[float], object]) -> None:
        self._wait = wait

    def __call__(self, say: Callable[[], T]) -> T:
        """Return the result of a call; permanent errors are raised at once."""
        for pause in PAUSES_SECONDS:
            try:
                return say()
            except SlackClientError as error:
                if not is_passing(error):
                    raise
                self._wait(min(max(pause, _find_pause(error)), LONGEST_PAUSE_SECONDS))
        return say()


def is_passing(error: SlackClientError) -> bool:
    """Whether the same call may work later."""
    if not isinstance(error, SlackApiError):
        return isinstance(error, Unreachable)
    is_faulty = int(error.response.status_code) >= SERVER_FAULT
    return is_faulty or is_limited(error) or error.response.get("error") in PASSING


def is_limited(error: SlackClientError) -> bool:
    """Whether the error is a rate limit, so that nothing was done."""
    if not isinstance(error, SlackApiError):
        return False
    return int(error.response.status_code) == TOO_MANY or find_reason(error) == "ratelimited"


def attempt(do: Callable[[], None]) -> None:
    """Run something, and log its errors instead of raising them."""
    try:
        do()
    except SlackClientError as error:
        log.warning("a call to Slack failed: %s", mask_secrets(find_reason(error)))
    except TurnleafError as error:
        log.warning("%s", mask_secrets(str(error)))
    except Exception:  # noqa: BLE001 - whatever it is
        fault = mask_secrets(traceback.format_exc())
        log.error("something went wrong in the Slack bot; please report this\n%s", fault)  # noqa: TRY400


def make_client(token: str) -> WebClient:
    """Return a client without retries: the caller knows what may be sent twice."""
    return SlackClient(
        token=token,
        base_url=_find_base_url(),
        timeout=TIMEOUT_SECONDS,
        logger=silent,
        retry_handlers=[],
    )


def check_token(variable: str, token: str | None) -> str:
    """Return a token; raise SettingsError for a wrong one, without showing it."""
    if not token:
        message = (
            f"{variable} is not set; copy it from your app's page in Slack, {PLACES[variable]},"
            " or create the app from turnleaf slack manifest"
        )
        raise SettingsError(message)
    if not token.startswith(KINDS[variable]):
        message = f"{variable} must begin with {KINDS[variable]}; copy it again from Slack"
        raise SettingsError(message)
    return token


def fetch_identity(client: WebClient) -> Identity:
    """Return who we are in Slack; raise an understandable error if that fails."""
    try:
        found = client.auth_test()
    except SlackClientError as error:
        raise explain(error, "SLACK_BOT_TOKEN") from None
    return Identity(
        user=str(found["user_id"]),
        name=str(found.get("user", "")),
        team=str(found["team_id"]),
        team_name=str(found.get("team", "")),
    )


def explain(error: Exception, variable: str) -> TurnleafError:
    """Return the error for a program that cannot start with that token."""
    code = find_reason(error)
    if code in WRONG_TOKEN:
        return SettingsError(f"Slack does not accept {variable} ({code}); copy it again from Slack")
    if isinstance(error, SlackApiError):
        message = (
            f"Slack refused {variable} ({code}); compare your app with turnleaf slack manifest"
        )
        return TurnleafError(message)
    return TurnleafError(f"Slack cannot be reached ({code}); check the network and try again")


def find_reason(error: Exception) -> str:
    """Return a short description of an error, without tokens or message texts."""
    if not isinstance(error, SlackApiError):
        return str(getattr(error, "reason", error)) or type(error).__name__
    code = str(error.response.get("error", "unknown error"))
    needed = error.response.get("needed")
    return f"{code}: {needed}" if needed else code


def _find_pause(error: SlackClientError) -> float:
    """Return how long Slack wants us to wait."""
    headers = error.response.headers if isinstance(error, SlackApiError) else {}
    given = [value for name, value in headers.items() if name.lower() == "retry-after"]
    try:
        return float(given[0])
    except (IndexError, ValueError):
        return 0.0


def _find_base_url() -> str:
    address = find_slack_url() or WebClient.BASE_URL
    if not address.startswith(("https://", "http://")):
        message = "SLACK_API_URL must be an address such as https://slack.com/api/; change it"
        raise SettingsError(message)
    return address


def post(client: WebClient, channel: str, thread: str | None, text: str, **more: Any) -> str:  # noqa: ANN401 - Slack's own
    """Send a message without link previews; return its timestamp."""
    sent = client.chat_postMessage(
        channel=channel,
        thread_ts=thread,
        markdown_text=text,
        unfurl_links=False,
        unfurl_media=False,
        **more,
    )
    return str(sent["ts"])


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
            # Whom Slack does not tell about is a stranger until it does.
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
        return EVERYONE if self._is_public(channel) else make_own_audience(f"slack:{channel}")

    def _is_public(self, channel: str) -> bool:
        is_public, known_until = self._public.get(channel) or (False, 0.0)
        if known_until > self._clock() or channel.startswith(DIRECT):
            return is_public
        try:
            asked = self._patiently(lambda: self._client.conversations_info(channel=channel))
        except SlackClientError as error:
            log.warning("cannot get the Slack channel %s: %s", channel, find_reason(error))
            # What is not known counts as private: a wider audience cannot be taken back.
            return self._keep(channel, is_public=False)
        found = asked["channel"]
        is_open = bool(found.get("is_channel")) and not any(found.get(flag) for flag in _CLOSED)
        return self._keep(channel, is_public=is_open)

    def _keep(self, channel: str, *, is_public: bool) -> bool:
        self._public.add(channel, (is_public, self._clock() + KNOWN_SECONDS))
        return is_public


def _split_ids(listed: str | None) -> list[str]:
    return listed.split(",") if listed else []
