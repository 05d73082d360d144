"""A memory for AI assistants that their users can read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.core.composer import PromptComposer
    from turnleaf.core.fact_text import FactForm
    from turnleaf.core.keys import cli_key, schedule_key, slack_key
    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import ConversationTurn, Message
    from turnleaf.core.prompts import build_prompt_with_history, build_prompt_with_memory
    from turnleaf.errors import CorruptFile, MemoryFull, TurnleafError
    from turnleaf.settings import Settings
    from turnleaf.store.conversation import Conversation
    from turnleaf.store.conversations import ConversationStore
    from turnleaf.store.daily import DailyLog
    from turnleaf.store.index import Index
    from turnleaf.store.memories import MemoryStore
    from turnleaf.store.schedules import ScheduleStore

__version__ = "0.1.0"

__all__ = [
    "Assistant",
    "Conversation",
    "ConversationStore",
    "ConversationTurn",
    "CorruptFile",
    "DailyLog",
    "FactForm",
    "Index",
    "Memory",
    "MemoryFull",
    "MemoryStore",
    "Message",
    "PromptComposer",
    "ScheduleStore",
    "Settings",
    "TurnleafError",
    "build_prompt_with_history",
    "build_prompt_with_memory",
    "cli_key",
    "schedule_key",
    "slack_key",
]

# Loaded when first asked for, so that `turnleaf --help` does not wait for a database.
_HOMES = {
    "Assistant": "assistant",
    "Conversation": "store.conversation",
    "ConversationStore": "store.conversations",
    "ConversationTurn": "core.messages",
    "CorruptFile": "errors",
    "DailyLog": "store.daily",
    "FactForm": "core.fact_text",
    "Index": "store.index",
    "Memory": "core.memories",
    "MemoryFull": "errors",
    "MemoryStore": "store.memories",
    "Message": "core.messages",
    "PromptComposer": "core.composer",
    "ScheduleStore": "store.schedules",
    "Settings": "settings",
    "TurnleafError": "errors",
    "build_prompt_with_history": "core.prompts",
    "build_prompt_with_memory": "core.prompts",
    "cli_key": "core.keys",
    "schedule_key": "core.keys",
    "slack_key": "core.keys",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        from importlib import import_module  # noqa: PLC0415 - costs time at start

        value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
