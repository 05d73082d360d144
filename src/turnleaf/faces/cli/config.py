"""`config`: the settings, shown and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, pass_workspace
from turnleaf.faces.cli.output import format_value, note, say_json, say_result
from turnleaf.faces.cli.terminal import show_table
from turnleaf.settings import SETTINGS
from turnleaf.store.files.config import ConfigFile, named

if TYPE_CHECKING:
    from turnleaf.settings import Setting, Settings


@click.command()
@click.argument("key", required=False, type=TEXT)
@click.argument("value", required=False, type=TEXT)
@click.option("--unset", metavar="KEY", type=TEXT, help="Let this setting have its default again.")
@as_json
@pass_workspace
def config(
    workspace: Workspace, key: str | None, value: str | None, unset: str | None, *, as_json: bool
) -> None:
    """Show the settings, or the one called KEY; with a VALUE, change it.

    Changes are written to memory-config.json in the data folder. What the environment sets
    holds before the file.

    \b
    turnleaf config model ollama:qwen3
    turnleaf config --unset model
    """  # noqa: D301 - click reads the character, not its name
    if unset is not None and key is not None:
        message = "give KEY and VALUE or --unset KEY, not both"
        raise InvalidInput(message)
    wanted = unset if key is None else key
    if wanted is None:
        _list(workspace.settings, as_json=as_json)
        return
    setting = named(wanted)
    if unset is not None:
        ConfigFile(workspace.folder.config).unset(setting.key)
    elif value is not None:
        ConfigFile(workspace.folder.config).update({setting.key: value})
    _show(setting, workspace.settings, as_json=as_json)
    if unset or value:
        _note_environment(setting, workspace.settings)


def _note_environment(setting: Setting, settings: Settings) -> None:
    """Say so where the environment sets what was changed in the file."""
    if _find_source(setting, settings) == "environment":
        variable = settings.older_names.get(setting.field, setting.variable)
        note(f"{variable} in the environment holds before the file, as long as it is set")


def _list(settings: Settings, *, as_json: bool) -> None:
    if as_json:
        say_json([_make_record(setting, settings) for setting in SETTINGS])
        return
    rows = [
        (
            one.key,
            format_value(getattr(settings, one.field)),
            _describe_source(one, settings),
            one.meaning,
        )
        for one in SETTINGS
    ]
    show_table(("Setting", "Value", "From", "Meaning"), rows, wrapped={"Value"})


def _show(setting: Setting, settings: Settings, *, as_json: bool) -> None:
    say_result(
        _make_record(setting, settings),
        f"{setting.key} = {format_value(getattr(settings, setting.field))}",
        f"  from      {_describe_source(setting, settings)}",
        f"  default   {format_value(setting.default)}",
        f"  variable  {setting.variable}",
        f"  meaning   {setting.meaning}",
        as_json=as_json,
    )


def _make_record(setting: Setting, settings: Settings) -> dict[str, Any]:
    return {
        "key": setting.key,
        "value": getattr(settings, setting.field),
        "from": _find_source(setting, settings),
        "locked": settings.is_locked(setting),
        "default": setting.default,
        "variable": setting.variable,
        "meaning": setting.meaning,
    }


def _describe_source(setting: Setting, settings: Settings) -> str:
    source = _find_source(setting, settings)
    older = settings.older_names.get(setting.field)
    return f"{source} ({older})" if older else source


def _find_source(setting: Setting, settings: Settings) -> str:
    return settings.sources.get(setting.field, "default")
