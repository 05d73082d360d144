"""Where the results of schedules can go from this program, besides the daily log and files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import Settings


def deliveries(settings: Settings) -> dict[str, Deliver]:
    """Give what brings results, by kind of place; what is not set up is not loaded."""
    if not settings.slack_bot_token:
        return {}
    to_slack = import_module("turnleaf.faces.slack.delivery").to_slack(settings)
    return {"slack": to_slack} if to_slack else {}
