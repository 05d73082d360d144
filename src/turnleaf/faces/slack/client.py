"""Slack's Web API, with retries and understandable errors."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, TypeVar

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from turnleaf.core.secrets import mask_secrets
from turnleaf.errors import SettingsError, TurnleafError
from turnleaf.settings import find_slack_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from slack_sdk.web import SlackResponse

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
