"""The line to Slack: events come in over Socket Mode, and it is made anew when it breaks."""

from __future__ import annotations

import logging
import os
import socket
import time
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Protocol

from slack_bolt import App
from slack_bolt.adapter.socket_mode.internals import run_bolt_app, send_response
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.builtin import SocketModeClient

from turnleaf.errors import SettingsError
from turnleaf.faces.slack.client import explained, silent
from turnleaf.faces.slack.lanes import attempt
from turnleaf.faces.slack.notes import UNDO

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slack_bolt import Ack
    from slack_sdk import WebClient
    from slack_sdk.socket_mode.client import BaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest

    from turnleaf.faces.slack.client import Identity

PING_SECONDS = 5.0
"""How often the line is looked at, and made anew if it is broken."""
RECEIVED_BYTES = 65536
CLOSE_SECONDS = 2.0

log = logging.getLogger("turnleaf")


class Listener(Protocol):
    """Whoever is told what happens in Slack; neither call takes long."""

    def hear(self, event: Mapping[str, Any]) -> None:
        """Take something that was said."""

    def press(self, body: Mapping[str, Any]) -> None:
        """Take the press of a button."""


class Line(SocketModeClient):
    """Listens to Slack, one event after the other, until it is closed."""

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
        self._app = _application(listener, client, me)
        self._was_connected = True
        self.socket_mode_request_listeners.append(self._dispatch)

    def open(self) -> None:
        """Connect for the first time; say in a sentence what keeps us from it."""
        try:
            self.connect()
        except (SlackClientError, OSError, HTTPException) as error:
            raise explained(error, "SLACK_APP_TOKEN") from None

    def connect(self) -> None:
        """Connect; the library takes the end of a connection for silence, so it is told."""
        super().connect()
        session = self.current_session
        if session is not None and session.sock is not None:
            session.sock = _Ending(session.sock)  # type: ignore[assignment]
        if self.closed:
            self.disconnect()

    def disconnect(self) -> None:
        """Hang up, also where the library's own thread is about to do the same."""
        session = self.current_session
        if session is not None and session.sock is not None:
            with suppress(OSError):
                session.sock.shutdown(socket.SHUT_RDWR)
        with suppress(AttributeError):
            super().disconnect()

    def look(self) -> None:
        """Say when the connection is lost, and when it is back."""
        is_connected = self.is_connected()
        if is_connected != self._was_connected:
            told = "is back" if is_connected else "is lost; it is made anew as soon as possible"
            log.warning("the connection to Slack %s", told)
        self._was_connected = is_connected

    def close(self) -> None:
        """Hang up for good, without waiting for what Slack or the network might still say.

        The library's own way waits for all its threads, of which one may just begin to listen.
        """
        self.closed = True
        self.auto_reconnect_enabled = False
        runners = self.current_session_runner, self.message_processor, self.current_app_monitor
        for runner in runners:
            runner.event.set()
        self.disconnect()
        self.enqueue_message("")
        end = time.monotonic() + CLOSE_SECONDS
        while any(runner.is_alive() for runner in runners[:2]) and time.monotonic() < end:
            self.current_session_state.terminated = True
            self.current_session_runner.thread.join(CLOSE_SECONDS / 100)
            self.message_processor.thread.join(CLOSE_SECONDS / 100)
        self.message_workers.shutdown(wait=False)

    def _dispatch(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        started = time.time()
        send_response(client, request, run_bolt_app(self._app, request), started)


class _Ending:
    """A socket that says when it has come to its end."""

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


def _application(listener: Listener, client: WebClient, me: Identity) -> App:
    """Let somebody hear what people say and which buttons they press.

    Both only queue something, so they are done before Slack is told that we have it. Who we are is
    known, and not asked with the first event, which would be lost if that failed.
    """
    if {"SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"} <= os.environ.keys():
        message = (
            "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are set, with which Slack's library expects"
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
