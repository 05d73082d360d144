"""Facts (`remember`, `memories`, `edit`, `why`, `undo`) and daily notes (`log`, `today`)."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.core import changes
from turnleaf.core.changes import Source
from turnleaf.core.languages import pluralize
from turnleaf.core.memories import Memory, to_json
from turnleaf.core.serialization import from_iso, to_iso
from turnleaf.errors import Conflict, InvalidInput, NotFound, StorageError, TurnleafError
from turnleaf.faces.cli.arguments import (
    TEXT,
    Workspace,
    as_json,
    find_id,
    is_attended,
    pass_workspace,
    take_text,
)
from turnleaf.faces.cli.output import (
    flatten,
    format_day,
    format_minute,
    label,
    localize,
    note,
    say,
    say_json,
    say_result,
    show_table,
)
from turnleaf.memory_commands import remember_fact, save_merged
from turnleaf.settings import has_editor
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from turnleaf.core.changes import Change
    from turnleaf.core.search.ranking import Hit
    from turnleaf.turn import Reply

NOTHING_YET = (
    'Nothing is remembered yet. Try: turnleaf remember "The living room lamp is called Ming"'
)
NO_OLDER = "There are no older facts: no fact has expired or has made room for another."
MAX_NAME_CHARS = 40
MEMORY_NAME = "memory"
QUESTION_CHARS = 80

HAPPENED = {
    "add": "remembered",
    "import": "imported",
    "update": "changed",
    "repeat": "said again",
    "retire": "moved to the older facts",
    "expire": "moved to the older facts after its last day",
    "revive": "restored from the older facts",
    "delete": "forgotten",
    "put": "written by saving the whole file",
    "restore": "restored after another program saved an older version of the file",
    "seen": "deleted from the file by hand",
    "undo": "an earlier change was undone",
    "erase": "everything from a source was erased",
}

BEGINNINGS = {
    "": "typed into the file by hand",
    "user": "added by you",
    "request": "saved at your request",
    "learnt": "learned from a conversation",
    "tool": "saved by the assistant, with a tool",
    "accept": "accepted by you",
}

ORIGINS = {
    "user": " by you",
    "request": " at your request",
    "learnt": ", learned from a conversation",
    "tool": " by the assistant, with a tool",
    "accept": ", accepted by you",
}


@click.command()
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@click.option("-c", "--category", type=TEXT, help="Category of the fact.")
@as_json
@pass_workspace
def remember(
    workspace: Workspace, words: tuple[str, ...], category: str | None, *, as_json: bool
) -> None:
    """Remember TEXT as a fact.

    Without TEXT, or with -, the fact is read from standard input.

    \b
    turnleaf remember The living room lamp is called Ming
    turnleaf remember --category home 客廳的燈叫做小明
    """  # noqa: D301 - click reads the character, not its name
    text = take_text(words)
    for known in workspace.memory.get_all():
        if known.content == text and category in (None, known.category):
            line = f"already remembered {flatten(known.id)}: {flatten(known.content)}"
            say_result(to_json(known), line, as_json=as_json)
            return
    kept = remember_fact(workspace.memory, text, category)
    new = kept.memory
    line = f"remembered {flatten(new.id)}: {flatten(new.content)}"
    say_result(to_json(new), line, as_json=as_json)
    for one in kept.displaced:
        note(f"moved to the older facts to make room: {flatten(one.id)}: {flatten(one.content)}")


@click.command()
@click.option("-c", "--category", type=TEXT, help="Only facts of this category.")
@click.option(
    "--older", is_flag=True, help=("List the older facts, which are not put into prompts.")
)
@as_json
@pass_workspace
def memories(workspace: Workspace, category: str | None, *, older: bool, as_json: bool) -> None:
    """List the facts in memory."""
    everything = workspace.memory.older() if older else workspace.memory.get_all()
    found = [m for m in everything if category is None or m.category == category]
    if as_json:
        say_json([to_json(memory) for memory in found])
    elif found:
        rows = [(m.id, format_day(m.created_at), m.category or "", m.content) for m in found]
        show_table(("ID", "Added", "Category", "Memory"), rows, wrapped={"Category"})
    if everything and not found:
        message = f"no fact has the category {category!r}; list them all with turnleaf memories"
        raise NotFound(message)
    if not everything:
        note(NO_OLDER if older else NOTHING_YET)


@click.command()
@click.argument("memory_id", metavar="[ID]", required=False, type=TEXT)
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@as_json
@pass_workspace
def edit(
    workspace: Workspace, memory_id: str | None, words: tuple[str, ...], *, as_json: bool
) -> None:
    """Change the fact with this ID to TEXT; - reads standard input.

    Without TEXT, the fact opens in your editor ($VISUAL or $EDITOR). If the fact is changed
    elsewhere meanwhile, nothing is overwritten and your text is saved to a file.

    Without ID, the whole memory opens, even one in a database. Changes made elsewhere meanwhile are
    merged with yours.
    """
    if memory_id is None:
        _edit_all(workspace, as_json=as_json)
        return
    known = {memory.id: memory for memory in workspace.memory.get_all()}
    old = new = known[find_id(memory_id, known)]
    text = take_text(words) if words else _open_editor(workspace, old)
    if text == old.content:
        note("Nothing was changed.")
    elif words:
        new = _update(workspace, old, text)
    else:
        new = _update_or_keep(workspace, old, text)
    lines = [f"changed {flatten(new.id)}: {flatten(new.content)}"] if new != old else []
    say_result(to_json(new), *lines, as_json=as_json)


@click.command()
@click.argument("memory_id", metavar="ID", type=TEXT)
@as_json
@pass_workspace
def pin(workspace: Workspace, memory_id: str, *, as_json: bool) -> None:
    """Keep the fact with this ID in every prompt, even when not all facts fit."""
    _set_pin(workspace, memory_id, pinned=True, as_json=as_json)


@click.command()
@click.argument("memory_id", metavar="ID", type=TEXT)
@as_json
@pass_workspace
def unpin(workspace: Workspace, memory_id: str, *, as_json: bool) -> None:
    """Unpin the fact with this ID."""
    _set_pin(workspace, memory_id, pinned=False, as_json=as_json)


def _set_pin(workspace: Workspace, memory_id: str, *, pinned: bool, as_json: bool) -> None:
    known = [memory.id for memory in workspace.memory.get_all()]
    (fact,) = workspace.memory.arrange([find_id(memory_id, known)], pinned=pinned)
    line = f"{'pinned' if pinned else 'unpinned'} {flatten(fact.id)}: {flatten(fact.content)}"
    say_result(to_json(fact), line, as_json=as_json)


def _edit_all(workspace: Workspace, *, as_json: bool) -> None:
    if not (has_editor() or is_attended()):
        message = (
            "there is no terminal to edit the memory in; give the ID of a fact and its text, or "
            "set EDITOR"
        )
        raise InvalidInput(message)
    facts = workspace.memory
    base, version = facts.snapshot()
    suffix = ".md" if facts.format == "markdown" else ".json"
    edited = _edit_text(workspace, base, MEMORY_NAME, suffix)
    try:
        written = save_merged(facts, base, version, edited, datetime.now(UTC))
    except TurnleafError:
        note(f"Your text was saved to {_keep_text(workspace, MEMORY_NAME, edited.encode())}")
        raise
    if written is None:
        note("Nothing was changed.")
    count = len(facts.get_all())
    lines = [] if written is None else [f"saved; the memory now has {pluralize(count, 'fact')}"]
    say_result({"change": written, "facts": count}, *lines, as_json=as_json)


def _open_editor(workspace: Workspace, old: Memory) -> str:
    ends_line = old.content.endswith("\n")
    text = old.content if ends_line else f"{old.content}\n"
    edited = _edit_text(workspace, text, old.id)
    return edited if ends_line else edited.removesuffix("\n")


def _edit_text(workspace: Workspace, text: str, name: str, suffix: str = ".md") -> str:
    """Return what a person makes of a text in their editor."""
    typed = click.edit(text.encode(), extension=suffix)
    if typed is None:
        return text
    try:
        return typed.decode()
    except UnicodeDecodeError:
        path = _keep_text(workspace, name, typed)
        message = f"your editor did not save UTF-8; your text is in {path}, so convert it there"
        raise InvalidInput(message) from None


def _update(workspace: Workspace, old: Memory, text: str) -> Memory:
    new = workspace.memory.update(old.id, text, expected=old.content)
    if new is None:
        message = f"the fact {old.id} was forgotten meanwhile; add it again with turnleaf remember"
        raise NotFound(message)
    return new


def _update_or_keep(workspace: Workspace, old: Memory, text: str) -> Memory:
    try:
        return _update(workspace, old, text)
    except TurnleafError:
        if text.strip():
            note(f"Your text was saved to {_keep_text(workspace, old.id, text.encode())}")
        raise


def _keep_text(workspace: Workspace, memory_id: str, data: bytes) -> Path:
    safe_id = re.sub(r"[^\w-]", "_", memory_id)[:MAX_NAME_CHARS]
    name = f"unsaved-{safe_id}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.md"
    path = workspace.folder.path / name
    try:
        atomic.write(path, data)
    except StorageError:
        path = Path(tempfile.mkdtemp(prefix="turnleaf-")) / name
        atomic.write(path, data)
    return path


@click.command()
@click.argument("memory_id", metavar="ID", type=TEXT)
@as_json
@pass_workspace
def why(workspace: Workspace, memory_id: str, *, as_json: bool) -> None:
    """Show where the fact with this ID came from, and every change to it.

    The beginning of the ID, or some text of the fact, is enough. Forgotten facts are found by ID.
    With the key of a conversation, such as cli:session-1, the command shows what went into the
    prompt of each answer.
    """
    found_id = _find_subject(workspace, memory_id)
    answers = _list_answers(workspace, found_id) if ":" in found_id else []
    if answers:
        _show_answers(workspace, answers, as_json=as_json)
        return
    older = {memory.id: memory for memory in workspace.memory.older()}
    known = older | {memory.id: memory for memory in workspace.memory.get_all()}
    found_id = find_id(found_id, workspace.memory.list_known_ids())
    memory = known.get(found_id)
    story = workspace.memory.changes(found_id)
    if as_json:
        record = to_json(memory) if memory else None
        say_json({"memory": record, "changes": [changes.to_json(change) for change in story]})
    else:
        _show_story(found_id, memory, story, is_older=found_id in older)


@click.command()
@click.option("--skip", is_flag=True, help="Skip facts that were changed again since then.")
@as_json
@pass_workspace
def undo(workspace: Workspace, *, skip: bool, as_json: bool) -> None:
    """Undo the latest change to the memory that has not been undone yet.

    A fact that was changed again since then is not restored; --skip undoes the change before
    instead.
    """
    try:
        undone = workspace.memory.undo(skip=skip)
    except Conflict as error:
        message = f"{error}; or undo an earlier change with turnleaf undo --skip"
        raise Conflict(message) from error
    if not undone:
        message = "there is nothing to undo"
        raise NotFound(message)
    lines = [line for change in reversed(undone) for line in _describe_undone(change)]
    say_result([changes.to_json(change) for change in undone], *lines, as_json=as_json)


def _describe_undone(change: Change) -> list[str]:
    lines = [_describe_restored(memory) for memory in change.removed]
    if change.op == "put" and not change.id:
        lines.insert(0, "undone: the change of the whole file")
    before, after = change.before, change.after
    if before and after:
        lines.append(f"changed back {flatten(before.id)}: {flatten(before.content)}")
    elif before:
        lines.append(_describe_restored(before))
    elif after:
        lines.append(f"undone: no longer remembered {flatten(after.id)}: {flatten(after.content)}")
    return lines


def _describe_restored(memory: Memory) -> str:
    return f"restored {flatten(memory.id)}: {flatten(memory.content)}"


def _find_subject(workspace: Workspace, wanted: str) -> str:
    """Return the fact's ID, or the conversation's key, that begins with what was typed."""
    known = set(workspace.memory.list_known_ids())
    if ":" not in wanted:
        is_id = any(one.startswith(wanted) for one in known)
        return find_id(wanted if is_id else _find_by_text(workspace, wanted), known)
    if workspace.conversations.exists():
        known |= {one.key for one in workspace.conversations.summaries()}
    if not any(one.startswith(wanted) for one in known):
        message = (
            f'no fact or conversation begins with "{flatten(wanted)}"; '
            "see turnleaf memories or turnleaf history"
        )
        raise NotFound(message)
    return find_id(wanted, known)


def _find_by_text(workspace: Workspace, wanted: str) -> str:
    """Return the ID of the one fact that contains a text."""
    everything = [*workspace.memory.get_all(), *workspace.memory.older()]
    found = [one.id for one in everything if wanted.casefold() in one.content.casefold()]
    if not found or not wanted.strip():
        message = f'no fact has the ID or contains "{flatten(wanted)}"; see turnleaf memories'
        raise NotFound(message)
    if len(found) > 1:
        message = f'{len(found)} facts contain "{flatten(wanted)}"; type more of it, or the ID'
        raise InvalidInput(message)
    return found[0]


def _list_answers(workspace: Workspace, key: str) -> list[dict[str, Any]]:
    """Return what went into each answer of a conversation, with the question before it."""
    if not workspace.conversations.exists():
        return []
    answers = []
    question = ""
    for one in workspace.conversations.messages(key):
        said = one.message
        if said.role == "user":
            question = said.text[:QUESTION_CHARS]
        elif one.shaped_by is not None:
            time = said.timestamp and to_iso(said.timestamp)
            answers.append({"id": one.id, "time": time, "question": question, **one.shaped_by})
    return answers


def _show_answers(
    workspace: Workspace, answers: Sequence[dict[str, Any]], *, as_json: bool
) -> None:
    if as_json:
        say_json(answers)
        return
    known = {memory.id: memory.content for memory in workspace.memory.get_all()}
    for answer in answers:
        when = f"{format_minute(from_iso(answer['time']))}  " if answer["time"] else ""
        say(f"{when}{flatten(answer['question'])}")
        for memory_id in answer["memories"]:
            use = "used" if memory_id in answer.get("cited", ()) else "in the prompt"
            content = flatten(known.get(memory_id) or localize("(forgotten since)"))
            say(f"{'':18}{localize(f'{use}: ')}{localize(f'memory {memory_id}: {content}')}")
        for hit in answer["hits"]:
            where, said = _find_passage(workspace, hit)
            fit = f"score {hit['score']}" if "score" in hit else "next to a hit"
            use = "used" if hit.get("cited") else "in the prompt"
            place = localize(f"found in {flatten(where)}, {fit}")
            say(f"{'':18}{localize(f'{use}: ')}{place}")
            if said:
                say(f"{'':20}{flatten(said)}")
    if any("message" in hit for answer in answers for hit in answer["hits"]):
        say(f"{'':18}{localize('show the place with turnleaf history show KEY --message N')}")


def _find_passage(workspace: Workspace, hit: dict[str, Any]) -> tuple[str, str]:
    """Return where a passage is and, for a message, its time, speaker and beginning."""
    if "message" not in hit:
        return f"{hit['path']}:{hit['line']}", ""
    found = workspace.conversations.find_message(hit["message"])
    if found is None:
        return localize("a conversation erased since"), ""
    key, stored = found
    said = stored.message
    words = localize("(forgotten since)") if stored.is_hidden else said.text[:QUESTION_CHARS]
    when = f"{format_minute(said.timestamp)} " if said.timestamp else ""
    speaker = said.name or localize(said.role)
    return localize(f"{key}, message {stored.id}"), f"{when}{localize(f'{speaker}: ')}{words}"


def show_explanation(reply: Reply, known: Mapping[str, str]) -> None:
    """Show what an answer rests on and what else was in its prompt; `known` are facts by ID."""
    explanation, cited = reply.explanation, reply.cited
    _show_parts("The last answer uses:", cited.memories, cited.hits, known)
    others = [one for one in explanation.memories if one not in cited.memories]
    unused = [hit for hit in explanation.hits if hit not in cited.hits]
    _show_parts("In its prompt:", others, unused, known)
    for section in explanation.sections:
        counted = localize(f"{section.tokens:,} tokens")
        say(f"  {counted:>14}  {localize(flatten(section.name))}")
    for what in explanation.left_out:
        say(localize(f"Left out: {flatten(what)}"))


def _show_parts(
    title: str, memories: Sequence[str], hits: Sequence[Hit], known: Mapping[str, str]
) -> None:
    if memories or hits:
        say(localize(title))
    for memory_id in memories:
        content = known.get(memory_id) or localize("(forgotten since)")
        say(f"  {flatten(memory_id)}  {flatten(content)}")
    for hit in hits:
        say(f"  {_describe_hit(hit)}")


def _describe_hit(hit: Hit) -> str:
    place = hit.conversation or hit.id or f"{hit.path.name}:{hit.line}"
    if hit.message is not None:
        place = localize(f"{hit.speaker or ''} in {place}, message {hit.message}")
    origin = " ".join(filter(None, (localize(hit.source), hit.date, place)))
    score = f"{hit.score:.3f}" if hit.is_judged else f"{'':5}"
    return f"{score}  {flatten(hit.text)}  ({flatten(origin)})"


def _show_story(
    memory_id: str, memory: Memory | None, story: Sequence[Change], *, is_older: bool
) -> None:
    if memory:
        _show_memory(memory)
        if is_older:
            say(f"{label('older', 10)}{localize('not put into prompts')}")
    else:
        say(localize(f"{flatten(memory_id)} is forgotten."))
    say()
    for change in story:
        _show_change(change)
    if not story:
        say(localize("It was typed into the file by hand, so it has no history."))


def _show_memory(memory: Memory) -> None:
    details = {
        "id": memory.id,
        "origin": localize(BEGINNINGS.get(memory.origin or "", memory.origin or "")),
        "category": memory.category,
        "added": format_minute(memory.created_at),
        "changed": format_minute(memory.updated_at),
        "until": memory.until and str(memory.until),
        "said": localize(f"{memory.said_count} times") if memory.said_count > 1 else None,
        "pinned": localize("in every prompt") if memory.pinned else None,
    }
    say(memory.content)
    say()
    for name, detail in details.items():
        if detail:
            say(f"{label(name, 10)}{flatten(detail)}")


def _show_change(change: Change) -> None:
    by = ORIGINS.get(change.origin, f" by {flatten(change.origin)}") if change.origin else ""
    is_lack = change.op == "put" and change.removed
    what = "deleted by saving the whole file" if is_lack else HAPPENED.get(change.op, change.op)
    say(f"{format_minute(change.time)}  {localize(what)}{localize(by)}")
    source = change.source or Source()
    is_update = change.before and change.after
    details = {
        "was": change.before and is_update and change.before.content,
        "text": change.after and change.after.content,
        "quote": source.quote,
        "source": source.name,
        "conversation": source.conversation,
        "said": source.message_time and format_minute(source.message_time),
    }
    for name, detail in details.items():
        if detail:
            say(f"{'':18}{localize(f'{name}: ')}{flatten(detail)}")


@click.command()
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@pass_workspace
def log(workspace: Workspace, words: tuple[str, ...]) -> None:
    """Add TEXT to today's note.

    Without TEXT, or with -, the entry is read from standard input.
    """
    workspace.stores.daily.append(take_text(words))
    say(localize("added to today's note; see turnleaf today"))


@click.command()
@click.option("--date", "day", type=TEXT, metavar="YYYY-MM-DD", help="Show another day's note.")
@as_json
@pass_workspace
def today(workspace: Workspace, day: str | None, *, as_json: bool) -> None:
    """Show today's note."""
    shown = day or datetime.now().astimezone().date().isoformat()
    text = workspace.stores.daily.read(shown)
    if as_json:
        say_json({"date": shown, "text": text})
    elif text:
        say(text.rstrip("\n"))
    if day and not text:
        message = f"there is no note for {day}; see turnleaf today for today's"
        raise NotFound(message)
    if not text:
        note('There is no note for today. Try: turnleaf log "Watered the plants"')
