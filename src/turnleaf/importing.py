"""Bringing a past: what other programs exported becomes conversations, memories and notes here.

An import may be stopped at any moment and run again: a conversation is added whole or not at all,
and what is there already is not added twice.

A model may read imported conversations for facts, after it was said what that takes. What it finds
waits to be reviewed. A conversation that was read is not read again, so that whoever stops goes on
later where it was.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from turnleaf.core import import_formats, json_facts, markdown
from turnleaf.core.changes import Source
from turnleaf.core.import_formats import (
    FoundConversation,
    FoundMemory,
    Skipped,
    choose_json_reader,
    choose_lines_reader,
    is_list_of_memories,
)
from turnleaf.core.learning.extraction import (
    KNOWN_TOKENS,
    TranscriptMessage,
    Window,
    make_answer_schema,
    make_requests,
)
from turnleaf.core.learning.findings import choose_candidates, find_stated
from turnleaf.core.learning.proposals import read_answer
from turnleaf.core.learning.reconciling import find_same
from turnleaf.core.memories import Memory, make_content_id
from turnleaf.core.memory_limits import Room
from turnleaf.core.messages import Message, NewMessage, TreeNode
from turnleaf.core.secrets import mask_fact, mask_secrets
from turnleaf.core.tokens import estimate
from turnleaf.errors import CorruptFile, InvalidInput, MemoryFull, NotFound
from turnleaf.learning import CONTEXT_TRUSTS
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from turnleaf.core.import_formats import Found, FoundMessage, Reader
    from turnleaf.core.learning.extraction import ExtractionRequest, Proposal
    from turnleaf.core.learning.findings import ProposedFact, Stated
    from turnleaf.core.messages import ConversationSummary
    from turnleaf.core.model_dialogue import Model
    from turnleaf.core.pages import Format
    from turnleaf.store.contracts import Stores
    from turnleaf.store.exports import Export, ExportFile


FIRST_LINES = 50
"""So many lines of a transcript are looked at to tell whose it is."""
MOST_READ_CHARS = 4000
"""So much of a message is looked at for facts; longer ones are pasted texts."""
MAX_NOTE_BYTES = 2_000_000
FORMATS: dict[str, Format] = {"json": json_facts, "markdown": markdown}
NOTES = {".md", ".markdown", ".txt"}
ORIGIN = "import"
DOCUMENTATION = "docs/use/import.md lists the supported formats"
TOO_MANY_PENDING = "facts from conversations, because too many are pending review already"


def is_list_of_facts(export: Export) -> bool:
    """Whether an export is a list of facts in a form that Turnleaf itself writes."""
    file = export.files[0] if export.is_one_file else None
    if file is None or file.suffix in {".jsonl", ".txt"}:
        return False
    if file.suffix != ".json":
        return True
    first = file.read_first_item()
    return is_list_of_memories(first) or choose_json_reader(first, None) is None


def parse_facts(name: str, text: str, form: str | None, time: datetime) -> list[Memory]:
    """Return the facts of a file that Turnleaf or a person wrote; raise for one without any."""
    guess = "json" if text.lstrip().startswith(("[", "{")) else "markdown"
    try:
        page = FORMATS[form or guess].parse(text, time)
    except CorruptFile as error:
        message = (
            f"{name} cannot be imported: {error}; the file must contain a JSON array or Markdown "
            "bullets"
        )
        raise CorruptFile(message) from error
    if not page.facts:
        message = f"{name} contains nothing that can be imported; {DOCUMENTATION}"
        raise NotFound(message)
    return [fact.memory for fact in page.facts]


@dataclass(slots=True)
class ImportReport:
    """What an import found and what became of it."""

    conversations: int = 0
    """How many conversations were found; `messages` of them were new."""
    messages: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    """When the first and the last of all messages were written."""
    programs: Counter[str] = field(default_factory=Counter)
    memories: int = 0
    """How many memories were new; `older` of them had no room and are found by search alone."""
    older: int = 0
    known_memories: int = 0
    to_review: int = 0
    """How many facts of conversations wait to be reviewed."""
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found that could be imported."""
        return not (self.conversations or self.memories or self.known_memories)

    def note_times(self, times: Sequence[datetime]) -> None:
        """Take note of when messages were written."""
        self.oldest = min(filter(None, (self.oldest, *times)), default=None)
        self.newest = max(filter(None, (self.newest, *times)), default=None)


