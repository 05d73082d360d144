"""`serve`: the web page, the HTTP API and an OpenAI-compatible API."""

from __future__ import annotations

import logging
import sys
import threading
import webbrowser
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnleaf.faces.cli.arguments import TEXT, Workspace, pass_workspace
from turnleaf.faces.cli.output import localize
from turnleaf.faces.cli.sessions import greet, mention_keeping, run_for_weeks
from turnleaf.faces.operator_links import LIFE_SECONDS, make_link
from turnleaf.faces.processes import allow_more_files, require_extra
from turnleaf.settings import is_in_home_assistant, list_allowed_hosts

with require_extra("server"):
    from turnleaf.faces.http.access import (
        Access,
        check_host,
        find_supervisor,
        guard_app,
        is_local,
        load_token,
        read_token,
    )
    from turnleaf.faces.http.app import make_app
    from turnleaf.faces.http.monitoring import log_as_json
    from turnleaf.faces.http.operator_sessions import OperatorSessions
    from turnleaf.faces.http.request_reading import RequestLimits
    from turnleaf.faces.http.server import Server, address_of, listen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.assistant import Assistant
    from turnleaf.faces.http.access import Token

HOST = "127.0.0.1"
PORT = 8793
LARGEST_PORT = 65535
INGRESS = RequestLimits(head_seconds=30.0, idle_seconds=30)
"""Home Assistant keeps a connection for 15 seconds; it must not send into one that we close."""
IN_THE_OPEN = (
    "warning: every computer on your network can reach this server, and anyone with the token"
    " can read and change the memory; connections are not encrypted, so use it only on a"
    " network that you trust"
)


@click.command()
@click.option("--host", metavar="ADDRESS", default=HOST, type=TEXT, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, LARGEST_PORT),
    help=f"Port to listen on; by default {PORT}, or a free one if that is taken.",
)
@click.option(
    "--allow-host",
    metavar="NAME",
    multiple=True,
    type=TEXT,
    help="Also accept this hostname (repeatable).",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in your browser.")
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Require the token in this file, even from this computer.",
)
@click.option("--verbose", is_flag=True, help="Log each request to stderr.")
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Log format; json logs each request and warning as a line of JSON.",
)
@pass_workspace
def serve(
    workspace: Workspace,
    host: str,
    port: int | None,
    allow_host: tuple[str, ...],
    *,
    opens: bool,
    token_file: Path | None,
    verbose: bool,
    log_format: str,
) -> None:
    """Serve the web page, the HTTP API and an OpenAI-compatible API.

    By default only this computer can reach the server. With --host, clients need the token that is
    created at the first start; the output names its file. Press Ctrl-C to stop.

    Models, addresses and keys can be set in the page only by a browser that has opened the operator
    link, which is printed at the start. turnleaf link prints a new one.
    """
    allowed = tuple(check_host(name) for name in (*allow_host, *list_allowed_hosts()))
    given = read_token(token_file) if token_file else None
    listening = listen(host, PORT, or_any=True) if port is None else listen(host, port)
    with closing(listening) as listener, _log_requests(log_format, verbose=verbose):
        bound, its_port = listener.getsockname()[:2]
        own = None if given or is_local(bound) else load_token(workspace.folder.token)
        token = given or own
        supervisor = find_supervisor()
        links = workspace.folder.operator_link
        sessions = OperatorSessions(links, its_port) if token is None else None
        access = Access(bound, its_port, token and token.value, allowed, supervisor, sessions)
        limits = INGRESS if supervisor else RequestLimits()
        mention_keeping(workspace)
        allow_more_files()
        with run_for_weeks(workspace.stores) as assistant:

            def ready() -> None:
                address = address_of(listener)
                link = make_link(links, address) if sessions else address
                place = token_file or workspace.folder.token
                _greet(assistant, address, token, place, link if sessions else None)
                if opens:
                    _open_page(link)
                threading.Thread(target=assistant.warm_up, daemon=True).start()

            app = guard_app(make_app(assistant), access, limits)
            Server(app, listener, limits=limits, ready=ready).serve_forever()


@contextmanager
def _log_requests(log_format: str, *, verbose: bool) -> Iterator[None]:
    if log_format == "json":
        with log_as_json():
            yield
        return
    if verbose:
        _show_requests()
    yield


def _show_requests() -> None:
    log = logging.getLogger("turnleaf.http")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def _greet(
    assistant: Assistant, address: str, token: Token | None, place: Path, link: str | None
) -> None:
    details: dict[str, str] = {}
    if link is not None:
        # Anywhere else than on a terminal it would be kept in a log.
        details["set up"] = (
            localize(f"{link} (works once, for {LIFE_SECONDS // 60} minutes)")
            if sys.stdout.isatty()
            else localize(
                "run turnleaf link for an address that lets you set models and keys in the page"
            )
        )
    if token is not None:
        details["token"] = localize(f"in {place}")
        if token.is_new and sys.stdout.isatty():  # Anywhere else it would be kept in a log.
            link = f"{address}#token={token.value} (shown only once)"
            details["log in"] = localize(link)
        if is_in_home_assistant():
            details["open it"] = localize("from the sidebar of Home Assistant, without a token")
        else:
            _warn_of_network()
    greet(f"Turnleaf is running at {address}", assistant, details)


def _warn_of_network() -> None:
    """Log the warning, so that it has the form of the log."""
    logging.getLogger("turnleaf").warning(IN_THE_OPEN.removeprefix("warning: "))


def _open_page(address: str) -> None:
    """Open the page without waiting for a slow browser."""
    threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
