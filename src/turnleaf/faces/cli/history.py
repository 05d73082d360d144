"""`history`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from turnleaf.core.messages import to_json
from turnleaf.core.times import to_iso
from turnleaf.errors import NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json
from turnleaf.faces.cli.output import minute, note, one_line, say, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.tables import show
from turnleaf.store.conversations import ConversationStore

if TYPE_CHECKING:
    from turnleaf.core.messages import Message


@click.command()
@click.argument("key", required=False, type=TEXT)
@as_json
@pass_place
def history(place: Place, key: str | None, *, as_json: bool) -> None:
    """List the conversations, newest first, or show the one with this KEY."""
    location = place.folder.conversations(place.settings)
    store = ConversationStore(location, settings=place.settings)
    try:
        if key is None:
            _list(store, as_json=as_json)
        else:
            _show(store, key, as_json=as_json)
    finally:
        store.close()


def _list(store: ConversationStore, *, as_json: bool) -> None:
    found = store.summaries()
    if as_json:
        records = [
            {
                "key": one.key,
                "turns": one.turns,
                "createdAt": to_iso(one.created_at),
                "updatedAt": to_iso(one.updated_at),
            }
            for one in found
        ]
        say_json(records)
    elif found:
        rows = [(minute(one.updated_at), str(one.turns), one.key) for one in found]
        show(("Last message", "Messages", "Key"), rows)
    else:
        note("There are no conversations yet.")


def _show(store: ConversationStore, key: str, *, as_json: bool) -> None:
    messages = store.get_history(key)
    if as_json:
        say_json([to_json(message) for message in messages])
    for one in () if as_json else messages:
        _say(one)
    if not messages:
        message = f'there is no conversation "{one_line(key)}"; turnleaf history lists them'
        raise NotFound(message)


def _say(message: Message) -> None:
    when = f"{minute(message.timestamp)}  " if message.timestamp else ""
    name = f" {message.name}" if message.name else ""
    say(f"{when}{message.role}{name}")
    lines = [message.text, *_others(message)]
    for line in "\n".join(filter(None, lines)).split("\n"):
        say(f"  {line}".rstrip())


def _others(message: Message) -> list[str]:
    """Tell of what is no text: pictures and the like, and tool calls."""
    parts = message.content if isinstance(message.content, list) else []
    calls = [call.get("function", call) for call in message.tool_calls or ()]
    return [
        *(str(part.get("refusal") or f"[{part['type']}]") for part in parts if "text" not in part),
        *(f"[calls {json.dumps(call, ensure_ascii=False)}]" for call in calls),
    ]
