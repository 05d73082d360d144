"""`slack`: the Slack bot, which also delivers results of schedules."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from threading import Event
from typing import TYPE_CHECKING

import click

from turnleaf.faces.cli.arguments import Workspace, pass_workspace
from turnleaf.faces.cli.output import localize, note, say_json
from turnleaf.faces.cli.sessions import greet, mention_keeping, run_for_weeks
from turnleaf.faces.processes import end_soon, require_extra, stop_on
from turnleaf.scheduling import Runner
from turnleaf.spaces import Spaces
from turnleaf.store.index_upkeep import IndexUpkeep

with require_extra("slack"):
    from turnleaf.faces.slack.answers import make_delivery
    from turnleaf.faces.slack.bot import Bot
    from turnleaf.faces.slack.client import check_token, fetch_identity, make_client
    from turnleaf.faces.slack.socket_mode import MANIFEST, SocketMode

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.faces.slack.client import Identity

EVERY_SECONDS = 0.5
NEWS_SECONDS = 2.0
"""How long the last notes of what was learned may take at the end."""
NOBODY = (
    "The allow-list is empty, so the bot answers nobody. Add your Slack ID with"
    " turnleaf config slackAllowedUsers U012AB3CD (the bot tells you your ID if you write to it),"
    " or all members of a channel with turnleaf config slackAllowedChannels C012AB3CD"
)


@click.group(invoke_without_command=True)
@pass_workspace
@click.pass_context
def slack(ctx: click.Context, workspace: Workspace) -> None:
    """Run the Slack bot, which also delivers results of schedules.

    It needs SLACK_BOT_TOKEN and SLACK_APP_TOKEN in the environment, and answers only people on
    the allow-list (turnleaf config slackAllowedUsers). Press Ctrl-C to stop.
    """
    if ctx.invoked_subcommand is None:
        _run(workspace)


@slack.command()
def manifest() -> None:
    """Print the app manifest to create the Slack app from."""
    say_json(MANIFEST)


def _run(workspace: Workspace) -> None:
    settings = workspace.settings
    bot_token = check_token("SLACK_BOT_TOKEN", settings.slack_bot_token)
    app_token = check_token("SLACK_APP_TOKEN", settings.slack_app_token)
    stop = Event()

    def end() -> None:
        end_soon()
        stop.set()

    client = make_client(bot_token)
    me = fetch_identity(client)
    mention_keeping(workspace)
    with run_for_weeks(workspace.stores) as assistant:
        assistant.init()
        spaces = Spaces(workspace.data_dir)
        bot = Bot(assistant, client, me, spaces=spaces)
        line = SocketMode(bot, client, me, app_token)
        deliver = make_delivery(settings, stop)
        with ExitStack() as parts:
            # Undone from the last to the first: nothing more
            # is heard, then answers end, then spaces close.
            parts.callback(spaces.close)
            parts.callback(bot.stop)
            parts.callback(line.close)
            stores = assistant.stores
            parts.enter_context(IndexUpkeep(stores.passages, stores.announcements))
            parts.enter_context(Runner(assistant, {"slack": deliver} if deliver else None))
            parts.enter_context(stop_on((signal.SIGINT, signal.SIGTERM), end))
            parts.callback(stop.set)
            line.open()
            _greet(assistant, me)
            while not stop.wait(EVERY_SECONDS):
                bot.report_news()
                line.look()
    bot.report_news()
    bot.wait(NEWS_SECONDS)


def _greet(assistant: Assistant, me: Identity) -> None:
    users, channels = (
        assistant.settings.slack_allowed_users,
        assistant.settings.slack_allowed_channels,
    )
    allowed = filter(None, [users, localize(f"all members in {channels}") if channels else None])
    title = f"Turnleaf is running in Slack as @{me.name} ({me.team_name})"
    greet(title, assistant, {"answers": ", ".join(allowed) or localize("nobody")})
    if not users and not channels:
        note(NOBODY)
