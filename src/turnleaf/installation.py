"""How Turnleaf was installed, and so the command that adds an extra to it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from turnleaf.settings import in_home_assistant

SITE = Path(__file__).parents[1]
"""Where the package lies, with what its installer noted beside it."""
APP = "update the Turnleaf app in Home Assistant, which contains it"
PIPX, UV_TOOL, UV, PIP = "pipx", "uv tool", "uv pip", "pip"
RECEIPTS = {"pipx_metadata.json": PIPX, "uv-receipt.toml": UV_TOOL}
"""What each program that makes an environment for one tool leaves in it."""
REPLACING = {PIPX: "--force", UV_TOOL: "--force", UV: "--reinstall", PIP: "--force-reinstall"}

# pipx notes "turnleaf[mcp,server]", uv { name = "turnleaf", extras = ["mcp", "server"] }.
_EXTRAS = re.compile(r'turnleaf(?:\[|"[^}]{0,200}extras = \[)([\w", -]{0,200})\]')


def advise_install(
    extra: str, *, again: bool = False, prefix: Path | None = None, site: Path = SITE
) -> str:
    """Return what to do to get an extra, or with `again` to repair it, as "run …" or "update …".

    An environment for one tool is made anew with the extras that it has, and the new one.
    """
    if in_home_assistant():
        return APP
    receipt = _find_receipt(prefix or Path(sys.prefix))
    installer = RECEIPTS[receipt.name] if receipt else _read_installer(site)
    found = _EXTRAS.search(receipt.read_text("utf-8", "replace")) if receipt else None
    extras = {extra, *re.findall(r"[\w-]+", found[1] if found else "")}
    option = f" {REPLACING[installer]}" if again or receipt else ""
    return f"run {installer} install{option} 'turnleaf[{','.join(sorted(extras))}]'"


def _find_receipt(prefix: Path) -> Path | None:
    return next((prefix / name for name in RECEIPTS if (prefix / name).is_file()), None)


def _read_installer(site: Path) -> str:
    notes = (one.read_text("utf-8", "replace") for one in site.glob("turnleaf-*/INSTALLER"))
    return UV if next(notes, PIP).strip() == "uv" else PIP
