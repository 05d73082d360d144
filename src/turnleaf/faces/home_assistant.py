"""The Home Assistant app: its options as environment variables, and the programs that it runs.

An option has the name of the field of `Settings` that it sets; without it the page decides.
The app's container runs `python -m turnleaf.faces.home_assistant`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.errors import SettingsError
from turnleaf.faces.cli.output import complain, note
from turnleaf.faces.http.access import parse_host
from turnleaf.faces.http.models import parse_origin
from turnleaf.settings import KEYS, SETTINGS, check_value, find_data_dir, is_in_home_assistant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PORT = 8099
"""Where Home Assistant asks for the page (`ingress_port` in the app's config.yaml)."""
VERBOSE = "verbose"
BY_FIELD = {setting.field: setting for setting in SETTINGS}
VARIABLES = {
    **{setting.field: setting.variable for setting in SETTINGS},
    **{key: key.upper() for key in KEYS},
    "allowed_hosts": "TURNLEAF_ALLOWED_HOSTS",
    "allowed_urls": "TURNLEAF_ALLOWED_URLS",
}
SLACK = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")
PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 300.0
GRACE_SECONDS = 8.0
"""How long the bot has when the app stops."""


class OptionForm(NamedTuple):
    """How the texts of an option are checked, and what is expected of them."""

    read: Callable[[str], object]
    expected: str


_ADDRESS = OptionForm(
    re.compile(r"https?://[^\s/]\S*").fullmatch, "an address such as http://192.168.1.5:11434/v1"
)
FORMS = {
    "model_url": _ADDRESS,
    "embeddings_url": _ADDRESS,
    "allowed_hosts": OptionForm(parse_host, "hostnames such as homeassistant.local"),
    "allowed_urls": OptionForm(parse_origin, "addresses such as http://192.168.1.5:11434"),
}


def read_options(path: Path) -> dict[str, Any]:
    """Return the options that were chosen on the app's page in Home Assistant."""
    try:
        options = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = f"{path} cannot be read ({error}); save the app's configuration again"
        raise SettingsError(message) from error
    if not isinstance(options, dict):
        message = f"{path} must contain one JSON object; save the app's configuration again"
        raise SettingsError(message)
    return options


def make_variables(options: Mapping[str, object]) -> dict[str, str]:
    """Return the environment variables for the options; raise SettingsError for a wrong one."""
    texts = {name: _read_texts(name, value) for name, value in options.items() if name in VARIABLES}
    given = {name: ",".join(some) for name, some in texts.items() if some}
    for name, text in given.items():
        _check_form(name, texts[name])
        if name in BY_FIELD:
            check_value(BY_FIELD[name], text, f'the option "{name}"')
    return {VARIABLES[name]: text for name, text in given.items()}


def _read_texts(name: str, value: object) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool):
        return ["on" if value else "off"]
    given = [_read_text(name, one) for one in (value if isinstance(value, list) else [value])]
    return [text for text in given if text]


def _read_text(name: str, value: object) -> str:
    """Return a value as text; what no variable can hold is refused and, as a secret, not shown."""
    text = str(value).strip() if isinstance(value, str | int | float) else "\0"
    if not text.isprintable():
        message = f'the option "{name}" is not plain text; change it or remove it'
        raise SettingsError(message)
    return text


def _check_form(name: str, texts: Sequence[str]) -> None:
    form = FORMS.get(name)
    wrong = [text for text in texts if form and not form.read(text)]
    if form and wrong:
        message = (
            f'the option "{name}" must be {form.expected}, not {wrong[0]!r:.80};'
            " change it or remove it"
        )
        raise SettingsError(message)


def make_page_command(options: Mapping[str, object]) -> list[str]:
    """Return the command that serves the page to Home Assistant."""
    everywhere = "0.0.0.0"  # noqa: S104 - of its container; whoever is not the supervisor needs the token
    command = ["serve", "--host", everywhere, "--port", str(PORT)]
    return [*command, "--verbose"] if options.get(VERBOSE) else command


def has_slack(environ: Mapping[str, str]) -> bool:
    """Whether the Slack bot can run; with only one token, write a warning."""
    given = [name for name in SLACK if environ.get(name)]
    if len(given) == 1:
        note("warning: the Slack bot needs two tokens and is not started; set the other one too")
    return len(given) == len(SLACK)


async def run(page: Sequence[str], bot: Sequence[str] | None, environ: Mapping[str, str]) -> int:
    """Run the page until it ends or the app is stopped, with the bot beside it."""
    serving = await _start(page, environ)
    beside = asyncio.create_task(_keep(bot, environ)) if bot else None

    def stop() -> None:
        with suppress(ProcessLookupError):
            serving.terminate()
        # A second time would keep it from waiting for the bot's end.
        if beside is not None and not beside.cancelling():
            beside.cancel()

    for wish in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(wish, stop)
    code = await serving.wait()
    stop()
    if beside is not None:
        await asyncio.wait([beside])
    return code


async def _keep(command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Restart a program whenever it ends, after a pause that grows if it ends soon."""
    now = asyncio.get_running_loop().time
    pause = PAUSE_SECONDS
    while True:
        began = now()
        process = await _start(command, environ)
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            await _end(process)
            raise
        if now() - began > LONGEST_PAUSE_SECONDS:
            pause = PAUSE_SECONDS
        note(f"warning: turnleaf {command[0]} ended ({code}); restarting in {pause:g} seconds")
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


async def _start(command: Sequence[str], environ: Mapping[str, str]) -> asyncio.subprocess.Process:
    program = (sys.executable, "-m", "turnleaf", *command)
    return await asyncio.create_subprocess_exec(*program, env=environ)


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), GRACE_SECONDS)
    except TimeoutError:
        process.kill()


def main() -> int:
    """Run the app, and return its exit code."""
    if not is_in_home_assistant():
        complain("this runs only in Home Assistant; elsewhere run turnleaf serve")
        return 1
    try:
        options = read_options(find_data_dir() / "options.json")
        environ = {**os.environ, **make_variables(options)}
    except SettingsError as error:
        complain(str(error))
        return 1
    bot = ["slack"] if has_slack(environ) else None
    return asyncio.run(run(make_page_command(options), bot, environ))


if __name__ == "__main__":
    sys.exit(main())
