"""What leaves this machine: the results of schedules, and problems without what is private."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from turnleaf.core.secrets import mask_secrets

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import Settings


def deliveries(settings: Settings) -> dict[str, Deliver]:
    """Return what brings results, by kind of place; what is not set up is not loaded."""
    if not settings.slack_bot_token:
        return {}
    to_slack = import_module("turnleaf.faces.slack.delivery").to_slack(settings)
    return {"slack": to_slack} if to_slack else {}


def harmless(problem: str, assistant: Assistant) -> str:
    """Take secrets and the folders of files out of a sentence."""
    return mask_secrets(assistant.stores.redact(problem))