@dataclass(slots=True)
class Importer:
    """Imports one export into the stores of a space; with `dry_run` it only counts."""

    stores: Stores
    now: Callable[[], datetime]
    dry_run: bool = False
    report: ImportReport = field(default_factory=ImportReport)
    _memories: dict[str, Memory] = field(default_factory=dict)
    _stated: list[Stated] = field(default_factory=list)

    def run(
        self, export: Export, progress: Callable[[int, int], None] = lambda _done, _all: None
    ) -> ImportReport:
        """Import what another program exported; return what became of it.

        `progress` is told how many bytes of how many were read; what it raises ends the import.
        Raise NotFound where nothing in it is understood.
        """
        self._check_store()
        whole, done = sum(file.size for file in export.files), 0
        for file in export.files:
            for _ in self._take_file(file, is_alone=len(export.files) == 1):
                progress(done + file.count_read(), whole)
            done += file.size
            progress(done, whole)
        self._add_memories()
        self._propose_facts()
        if self.report.is_empty:
            message = f"{export.name} contains nothing that can be imported; {DOCUMENTATION}"
            raise NotFound(message)
        return self.report

    def take_facts(self, export: Export) -> ImportReport:
        """Import a list of facts, each with its id and times."""
        file = export.files[0]
        text = file.read(atomic.MAX_PAGE_BYTES).decode("utf-8-sig", "replace")
        for memory in parse_facts(export.name, text, None, file.modified):
            self._memories.setdefault(memory.content, memory)
        self._add_memories()
        return self.report

    def _check_store(self) -> None:
        # What a store trims would be lost right after it was imported.
        if not self.stores.conversations.keeps_everything:
            message = (
                f"{self.stores.conversations.location} keeps only the newest messages, so nothing "
                "was imported; set TURNLEAF_CONVERSATIONS to a name ending in .db"
            )
            raise InvalidInput(message)

    def _take_file(self, file: ExportFile, *, is_alone: bool) -> Iterator[None]:
        """Take in what a file holds, piece by piece."""
        try:
            for found in self._read_file(file, is_alone=is_alone):
                self._take(found, file.modified)
                yield
        # One damaged file must not cost the others.
        except CorruptFile as error:
            self.report.problems.append(str(error))

    def _read_file(self, file: ExportFile, *, is_alone: bool) -> Iterator[Found]:
        if file.suffix in NOTES:
            text = file.read(MAX_NOTE_BYTES).decode("utf-8-sig", "replace")
            if is_alone and file.suffix == ".txt":
                return import_formats.read_list_of_memories(text)
            return iter([import_formats.read_note(file.name, text, file.modified)])
        reader = self._choose_reader(file)
        if reader is None:
            kind = f"{file.suffix} files" if file.suffix else "files without an ending"
            return iter([Skipped(f"{kind} that hold nothing to import")])
        return reader(file.lines() if file.suffix == ".jsonl" else file.items())

    def _choose_reader(self, file: ExportFile) -> Reader | None:
        if file.suffix == ".jsonl":
            name = file.base.removesuffix(".jsonl")
            with closing(file.lines()) as lines:
                return choose_lines_reader(islice(lines, FIRST_LINES), name)
        if file.suffix != ".json":
            return None
        return choose_json_reader(file.read_first_item(), self.now().tzinfo)

    def _take(self, found: Found, time: datetime) -> None:
        if isinstance(found, FoundConversation):
            self._add_conversation(found, time)
        elif isinstance(found, FoundMemory):
            self._note_memory(found, time)
        else:
            self.report.skipped[found.reason] += found.count

    def _add_conversation(self, found: FoundConversation, time: datetime) -> None:
        nodes = list(_make_nodes(found.messages, time))
        self.report.conversations += 1
        self.report.note_times([one.time for one in found.messages if one.time])
        self.report.programs[found.program] += 1
        self._find_stated(found, nodes)
        if self.dry_run:
            self.report.messages += self.stores.conversations.count_new(found.key, nodes)
            return
        self.report.messages += self.stores.conversations.import_tree(
            found.key, nodes, leaf=found.leaf, title=found.title.strip() or None
        )

    def _find_stated(self, found: FoundConversation, nodes: Sequence[TreeNode]) -> None:
        """Look for facts in the user's own words, on the branch that is shown."""
        # The leaf may be counted from the end.
        place: int | None = range(len(nodes))[found.leaf]
        while place is not None:
            message, said = nodes[place].new.message, found.messages[place]
            # What another program wrote in the user's name, or a note, is not what the user says.
            if said.role == "user" and said.trust is None and message.timestamp:
                time = message.timestamp.astimezone(self.now().tzinfo)
                self._stated += find_stated(found.key, said.text[:MOST_READ_CHARS], time, {})
            place = nodes[place].parent

    def _note_memory(self, found: FoundMemory, time: datetime) -> None:
        said_at = found.time or time
        memory = Memory(
            make_content_id(found.text), found.text, said_at, said_at, found.category, ORIGIN
        )
        self._memories.setdefault(found.text, memory)

    def _add_memories(self) -> None:
        """Add the memories that were found, the oldest first; what has no room becomes older."""
        facts = self.stores.facts
        known = {one.content for one in (*facts.get_all(), *facts.older())}
        new = sorted(
            (one for text, one in self._memories.items() if text not in known),
            key=lambda one: one.created_at,
        )
        self.report.known_memories = len(self._memories) - len(new)
        self.report.memories = len(new)
        fitting = _count_fitting(new, facts.room(ORIGIN))
        self.report.older = len(new) - fitting
        if self.dry_run or not new:
            return
        facts.import_memories(new[:fitting])
        lost = self.report.older - facts.import_older(new[fitting:])
        if lost:
            self.report.skipped["facts, because the memory is full"] += lost

    def _propose_facts(self) -> None:
        """Put the facts that conversations state before the user, with the words they rest on."""
        pending, facts = self.stores.pending, self.stores.facts
        known = [*facts.get_all(), *facts.older(), *pending.get_all(), *self._memories.values()]
        for one in choose_candidates(self._stated, known):
            self.report.to_review += 1
            if not self.dry_run and not self._propose(one):
                self.report.to_review -= 1

    def _propose(self, one: ProposedFact) -> bool:
        """Add a fact to those pending review; one that was rejected before does not come back."""
        source = Source(
            one.quote, one.stated.conversation, one.stated.time, trust="user", name=None
        )
        memory = one.memory
        try:
            added = self.stores.pending.add(
                memory.content,
                memory.category,
                origin=ORIGIN,
                source=source,
                slot=memory.slot,
                until=memory.until,
                memory_id=memory.id,
            )
        except MemoryFull:
            self.report.skipped[TOO_MANY_PENDING] += 1
            return False
        return added is not None


