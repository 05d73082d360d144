"""Slack's Web API: asked with patience, and what it refuses said in a sentence."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from http.client import HTTPException
from threading import Event
from typing import TYPE_CHECKING

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry import ConnectionErrorRetryHandler, RetryHandler

from turnleaf.errors import SettingsError, TurnleafError

if TYPE_CHECKING:
    from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryState

TROUBLE = (SlackClientError, OSError, HTTPException)
"""What a call raises that did not work."""
TIMEOUT_SECONDS = 30
LONGEST_WAIT_SECONDS = 60
MOST_WAITS = 3
TOO_MANY = 429
KINDS = {"SLACK_BOT_TOKEN": "xoxb-", "SLACK_APP_TOKEN": "xapp-"}
PLACES = {
    "SLACK_BOT_TOKEN": "OAuth & Permissions",
    "SLACK_APP_TOKEN": "Basic Information, App-Level Tokens",
}
WRONG_TOKEN = {
    "account_inactive", "invalid_auth", "not_allowed_token_type", "not_authed", "token_expired",
    "token_revoked",
}  # fmt: skip

# What the library says of itself names messages and people; we say what matters.
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
    organisation: str | None = None


class Patience(RetryHandler):
    """Waits as long as Slack asks when we were too quick, if that is not too long."""

    def __init__(self, stop: Event) -> None:
        super().__init__(max_retry_count=MOST_WAITS)
        self._stop = stop

    def _can_retry(
        self,
        *,
        state: RetryState,  # noqa: ARG002 - the library's signature
        request: HttpRequest,  # noqa: ARG002
        response: HttpResponse | None = None,
        error: Exception | None = None,  # noqa: ARG002
    ) -> bool:
        is_limited = response is not None and response.status_code == TOO_MANY
        return is_limited and _seconds(response) <= LONGEST_WAIT_SECONDS and not self._stop.is_set()

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,  # noqa: ARG002 - the library's signature
        response: HttpResponse | None = None,
        error: Exception | None = None,  # noqa: ARG002
    ) -> None:
        """Wait."""
        self._stop.wait(_seconds(response))
        state.next_attempt_requested = True
        state.increment_current_attempt()


def make_client(token: str, stop: Event | None = None) -> WebClient:
    """Make what asks Slack; once `stop` is set it waits for nothing any more."""
    return WebClient(
        token=token,
        base_url=_base_url(),
        timeout=TIMEOUT_SECONDS,
        logger=silent,
        retry_handlers=[ConnectionErrorRetryHandler(), Patience(stop or Event())],
    )


def checked_token(variable: str, token: str | None) -> str:
    """Give a token, or say what is wrong with it; it is never shown."""
    if not token:
        message = (
            f"{variable} is not set; Slack shows it on your app's page under {PLACES[variable]},"
            " and turnleaf slack manifest prints what such an app is made of"
        )
        raise SettingsError(message)
    if not token.startswith(KINDS[variable]):
        message = f"{variable} must begin with {KINDS[variable]}; copy it again from Slack"
        raise SettingsError(message)
    return token


def identity(client: WebClient) -> Identity:
    """Ask Slack who we are; say in a sentence what keeps us from knowing."""
    try:
        found = client.auth_test()
    except TROUBLE as error:
        raise explained(error, "SLACK_BOT_TOKEN") from None
    return Identity(
        user=str(found["user_id"]),
        name=str(found.get("user", "")),
        team=str(found["team_id"]),
        team_name=str(found.get("team", "")),
        organisation=found.get("enterprise_id"),
    )


def explained(error: Exception, variable: str) -> TurnleafError:
    """Say what keeps a program with that token from starting."""
    code = reason(error)
    if code in WRONG_TOKEN:
        return SettingsError(f"Slack does not accept {variable} ({code}); copy it again from Slack")
    if isinstance(error, SlackApiError):
        return TurnleafError(f"Slack refused {variable} ({code}); docs/slack.md says what it needs")
    return TurnleafError(f"Slack cannot be reached ({code}); check the network and try again")


def reason(error: Exception) -> str:
    """Give the short form of what went wrong, in which there is no token and no text."""
    if not isinstance(error, SlackApiError):
        return str(getattr(error, "reason", error)) or type(error).__name__
    code = str(error.response.get("error", "unknown error"))
    needed = error.response.get("needed")
    return f"{code}: {needed}" if needed else code


def _seconds(response: HttpResponse | None) -> float:
    """Tell how long Slack wants us to wait."""
    headers = response.headers if response else {}
    given = [value for name, value in headers.items() if name.lower() == "retry-after"]
    try:
        return float(given[0][0])
    except (IndexError, ValueError):
        return 1.0


def _base_url() -> str:
    address = os.environ.get("SLACK_API_URL") or WebClient.BASE_URL
    if not address.startswith(("https://", "http://")):
        message = "SLACK_API_URL must be an address such as https://slack.com/api/; change it"
        raise SettingsError(message)
    return address
