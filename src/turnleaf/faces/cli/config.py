"""`config`: show and change settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, pass_workspace
from turnleaf.faces.cli.output import format_value, localize, note, say_json, say_result
from turnleaf.faces.cli.terminal import label, show_table
from turnleaf.settings import SETTINGS, find_setting

if TYPE_CHECKING:
    from turnleaf.settings import Setting, Settings


# A value such as -1 is no option.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("key", required=False, type=TEXT)
@click.argument("value", required=False, type=TEXT)
@click.option("--unset", metavar="KEY", type=TEXT, help="Reset this setting to its default.")
@as_json
@pass_workspace
def config(
    workspace: Workspace, key: str | None, value: str | None, unset: str | None, *, as_json: bool
) -> None:
    """Show all settings, or the one called KEY; with VALUE, change it.

    Changes are written to memory-config.json in the data folder. Environment variables
    override the file.

    \b
    turnleaf config model ollama:qwen3
    turnleaf config instructions 'Answer in one sentence.'
    turnleaf config --unset model
    """  # noqa: D301 - click reads the character, not its name
    if unset is not None and key is not None:
        message = "use either KEY VALUE or --unset KEY, not both"
        raise InvalidInput(message)
    wanted = unset if key is None else key
    if wanted is None:
        _list(workspace.settings, as_json=as_json)
        return
    setting = find_setting(wanted)
    if unset is not None or value is not None:
        workspace.config.change({setting.key: value})
    _show(setting, workspace.settings, as_json=as_json)
    if unset or value:
        _note_environment(setting, workspace.settings)


def _note_environment(setting: Setting, settings: Settings) -> None:
    """Write a note if the environment overrides what was changed in the file."""
    if settings.find_source(setting) == "environment":
        variable = settings.older_names.get(setting.field, setting.variable)
        note(f"the environment variable {variable} overrides the file; unset it to use the file")


def _list(settings: Settings, *, as_json: bool) -> None:
    if as_json:
        say_json([settings.describe(setting) for setting in SETTINGS])
        return
    rows = [
        (
            one.key,
            format_value(getattr(settings, one.field)),
            _describe_source(one, settings),
            localize(one.meaning),
        )
        for one in SETTINGS
    ]
    show_table(("Setting", "Value", "From", "Meaning"), rows, wrapped={"Value"})


def _show(setting: Setting, settings: Settings, *, as_json: bool) -> None:
    say_result(
        settings.describe(setting),
        f"{setting.key} = {format_value(getattr(settings, setting.field))}",
        f"  {label('from', 10)}{_describe_source(setting, settings)}",
        f"  {label('default', 10)}{format_value(setting.default)}",
        f"  {label('variable', 10)}{setting.variable}",
        f"  {label('meaning', 10)}{localize(setting.meaning)}",
        as_json=as_json,
    )


def _describe_source(setting: Setting, settings: Settings) -> str:
    source = localize(settings.find_source(setting))
    older = settings.older_names.get(setting.field)
    return f"{source} ({older})" if older else source