def _count_fitting(memories: Sequence[Memory], room: Room) -> int:
    """Return how many of the first memories there is room for."""
    for count, memory in enumerate(memories):
        if not room.has_place_for(memory.content):
            return count
        room -= Room(1, len(memory.content))
    return len(memories)


def _make_nodes(messages: Iterable[FoundMessage], time: datetime) -> Iterator[TreeNode]:
    """Return messages as a store takes them; one without a time was said with the one before."""
    last = None
    for one in messages:
        last = one.time or last or time
        message = Message(one.role, one.text, last)
        yield TreeNode(NewMessage(message, trust=one.trust, source=one.source), one.parent)


IMPORTED = "import:"
READ = "import-learning"
"""The collection that says how many messages of a conversation were read."""


@dataclass(frozen=True, slots=True)
class LearningPlan:
    """What it takes to read all that was not read yet; `tokens` is about what is sent."""

    conversations: int = 0
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class LearningResult:
    """How many calls were made, and how many facts were found that wait to be reviewed."""

    calls: int = 0
    found: int = 0


@dataclass(frozen=True, slots=True)
class ImportLearning:
    """Reads the imported conversations of a space with a model."""

    stores: Stores
    now: Callable[[], datetime]
    model: Model

    def plan(self) -> LearningPlan:
        """Return what it takes; nobody is asked."""
        known = sum(estimate(fact.content) for fact in self.stores.facts.get_all())
        beside = min(KNOWN_TOKENS, known)
        asked = [[*self._make_requests(one.key, ())] for one in self._list_unread()]
        sizes = [estimate(one.system + one.text) + beside for some in asked for one in some]
        return LearningPlan(sum(map(bool, asked)), len(sizes), sum(sizes))

    def run(
        self, max_calls: int, progress: Callable[[LearningResult], None] = lambda _result: None
    ) -> LearningResult:
        """Read conversations, the newest first, with so many calls at most.

        `progress` is told after each call; what it raises ends the reading. Raise ModelError where
        the model fails. What was found until then stays.
        """
        result = LearningResult()
        for conversation in self._list_unread():
            known = self.stores.facts.get_all()
            for request in self._make_requests(conversation.key, known):
                # The user was told how many calls it takes, and agreed to no more.
                if result.calls >= max_calls:
                    return result
                found = self._ask(conversation.key, request, known)
                result = LearningResult(result.calls + 1, result.found + found)
                progress(result)
            # Only when all of it was read: whoever stops in between reads it again as a whole.
            self._note_read(conversation)
        return result

    def _list_unread(self) -> list[ConversationSummary]:
        records = self.stores.records
        return [
            one
            for one in self.stores.conversations.summaries()
            if one.key.startswith(IMPORTED)
            and ((read := records.get(READ, one.key)) is None or int(read.value) < one.turns)
        ]

    def _note_read(self, conversation: ConversationSummary) -> None:
        self.stores.records.put(READ, conversation.key, str(conversation.turns).encode())

    def _make_requests(self, key: str, known: Sequence[Memory]) -> Iterator[ExtractionRequest]:
        said = [
            TranscriptMessage(one.message.text, one.trust, time=one.message.timestamp)
            for one in self.stores.conversations.messages(key)
            if one.trust in CONTEXT_TRUSTS and not one.is_hidden
        ]
        window = Window(getattr(self.model, "context_window", None))
        return make_requests(said, known, window, zone=self.now().tzinfo)

    def _ask(self, key: str, request: ExtractionRequest, known: Sequence[Memory]) -> int:
        """Ask the model for the facts in a portion; return how many wait now that did not."""
        answer = self.model.generate_json(request.system, request.text, make_answer_schema())
        said = request.portion.said
        reading = read_answer(answer, said, known)
        return sum(self._propose(key, one, said[one.message]) for one in reading.proposals)

    def _propose(self, key: str, proposal: Proposal, said: TranscriptMessage) -> bool:
        found, pending = proposal.candidate, self.stores.pending
        content = mask_fact(found.content, said.text)
        has_ended = found.until is not None and found.until < self.now().date()
        known = [*self.stores.facts.get_all(), *self.stores.facts.older(), *pending.get_all()]
        # Years may lie between an export and now, so what has ended since is no fact.
        if proposal.relation == "same" or not content or has_ended or find_same(content, known):
            return False
        quote = mask_secrets(found.quote, said.text)
        added = pending.add(
            content,
            found.category,
            origin=ORIGIN,
            source=Source(quote, key, said.time, trust="user"),
            slot=found.slot,
            until=found.until,
            memory_id=make_content_id(content),
        )
        return added is not None
