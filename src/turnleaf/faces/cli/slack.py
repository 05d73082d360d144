"""`slack`: answers in Slack, and results of schedules."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from threading import Event
from typing import TYPE_CHECKING

import click

from turnleaf.faces.cli.arguments import Workspace, pass_workspace
from turnleaf.faces.cli.output import note, say_json
from turnleaf.faces.cli.talking import greet, mention_keeping, run_for_weeks
from turnleaf.faces.processes import end_soon, require_extra, stop_on
from turnleaf.scheduling import Runner
from turnleaf.settings import data_folder
from turnleaf.spaces import Spaces
from turnleaf.store.index_upkeep import IndexUpkeep

with require_extra("slack"):
    from turnleaf.faces.slack.bot import Bot
    from turnleaf.faces.slack.client import checked_token, identity, make_client
    from turnleaf.faces.slack.delivery import to_slack
    from turnleaf.faces.slack.socket_mode import MANIFEST, Line

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.faces.slack.client import Identity

EVERY_SECONDS = 0.5
NEWS_SECONDS = 2.0
"""How long it waits for Slack to take the news of what was learned at the end."""
NOBODY = (
    "Nobody is on the list yet, so it answers nobody. Put your Slack id on it:"
    " turnleaf config slackAllowedUsers U012AB3CD (write to the bot, and it tells you your id),"
    " or a channel for all its members: turnleaf config slackAllowedChannels C012AB3CD"
)


@click.group(invoke_without_command=True)
@pass_workspace
@click.pass_context
def slack(ctx: click.Context, workspace: Workspace) -> None:
    """Answer in Slack, and bring results of schedules there.

    It needs SLACK_BOT_TOKEN and SLACK_APP_TOKEN in the environment. It answers only those who
    are on the list: turnleaf config slackAllowedUsers. Ctrl-C ends it.
    """
    if ctx.invoked_subcommand is None:
        _run(workspace)


@slack.command()
def manifest() -> None:
    """Print the manifest of the app, for Slack."""
    say_json(MANIFEST)


def _run(workspace: Workspace) -> None:
    settings = workspace.settings
    bot_token = checked_token("SLACK_BOT_TOKEN", settings.slack_bot_token)
    app_token = checked_token("SLACK_APP_TOKEN", settings.slack_app_token)
    stop = Event()

    def end() -> None:
        end_soon()
        stop.set()

    client = make_client(bot_token)
    me = identity(client)
    mention_keeping(workspace)
    with run_for_weeks(workspace.folder) as assistant:
        assistant.init()
        spaces = Spaces(data_folder(workspace.data_dir))
        bot = Bot(assistant, client, me, spaces=spaces)
        line = Line(bot, client, me, app_token)
        deliver = to_slack(settings, stop)
        with ExitStack() as parts:
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
                bot.tell_news()
                line.look()
    bot.tell_news()
    bot.wait(NEWS_SECONDS)


def _greet(assistant: Assistant, me: Identity) -> None:
    users, channels = (
        assistant.settings.slack_allowed_users,
        assistant.settings.slack_allowed_channels,
    )
    allowed = filter(None, [users, f"all members in {channels}" if channels else None])
    title = f"Turnleaf is in Slack as @{me.name} ({me.team_name})"
    greet(title, assistant, {"answers": ", ".join(allowed) or "nobody"})
    if not users and not channels:
        note(NOBODY)
