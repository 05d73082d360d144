"""The connection to Slack: the app, its events over Socket Mode, and reconnecting."""

from __future__ import annotations

import logging
import socket
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.builtin import SocketModeClient

from turnleaf.errors import SettingsError
from turnleaf.faces.slack.answers import UNDO
from turnleaf.faces.slack.client import attempt, explain, silent
from turnleaf.settings import has_slack_app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slack_bolt import Ack
    from slack_sdk import WebClient

    from turnleaf.faces.slack.client import Identity

PING_SECONDS = 5.0
"""How often the connection is checked, and renewed if it is broken."""
RECEIVED_BYTES = 65536
CLOSE_SECONDS = 2.0

SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "groups:history",
    "groups:read",
    "im:history",
    "mpim:history",
    "mpim:read",
    "users:read",
)
EVENTS = ("app_mention", "message.channels", "message.groups", "message.im", "message.mpim")

MANIFEST: dict[str, Any] = {
    "display_information": {
        "name": "Turnleaf",
        "description": "An assistant with a memory that you can read",
    },
    "features": {
        "app_home": {
            "home_tab_enabled": False,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "bot_user": {"display_name": "Turnleaf", "always_online": False},
    },
    "oauth_config": {"scopes": {"bot": list(SCOPES)}},
    "settings": {
        "event_subscriptions": {"bot_events": list(EVENTS)},
        "interactivity": {"is_enabled": True},
        "org_deploy_enabled": False,
        "socket_mode_enabled": True,
        "token_rotation_enabled": False,
    },
}
"""The app manifest from which the Slack app is created."""

log = logging.getLogger("turnleaf")


class Listener(Protocol):
    """Receives events of Slack; both methods return at once."""

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take a message."""

    def press(self, body: Mapping[str, Any]) -> None:
        """Take the press of a button."""


class SocketMode(SocketModeClient):
    """Receives events of Slack, one after the other, until it is closed."""

    def __init__(
        self,
        listener: Listener,
        client: WebClient,
        me: Identity,
        app_token: str,
        *,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        super().__init__(
            app_token,
            logger=silent,
            web_client=client,
            ping_interval=ping_seconds,
            receive_buffer_size=RECEIVED_BYTES,
            concurrency=1,
        )
        handler = _Handler(_make_app(listener, client, me), self)
        self.socket_mode_request_listeners.append(handler.handle)  # type: ignore[arg-type] # as Bolt does
        self._was_connected = True

    def open(self) -> None:
        """Connect for the first time; raise an understandable error if that fails."""
        try:
            self.connect()
        except (SlackClientError, OSError, HTTPException) as error:
            raise explain(error, "SLACK_APP_TOKEN") from None

    def connect(self) -> None:
        """Connect, with a socket that reports its end, which the library takes for silence."""
        super().connect()
        session = self.current_session
        if session is not None and session.sock is not None:
            session.sock = _Ending(session.sock)  # type: ignore[assignment]
        # It may have been closed while it was connecting.
        if self.closed:
            self.disconnect()

    def disconnect(self) -> None:
        """Disconnect, even while the library's own thread is doing the same."""
        session = self.current_session
        if session is not None and session.sock is not None:
            with suppress(OSError):
                session.sock.shutdown(socket.SHUT_RDWR)
        with suppress(AttributeError):
            super().disconnect()

    def look(self) -> None:
        """Log when the connection is lost, and when it is back."""
        is_connected = self.is_connected()
        if is_connected != self._was_connected:
            state = "is restored" if is_connected else "is lost; reconnecting as soon as possible"
            log.warning("the connection to Slack %s", state)
        self._was_connected = is_connected

    def close(self) -> None:
        """Disconnect for good, without waiting for Slack or the network.

        The library's own method waits for all its threads, of which one may just begin to listen.
        """
        self.closed = True
        self.auto_reconnect_enabled = False
        self.disconnect()
        self.enqueue_message("")
        end = Thread(target=super().close, name="turnleaf-slack-end", daemon=True)
        end.start()
        end.join(CLOSE_SECONDS)


class _Handler(SocketModeHandler):
    """Bolt's own handler, with a client that exists already."""

    def __init__(self, app: App, client: SocketModeClient) -> None:
        self.app = app
        self.client = client


class _Ending:
    """A socket that raises an error at its end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def recv(self, size: int) -> bytes:
        data = self._connection.recv(size)
        if not data:
            message = "Slack hung up"
            raise ConnectionResetError(message)
        return data

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all the rest of a socket
        return getattr(self._connection, name)


def _make_app(listener: Listener, client: WebClient, me: Identity) -> App:
    """Return an app that passes messages and button presses to a listener.

    The listener only queues them, so it runs before the event is acknowledged. Our identity is
    known, and not requested with the first event, which would be lost if that failed.
    """
    if has_slack_app():
        message = (
            "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are set, which makes Slack's library expect"
            " an app for many workspaces; unset them"
        )
        raise SettingsError(message)
    known = AuthorizeResult(
        enterprise_id=None, team_id=me.team, bot_user_id=me.user, bot_token=client.token
    )
    app = App(client=client, logger=silent, authorize=lambda: known, process_before_response=True)

    def hear(event: dict[str, Any]) -> None:
        attempt(partial(listener.hear, event))

    def press(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        attempt(partial(listener.press, body))

    app.event("app_mention")(hear)
    app.event("message")(hear)
    app.action(UNDO)(press)
    return app
