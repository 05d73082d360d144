"""How Turnleaf was installed, and so the command that adds an extra to it, or repairs one."""

from __future__ import annotations

import json
import re
import shlex
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from turnleaf.settings import is_in_home_assistant

if TYPE_CHECKING:
    from collections.abc import Sequence

SITE = Path(__file__).parents[1]
"""Where the package lies, with what its installer noted beside it."""
APP = "update the Turnleaf app in Home Assistant, which contains it"
PIPX, UV_TOOL, UV, PIP = "pipx", "uv tool", "uv pip", "pip"
RECEIPTS = {"pipx_metadata.json": PIPX, "uv-receipt.toml": UV_TOOL}
"""What each program that makes an environment for one tool leaves in it."""
REPLACING = {PIPX: "--force", UV_TOOL: "--force", UV: "--reinstall", PIP: "--force-reinstall"}

# pipx notes "turnleaf[mcp,server]", or a path with such an end, after injected packages;
# uv { name = "turnleaf", extras = ["mcp", "server"] }.
_EXTRAS = re.compile(
    r'(?:"main_package".*?"package_or_url": "[^"\[]*|turnleaf"[^}]{0,200}extras = )'
    r'\[([\w", -]{0,200})\]',
    re.DOTALL,
)


def advise_install(
    extra: str, *, again: bool = False, prefix: Path | None = None, site: Path = SITE
) -> str:
    """Return what to do to get an extra, or with `again` to repair it, as "run …" or "update …".

    An environment for one tool is made anew with the extras that it has, and the new one.
    """
    if is_in_home_assistant():
        return APP
    receipt = _find_receipt(prefix or Path(sys.prefix))
    installer = RECEIPTS[receipt.name] if receipt else _read_installer(site)
    found = _EXTRAS.search(receipt.read_text("utf-8", "replace")) if receipt else None
    extras = {extra, *re.findall(r"[\w-]+", found[1] if found else "")}
    option = f" {REPLACING[installer]}" if again or receipt else ""
    return f"run {installer} install{option} {shlex.quote(_name_source(site, sorted(extras)))}"


def _name_source(site: Path, extras: Sequence[str]) -> str:
    """Return what to install: the folder, file or repository that it was installed from, if any."""
    named = f"turnleaf[{','.join(extras)}]"
    notes = (one.read_text("utf-8", "replace") for one in site.glob("turnleaf-*/direct_url.json"))
    source = json.loads(next(notes, "{}"))
    if version_control := source.get("vcs_info", {}).get("vcs"):
        return f"{named} @ {version_control}+{source['url']}"
    path = Path(unquote(urlsplit(source.get("url", "")).path))
    return (
        f"{path}{named.removeprefix('turnleaf')}" if path.is_absolute() and path.exists() else named
    )


def _find_receipt(prefix: Path) -> Path | None:
    return next((prefix / name for name in RECEIPTS if (prefix / name).is_file()), None)


def _read_installer(site: Path) -> str:
    notes = (one.read_text("utf-8", "replace") for one in site.glob("turnleaf-*/INSTALLER"))
    return UV if next(notes, PIP).strip() == "uv" else PIP


def has_numpy() -> bool:
    """Whether numpy is installed; whether it works is seen when it is used."""
    try:
        return find_spec("numpy") is not None
    except ValueError:  # it was hidden
        return False


@cache
def find_vector_fault() -> str | None:
    """Return why numpy, which is installed, does not work here, and what to do."""
    if not has_numpy():
        return None
    try:
        import_module("numpy")
    except Exception as fault:  # noqa: BLE001 - a broken build may raise anything
        return (
            f"numpy cannot be loaded ({type(fault).__name__}: {fault}); "
            f"{advise_install('vectors', again=True)}"
        )
    return None
