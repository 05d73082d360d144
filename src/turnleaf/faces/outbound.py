"""What leaves this machine: results of schedules, and errors without private details."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from turnleaf.core.secrets import mask_secrets

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.scheduling import Deliver
    from turnleaf.settings import Settings


def deliveries(settings: Settings) -> dict[str, Deliver]:
    """Return what delivers results, by kind; packages are loaded only if set up and installed."""
    if not settings.slack_bot_token or find_spec("slack_sdk") is None:
        return {}
    return {"slack": import_module("turnleaf.faces.slack.answers").make_delivery(settings)}


def redact(problem: str, assistant: Assistant) -> str:
    """Remove secrets and folder names from a sentence."""
    return mask_secrets(assistant.stores.redact(problem))
