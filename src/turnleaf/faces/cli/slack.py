"""`slack`."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import TYPE_CHECKING

import click

from turnleaf.faces.cli.first_start import mention_keeping
from turnleaf.faces.cli.output import note, say, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.running import running
from turnleaf.faces.ending import end_soon
from turnleaf.faces.extras import needing
from turnleaf.llm.models import describe
from turnleaf.scheduling import Runner
from turnleaf.watcher import Watcher

with needing("slack"):
    from turnleaf.faces.slack.bot import Bot
    from turnleaf.faces.slack.client import checked_token, identity, make_client
    from turnleaf.faces.slack.delivery import to_slack
    from turnleaf.faces.slack.line import Line
    from turnleaf.faces.slack.manifest import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.assistant import Assistant
    from turnleaf.faces.slack.client import Identity
    from turnleaf.settings import Settings

EVERY_SECONDS = 0.5
NEWS_SECONDS = 2.0
"""How long it waits for Slack to take the news of what was learnt at the end."""
NOBODY = (
    "Nobody is on the list yet, so it answers nobody. Put your Slack id on it:"
    " turnleaf config slackAllowedUsers U012AB3CD (write to the bot, and it tells you your id),"
    " or a channel for all its members: turnleaf config slackAllowedChannels C012AB3CD"
)


@click.group(invoke_without_command=True)
@pass_place
@click.pass_context
def slack(ctx: click.Context, place: Place) -> None:
    """Answer in Slack, and bring results of schedules there.

    It needs SLACK_BOT_TOKEN and SLACK_APP_TOKEN in the environment. It answers only those who
    are on the list: turnleaf config slackAllowedUsers. Ctrl-C ends it.
    """
    if ctx.invoked_subcommand is None:
        _run(place)


@slack.command()
def manifest() -> None:
    """Print the manifest of the app, for Slack."""
    say_json(MANIFEST)


def _run(place: Place) -> None:
    settings = place.settings
    bot_token = checked_token("SLACK_BOT_TOKEN", settings.slack_bot_token)
    app_token = checked_token("SLACK_APP_TOKEN", settings.slack_app_token)
    stop = Event()
    client = make_client(bot_token)
    me = identity(client)
    mention_keeping(place)
    with running(place.folder) as assistant:
        assistant.init()
        bot = Bot(assistant, client, me)
        line = Line(bot, client, me, app_token)
        deliver = to_slack(settings, stop)
        with ExitStack() as parts:
            parts.callback(bot.stop)
            parts.callback(line.close)
            parts.enter_context(Watcher(assistant.index))
            parts.enter_context(Runner(assistant, {"slack": deliver} if deliver else None))
            parts.enter_context(_ended_by_signals(stop))
            line.open()
            _greet(assistant, me)
            while not stop.wait(EVERY_SECONDS):
                bot.tell_news()
                line.look()
    bot.tell_news()
    bot.wait(NEWS_SECONDS)


def _greet(assistant: Assistant, me: Identity) -> None:
    settings = assistant.settings
    say(f"Turnleaf is in Slack as @{me.name} ({me.team_name})")
    say(f"  data folder  {assistant.folder.path}")
    say(f"  model        {describe(settings)}")
    say(f"  answers      {_listed(settings)}")
    say("Ctrl-C stops it.")
    sys.stdout.flush()
    if not settings.slack_allowed_users and not settings.slack_allowed_channels:
        note(NOBODY)


def _listed(settings: Settings) -> str:
    users, channels = settings.slack_allowed_users, settings.slack_allowed_channels
    said = [users, f"all members in {channels}" if channels else None]
    return ", ".join(filter(None, said)) or "nobody"


@contextmanager
def _ended_by_signals(stop: Event) -> Iterator[None]:
    """Take Ctrl-C and SIGTERM for a wish to stop; the second one does not wait."""
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}

    def end() -> None:
        stop.set()
        for one, handler in before.items():
            signal.signal(one, handler)

    def end_on_signal(*_: object) -> None:
        end_soon()
        end()

    for one in before:
        signal.signal(one, end_on_signal)
    try:
        yield
    finally:
        end()
