"""What clients are told of the tools besides what a model is: their results, and what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    Schema = dict[str, Any]

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
MOMENT = {"type": "string", "format": "date-time"}
FACT: Mapping[str, Schema] = {"id": TEXT, "content": TEXT, "category": TEXT, "updatedAt": MOMENT}
SAVED = {**FACT, "note": {**TEXT, "description": "What else there is to know of it."}}
HIT: Mapping[str, Schema] = {
    "text": TEXT,
    "source": {"enum": ["memory", "daily", "conversations"]},
    "date": TEXT,
    "id": TEXT,
    "conversation": TEXT,
    "speaker": TEXT,
    "score": {"type": "number"},
}
SCHEDULE: Mapping[str, Schema] = {
    "id": TEXT,
    "name": TEXT,
    "prompt": TEXT,
    "timing": TEXT,
    "timezone": TEXT,
    "deliver": TEXT,
    "paused": FLAG,
    "nextRun": MOMENT,
}
RUN: Mapping[str, Schema] = {
    "id": TEXT,
    "due": MOMENT,
    "state": {"enum": ["running", "done", "failed", "interrupted", "missed"]},
    "startedAt": MOMENT,
    "finishedAt": MOMENT,
    "attempts": {"type": "integer"},
    "result": TEXT,
    "error": TEXT,
}


def _result(properties: Mapping[str, Schema]) -> Schema:
    """Describe a result; one that failed has `error` instead of all the rest."""
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


def _some(properties: Mapping[str, Schema], *required: str) -> Schema:
    item = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


RESULTS: Mapping[str, Schema] = {
    "read_memory": _result({"content": TEXT}),
    "append_memory": _result(SAVED),
    "search_memory": _result({"results": _some(HIT, "text", "source", "score")}),
    "append_daily_log": _result({"saved": TEXT}),
    "manage_memory": _result(
        {**SAVED, "deleted": FLAG, "memories": _some(FACT, "id", "content", "updatedAt")}
    ),
    "manage_schedule": _result(
        {
            **SCHEDULE,
            "removed": FLAG,
            "schedules": _some(SCHEDULE, "id", "prompt", "timing", "timezone", "deliver", "paused"),
            "runs": _some(RUN, "id", "due", "state", "attempts"),
        }
    ),
}
"""What each tool gives, as a JSON schema."""


def _hints(
    title: str, *, reads: bool = False, destroys: bool = False, repeats: bool = False
) -> dict[str, Any]:
    return {
        "title": title,
        "read_only_hint": reads,
        "destructive_hint": destroys,
        "idempotent_hint": not repeats,
        "open_world_hint": False,
    }


HINTS: Mapping[str, dict[str, Any]] = {
    "read_memory": _hints("Read the memory", reads=True),
    "append_memory": _hints("Remember a fact"),
    "search_memory": _hints("Search the memory", reads=True),
    "append_daily_log": _hints("Note something in the daily log", repeats=True),
    "manage_memory": _hints("Manage the memory", destroys=True),
    "manage_schedule": _hints("Manage the schedules", destroys=True, repeats=True),
}
"""What each tool does to what there is: only reads it, destroys some, adds more when repeated."""
