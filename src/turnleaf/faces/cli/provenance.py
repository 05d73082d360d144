"""`why` and `undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from turnleaf.core import changes, memories
from turnleaf.core.changes import Source
from turnleaf.core.times import from_iso, to_iso
from turnleaf.errors import Conflict, NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json, full_id
from turnleaf.faces.cli.output import minute, one_line, say, say_json
from turnleaf.faces.cli.place import Place, pass_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.changes import Change
    from turnleaf.core.memories import Memory

QUESTION_CHARS = 80

HAPPENED = {
    "add": "remembered",
    "import": "imported",
    "update": "changed",
    "repeat": "said again",
    "retire": "moved to the older facts",
    "expire": "moved to the older facts, because its last day was over",
    "revive": "brought back from the older facts",
    "delete": "forgotten",
    "put": "written when the whole file was saved",
    "restore": "brought back after another program had saved an older file",
    "seen": "deleted from the file by hand",
    "undo": "an earlier change was taken back",
    "erase": "what a source had brought was erased",
}

ORIGINS = {
    "request": " at your request",
    "learnt": ", learnt from a conversation",
    "tool": " by the assistant, with a tool",
    "accept": ", accepted by you",
}


@click.command()
@click.argument("memory_id", metavar="ID", type=TEXT)
@as_json
@pass_place
def why(place: Place, memory_id: str, *, as_json: bool) -> None:
    """Show where the memory with this ID came from, and every change to it.

    The first letters of the id are enough. A forgotten memory is found as well. With the key
    of a conversation, such as cli:session-1, it shows what went into the prompt of each answer.
    """
    answers = _answers(place, memory_id) if ":" in memory_id else []
    if answers:
        _tell_answers(place, answers, as_json=as_json)
        return
    older = {memory.id: memory for memory in place.memory.older()}
    known = older | {memory.id: memory for memory in place.memory.get_all()}
    found_id = full_id(memory_id, place.memory.known_ids())
    memory = known.get(found_id)
    story = place.memory.changes(found_id)
    if as_json:
        said = memories.to_json(memory) if memory else None
        say_json({"memory": said, "changes": [changes.to_json(change) for change in story]})
    else:
        _tell(found_id, memory, story, is_older=found_id in older)


@click.command()
@click.option("--skip", is_flag=True, help="Leave alone what was changed since, and go on.")
@as_json
@pass_place
def undo(place: Place, *, skip: bool, as_json: bool) -> None:
    """Take back the last change of the memories that was not taken back yet.

    A memory that somebody changed since is not touched: --skip takes back the change before.
    """
    try:
        undone = place.memory.undo(skip=skip)
    except Conflict as error:
        message = f"{error}; or turnleaf undo --skip takes back the change before"
        raise Conflict(message) from error
    if not undone:
        message = "there is nothing to undo"
        raise NotFound(message)
    if as_json:
        say_json([changes.to_json(change) for change in undone])
        return
    for change in reversed(undone):
        _tell_undone(change)


def _tell_undone(change: Change) -> None:
    if change.op == "put" and not change.id:
        say(f"taken back: the text that was saved as {one_line(change.file)}")
    for memory in change.removed:
        _tell_fact("remembered again", memory)
    if change.before:
        _tell_fact("says again" if change.after else "remembered again", change.before)
    elif change.after:
        _tell_fact("forgotten again", change.after)


def _tell_fact(what: str, memory: Memory) -> None:
    say(f"{what}: {one_line(memory.id)}: {one_line(memory.content)}")


def _answers(place: Place, key: str) -> list[dict[str, Any]]:
    """Return what went into each answer of a conversation, with the question before it."""
    if not place.conversations.location.exists():
        return []
    answers = []
    question = ""
    for one in place.conversations.messages(key):
        said = one.message
        if said.role == "user":
            question = said.text[:QUESTION_CHARS]
        elif one.shaped_by is not None:
            time = said.timestamp and to_iso(said.timestamp)
            answers.append({"id": one.id, "time": time, "question": question, **one.shaped_by})
    return answers


def _tell_answers(place: Place, answers: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        say_json(answers)
        return
    known = {memory.id: memory.content for memory in place.memory.get_all()}
    for answer in answers:
        when = f"{minute(from_iso(answer['time']))}  " if answer["time"] else ""
        say(f"{when}{one_line(answer['question'])}")
        for memory_id in answer["memories"]:
            say(f"{'':18}memory {memory_id}: {one_line(known.get(memory_id, '(forgotten since)'))}")
        for hit in answer["hits"]:
            where, said = _find_passage(place, hit)
            fit = f"score {hit['score']}" if "score" in hit else "beside what was found"
            say(f"{'':18}found in {one_line(where)}, {fit}")
            if said:
                say(f"{'':20}{one_line(said)}")
    if any("message" in hit for answer in answers for hit in answer["hits"]):
        say(f"{'':18}turnleaf history show KEY --message N shows where that was said")


def _find_passage(place: Place, hit: dict[str, Any]) -> tuple[str, str]:
    """Return where a passage stands, and of a message who said it when, and how it begins."""
    if "message" not in hit:
        return f"{hit['path']}:{hit['line']}", ""
    found = place.conversations.find_message(hit["message"])
    if found is None:
        return "a conversation erased since", ""
    key, stored = found
    said = stored.message
    words = "(forgotten since)" if stored.is_hidden else said.text[:QUESTION_CHARS]
    when = f"{minute(said.timestamp)} " if said.timestamp else ""
    return f"{key}, message {stored.id}", f"{when}{said.name or said.role}: {words}"


def _tell(
    memory_id: str, memory: Memory | None, story: Sequence[Change], *, is_older: bool
) -> None:
    if memory:
        _describe(memory)
        if is_older:
            say("older     it is in no prompt")
    else:
        say(f"{one_line(memory_id)} is forgotten.")
    say()
    for change in story:
        _tell_change(change)
    if not story:
        say("It was typed into the file by hand, so there is no record of it.")


def _describe(memory: Memory) -> None:
    say(memory.content)
    say()
    say(f"id        {one_line(memory.id)}")
    say(f"origin    {one_line(memory.origin or 'typed into the file by hand')}")
    if memory.category:
        say(f"category  {memory.category}")
    say(f"added     {minute(memory.created_at)}")
    say(f"changed   {minute(memory.updated_at)}")
    if memory.slot:
        say(f"slot      {one_line(memory.slot)}")
    if memory.until:
        say(f"until     {memory.until}")
    if memory.said_count > 1:
        say(f"said      {memory.said_count} times")


def _tell_change(change: Change) -> None:
    by = ORIGINS.get(change.origin, f" by {one_line(change.origin)}") if change.origin else ""
    is_lack = change.op == "put" and change.removed
    what = (
        "deleted when the whole file was saved" if is_lack else HAPPENED.get(change.op, change.op)
    )
    say(f"{minute(change.time)}  {what}{by}")
    source = change.source or Source()
    is_update = change.before and change.after
    details = {
        "was": change.before and is_update and change.before.content,
        "text": change.after and change.after.content,
        "quote": source.quote,
        "source": source.name,
        "conversation": source.conversation,
        "said": source.message_time and minute(source.message_time),
        "trust": source.trust,
    }
    for name, detail in details.items():
        if detail:
            say(f"{'':18}{name}: {one_line(detail)}")
