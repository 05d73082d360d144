"""A memory for AI assistants, in files you can read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant
    from turnleaf.core.changes import Change
    from turnleaf.core.keys import cli_key, schedule_key, slack_key
    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import ConversationTurn, Message
    from turnleaf.core.model_dialogue import Prompt, Silence, Text, ToolCall, ToolResult, Usage
    from turnleaf.core.opaque_records import Record
    from turnleaf.core.prompt.builders import (
        FactForm,
        build_prompt_with_history,
        build_prompt_with_memory,
    )
    from turnleaf.core.prompt.composer import Document, Explanation, PromptComposer
    from turnleaf.core.search.ranking import Hit
    from turnleaf.errors import (
        Conflict,
        CorruptFile,
        EmbeddingError,
        InvalidInput,
        LimitReached,
        MemoryFull,
        ModelError,
        NotFound,
        SettingsError,
        SpaceFull,
        StorageError,
        TurnleafError,
        UnreadableAnswer,
    )
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import Stores
    from turnleaf.store.files.conversation_file import Conversation
    from turnleaf.store.files.conversations.store import ConversationStore
    from turnleaf.store.files.daily import DailyLog
    from turnleaf.store.files.facts.memories import MemoryStore
    from turnleaf.store.files.index.index import Index
    from turnleaf.store.files.schedules import ScheduleStore
    from turnleaf.turn import Changed, Composed, Done, Reply

__version__ = "0.1.0"

__all__ = [
    "Assistant",
    "Change",
    "Changed",
    "Composed",
    "Conflict",
    "Conversation",
    "ConversationStore",
    "ConversationTurn",
    "CorruptFile",
    "DailyLog",
    "Document",
    "Done",
    "EmbeddingError",
    "Explanation",
    "FactForm",
    "Hit",
    "Index",
    "InvalidInput",
    "LimitReached",
    "Memory",
    "MemoryFull",
    "MemoryStore",
    "Message",
    "ModelError",
    "NotFound",
    "Prompt",
    "PromptComposer",
    "Record",
    "Reply",
    "ScheduleStore",
    "Settings",
    "SettingsError",
    "Silence",
    "SpaceFull",
    "StorageError",
    "Stores",
    "Text",
    "ToolCall",
    "ToolResult",
    "TurnleafError",
    "UnreadableAnswer",
    "Usage",
    "build_prompt_with_history",
    "build_prompt_with_memory",
    "cli_key",
    "schedule_key",
    "slack_key",
]

# Loaded when first asked for, so that `turnleaf --help` does not wait for a database.
_HOMES = {
    "Assistant": "assistant",
    "Change": "core.changes",
    "Changed": "turn",
    "Composed": "turn",
    "Conflict": "errors",
    "Conversation": "store.files.conversation_file",
    "ConversationStore": "store.files.conversations.store",
    "ConversationTurn": "core.messages",
    "CorruptFile": "errors",
    "DailyLog": "store.files.daily",
    "Document": "core.prompt.composer",
    "Done": "turn",
    "EmbeddingError": "errors",
    "Explanation": "core.prompt.composer",
    "FactForm": "core.prompt.builders",
    "Hit": "core.search.ranking",
    "Index": "store.files.index.index",
    "InvalidInput": "errors",
    "Memory": "core.memories",
    "LimitReached": "errors",
    "MemoryFull": "errors",
    "MemoryStore": "store.files.facts.memories",
    "Message": "core.messages",
    "ModelError": "errors",
    "NotFound": "errors",
    "Prompt": "core.model_dialogue",
    "PromptComposer": "core.prompt.composer",
    "Record": "core.opaque_records",
    "Reply": "turn",
    "ScheduleStore": "store.files.schedules",
    "Settings": "settings",
    "SettingsError": "errors",
    "SpaceFull": "errors",
    "Silence": "core.model_dialogue",
    "StorageError": "errors",
    "Stores": "store.contracts",
    "Text": "core.model_dialogue",
    "ToolCall": "core.model_dialogue",
    "ToolResult": "core.model_dialogue",
    "TurnleafError": "errors",
    "UnreadableAnswer": "errors",
    "Usage": "core.model_dialogue",
    "build_prompt_with_history": "core.prompt.builders",
    "build_prompt_with_memory": "core.prompt.builders",
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
