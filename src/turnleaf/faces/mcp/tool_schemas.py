"""Output schemas and annotations of the tools, for MCP clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_types import ToolAnnotations

from turnleaf.core.schedules import STATES
from turnleaf.tools import FACT_KEYS, RUN_KEYS, SCHEDULE_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Schema = dict[str, Any]

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
MOMENT = {"type": "string", "format": "date-time"}
KINDS: Mapping[str, Schema] = {
    "updatedAt": MOMENT,
    "paused": FLAG,
    "nextRun": MOMENT,
    "due": MOMENT,
    "state": {"enum": list(STATES)},
    "startedAt": MOMENT,
    "finishedAt": MOMENT,
    "attempts": {"type": "integer"},
}
"""The types of keys that are not text."""


def _describe_keys(keys: Sequence[str]) -> dict[str, Schema]:
    return {key: KINDS.get(key, TEXT) for key in keys}


FACT = _describe_keys(FACT_KEYS)
SCHEDULE = _describe_keys(SCHEDULE_KEYS)
RUN = _describe_keys(RUN_KEYS)
NOTE: Mapping[str, Schema] = {"note": {**TEXT, "description": "Additional information."}}
HIT: Mapping[str, Schema] = {
    "text": TEXT,
    "source": {"enum": ["memory", "older", "daily", "conversations"]},
    "date": TEXT,
    "id": TEXT,
    "conversation": TEXT,
    "speaker": TEXT,
    "score": {"type": "number"},
    "trust": {**TEXT, "description": "Whose words these are, if not the user's own."},
    **NOTE,
}


def _describe_result(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of a result; a failed one has only `error`."""
    return {
        "type": "object",
        "properties": {
            "success": {**FLAG, "description": "Whether it was done."},
            "error": {**TEXT, "description": "Why it was not done, and what to do."},
            **properties,
        },
        "required": ["success"],
        "additionalProperties": False,
    }


def _describe_list(properties: Mapping[str, Schema], *required: str) -> Schema:
    item = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


RESULTS: Mapping[str, Schema] = {
    "read_memory": _describe_result({"content": TEXT}),
    "append_memory": _describe_result({**FACT, **NOTE}),
    "search_memory": _describe_result({"results": _describe_list(HIT, "text", "source", "score")}),
    "append_daily_log": _describe_result({"saved": TEXT}),
    "manage_memory": _describe_result(
        {
            **FACT,
            **NOTE,
            "deleted": FLAG,
            "memories": _describe_list(FACT, "id", "content", "updatedAt"),
        }
    ),
    "manage_schedule": _describe_result(
        {
            **SCHEDULE,
            **NOTE,
            "removed": FLAG,
            "schedules": _describe_list(
                SCHEDULE, "id", "prompt", "timing", "timezone", "deliver", "paused"
            ),
            "runs": _describe_list(RUN, "id", "due", "state", "attempts"),
        }
    ),
}
"""What each tool returns, as a JSON schema."""


def _make_hints(
    title: str,
    *,
    reads: bool = False,
    destroys: bool = False,
    repeats: bool = False,
    sends: bool = False,
) -> ToolAnnotations:
    return ToolAnnotations(
        title=title,
        read_only_hint=reads,
        destructive_hint=destroys,
        idempotent_hint=not repeats,
        open_world_hint=sends,
    )


HINTS: Mapping[str, ToolAnnotations] = {
    "read_memory": _make_hints("Read the memory", reads=True),
    "append_memory": _make_hints("Remember a fact"),
    "search_memory": _make_hints("Search the memory", reads=True),
    "append_daily_log": _make_hints("Note something in the daily log", repeats=True),
    "manage_memory": _make_hints("Manage the memory", destroys=True),
    "manage_schedule": _make_hints("Manage the schedules", destroys=True, repeats=True, sends=True),
}
"""What each tool does: only reads, destroys some, adds more when repeated, sends to others."""
