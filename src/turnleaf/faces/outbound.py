"""What leaves this machine: results of schedules, and errors without private details."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from turnleaf.core.secrets import mask_secrets

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import Settings


def deliveries(settings: Settings) -> dict[str, Deliver]:
    """Return the functions that deliver results, by kind; packages are loaded only if set up."""
    if not settings.slack_bot_token:
        return {}
    to_slack = import_module("turnleaf.faces.slack.delivery").to_slack(settings)
    return {"slack": to_slack} if to_slack else {}


def redact(problem: str, assistant: Assistant) -> str:
    """Remove secrets and folder names from a sentence."""
    return mask_secrets(assistant.stores.redact(problem))
