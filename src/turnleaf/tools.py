"""The tools by which a model reads and changes the memory: one table for every face.

A result is JSON with `success`; what failed says why, so that a model cannot take it for done.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from turnleaf.core import memories, schedules
from turnleaf.core.changes import Source
from turnleaf.core.keys import EVERYONE, Reader, schedule_key
from turnleaf.core.learning.reconciling import find_same, repeats
from turnleaf.core.loading import load_data
from turnleaf.core.messages import TRUSTED
from turnleaf.core.model_dialogue import ToolSpec
from turnleaf.core.prompt import escaping
from turnleaf.core.prompt.builders import FactForm, stamp_page, strip_stamp
from turnleaf.core.schedules import check_deliver
from turnleaf.core.search.message_filters import note_newer
from turnleaf.core.secrets import mask_fact, mask_secrets
from turnleaf.core.serialization import dumps
from turnleaf.errors import InvalidInput, NotFound, TurnleafError
from turnleaf.store.schedules import find_local_zone, find_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.core.schedules import Run, Schedule
    from turnleaf.core.search.ranking import Hit
    from turnleaf.store.contracts import Stores

    Arguments = Mapping[str, Any]
    Result = dict[str, Any]

ORIGIN = "tool"
MOST_RESULTS = 10
MOST_CHARS = 100_000
"""How long an argument may be: to look for secrets in much more would keep everybody waiting."""
LIMITED_BY_THE_MEMORY = ("fact", "content")
SHOWN_RUNS = 5
RUN_CHARS = 300
"""How much of a run's result is shown: a model reads every word."""
FACT_KEYS = ("id", "content", "category", "updatedAt", "until")
SCHEDULE_KEYS = ("id", "name", "prompt", "timing", "timezone", "deliver", "paused", "nextRun")
RUN_KEYS = ("id", "due", "state", "startedAt", "finishedAt", "attempts", "result", "error")
MASKED = "a secret in it was masked"
MOVED = "the memory was full, so «{}» moved to the older facts; tell the user"
ONLY_SECRET = "it says nothing but a secret, and secrets are not kept; tell the user so"  # noqa: S105


def _read_spec(name: str, record: Mapping[str, Any]) -> ToolSpec:
    """Return a tool as `core/tools.toml` describes it."""
    choices = {key: {"enum": values} for key, values in record.get("choices", {}).items()}
    properties = {
        key: {"type": "string", **choices.get(key, {}), "description": text}
        for key, text in record.get("parameters", {}).items()
    }
    parameters = {
        "type": "object",
        "properties": properties,
        "required": record["required"],
        "additionalProperties": False,
    }
    return ToolSpec(name, record["description"], parameters)


@cache
def list_specs() -> tuple[ToolSpec, ...]:
    """Return every tool as a model is told of it."""
    return tuple(_read_spec(name, record) for name, record in load_data("tools.toml").items())


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The turn of a conversation in which the tools are used."""

    conversation: str | None = None
    saved: tuple[str, ...] = ()
    """The facts that were saved at the user's request: a model would save them again."""
    documents: tuple[str, ...] = ()
    """What the user attached: whatever is saved now may be what these ask for."""
    said: str = ""
    """What the user says, to know its secrets by."""
    audience: str = EVERYONE
    """Who may find what is said in the conversation: it may be told what they may find."""

    @property
    def reader(self) -> Reader:
        """Who reads what a search finds: a model, in this conversation."""
        return Reader(self.conversation, self.audience, is_prompt=True)


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """The table over one data folder's stores."""

    stores: Stores
    turn: ToolContext = ToolContext()

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What a model is told of them."""
        return list_specs()

    @property
    def command(self) -> Sequence[str]:
        """The command that serves the same tools over MCP on stdio; empty where there is none."""
        # A backend in memory has no options by which another process could open it.
        if find_spec("mcp") is None or not self.stores.options:
            return []
        turn = self.turn
        command = [*make_stdio_command(self.stores)]
        if turn.conversation:
            command += ["--conversation", turn.conversation]
        command += [part for one in turn.saved for part in ("--saved", one)]
        return command + [part for one in turn.documents for part in ("--document", one)]

    def call(self, name: str, arguments: Arguments) -> str:
        """Use one; the result is JSON with `success`, also when it failed."""
        try:
            tool = TOOLS.get(name)
            if tool is None:
                message = f"there is no tool {name!r:.80}; there are {', '.join(TOOLS)}"
                raise NotFound(message)
            return dumps({"success": True, **tool(self, _check_arguments(name, arguments))})
        except TurnleafError as error:
            # The model reads this, and a path or a key in it would reach its provider.
            return dumps({"success": False, "error": self._redact(str(error))})

    def read(self, _: Arguments) -> Result:
        """Return the whole memory, each fact with its day and its id."""
        return {"content": self.page()}

    def page(self) -> str:
        """Return the whole memory as it is read by a model that may change it."""
        form = FactForm(find_zone(find_local_zone()), has_ids=True)
        memory = self.stores.facts.view()
        return stamp_page(memory.page, tuple(memory.facts), form)

    def append(self, arguments: Arguments) -> Result:
        """Save a fact."""
        return self._save(arguments["fact"], arguments.get("category"), "append_memory")

    def search(self, arguments: Arguments) -> Result:
        """Find what matters."""
        hits = self.stores.passages.search(
            arguments["query"], MOST_RESULTS, reader=self.turn.reader
        )
        return {
            "results": [_describe_hit(hit) for hit in note_newer(hits, self.stores.facts.changes)]
        }

    def log(self, arguments: Arguments) -> Result:
        """Note something in today's log."""
        # While a text is attached, what a model writes may be what the text asks for.
        self._refuse_beside_documents("the log is not written to")
        entry = mask_secrets(arguments["entry"], self.turn.said)
        self.stores.daily.append(entry, source=self.turn.conversation)
        self.stores.passages.sync()
        return {"saved": entry}

    def manage(self, arguments: Arguments) -> Result:
        """Do what the action says."""
        return ACTIONS[arguments["action"]](self, arguments)

    def save(self, arguments: Arguments) -> Result:
        """Save a fact."""
        content = _require_argument(arguments, "content")
        return self._save(content, arguments.get("category"), "manage_memory")

    def list(self, _: Arguments) -> Result:
        """Return every fact."""
        return {"memories": [_describe_fact(memory) for memory in self.stores.facts.get_all()]}

    def find(self, arguments: Arguments) -> Result:
        """Return the facts that hold a word."""
        word = arguments.get("search") or _require_argument(arguments, "content")
        older = [one for one in self.stores.facts.older() if memories.contains(one, word)]
        found = [_describe_fact(memory) for memory in self.stores.facts.search(word)]
        return {"memories": [*found, *({**_describe_fact(one), "older": True} for one in older)]}

    def update(self, arguments: Arguments) -> Result:
        """Change what a fact says."""
        self._refuse_beside_documents("no fact is changed")
        memory_id = _require_argument(arguments, "id")
        facts = {fact.id: fact for fact in self.stores.facts.get_all()}
        # Models copy the day and the id of a fact together with its words.
        content = strip_stamp(_require_argument(arguments, "content"), set(facts))
        before = facts.get(memory_id)
        if before is None:
            raise _make_unknown(memory_id)
        # A fact that gets shorter may be changed even in a memory that is full.
        if len(content) > len(before.content):
            self.stores.facts.check_room_for(content)
        text = self._mask(content)
        source = self._make_source("manage_memory")
        memory = self.stores.facts.update(memory_id, text, origin=ORIGIN, source=source)
        if memory is None:
            raise _make_unknown(memory_id)
        self.stores.passages.sync()
        return _describe_fact(memory)

    def delete(self, arguments: Arguments) -> Result:
        """Delete a fact."""
        self._refuse_beside_documents("no fact is deleted")
        memory_id = _require_argument(arguments, "id")
        source = self._make_source("manage_memory")
        if not self.stores.facts.delete(memory_id, origin=ORIGIN, source=source):
            raise _make_unknown(memory_id)
        self.stores.passages.sync()
        return {"id": memory_id, "deleted": True}

    def manage_schedule(self, arguments: Arguments) -> Result:
        """Do what the action says; whatever changes a schedule is for the user to ask."""
        action = arguments["action"]
        if action not in LOOKING:
            self._refuse_beside_documents("no schedule is made or changed")
            self._refuse_in_a_schedule()
        return SCHEDULING[action](self, arguments)

    def add_schedule(self, arguments: Arguments) -> Result:
        """Add a schedule."""
        for key in ("prompt", "timing"):
            _require_argument(arguments, key)
        given = self._read_schedule(arguments)
        return {
            **_describe_schedule(self.stores.schedules.add(**given)),
            **_note_masked(arguments, given),
        }

    def list_schedules(self, _: Arguments) -> Result:
        """Return every schedule."""
        known = [_describe_schedule(schedule) for schedule in self.stores.schedules.get_all()]
        return {"schedules": known, "timezone": find_local_zone()}

    def update_schedule(self, arguments: Arguments) -> Result:
        """Change what a schedule asks, or when."""
        given = self._read_schedule(arguments)
        if not given:
            message = f"there is nothing to change; give some of {', '.join(CHANGEABLE)}"
            raise InvalidInput(message)
        changed = self._change_schedule(
            arguments, lambda one: self.stores.schedules.update(one, **given)
        )
        return {**changed, **_note_masked(arguments, given)}

    def pause_schedule(self, arguments: Arguments) -> Result:
        """Pause a schedule."""
        return self._change_schedule(arguments, self.stores.schedules.pause)

    def resume_schedule(self, arguments: Arguments) -> Result:
        """Resume a schedule."""
        return self._change_schedule(arguments, self.stores.schedules.resume)

    def remove_schedule(self, arguments: Arguments) -> Result:
        """Remove a schedule."""
        return {**self._change_schedule(arguments, self.stores.schedules.remove), "removed": True}

    def schedule_runs(self, arguments: Arguments) -> Result:
        """Return a schedule's newest runs, the last one first."""
        schedule = _act_on_existing(_require_argument(arguments, "id"), self.stores.schedules.get)
        newest = reversed(schedule.runs[-SHOWN_RUNS:])
        return {"id": schedule.id, "runs": [self._describe_run(run) for run in newest]}

    def _read_schedule(self, arguments: Arguments) -> dict[str, Any]:
        """Return what a schedule is to be like, under the store's names, without secrets.

        A model leaves out what it does not want to say, or says nothing in it.
        """
        given = {key: arguments[key] for key in CHANGEABLE if arguments.get(key)}
        if "deliver" in given:
            # A model that was talked into it must not send what is remembered to other people.
            self._refuse_other_channels(given["deliver"])
        return {CHANGEABLE[key]: mask_secrets(text, self.turn.said) for key, text in given.items()}

    def _change_schedule(self, arguments: Arguments, act: Callable[[str], Schedule]) -> Result:
        return _describe_schedule(_act_on_existing(_require_argument(arguments, "id"), act))

    def _describe_run(self, run: Run) -> Result:
        record = schedules.run_to_json(run)
        if run.error:
            record["error"] = self._redact(run.error)
        if run.result:
            record["result"] = _shorten(run.result)
        return {key: record[key] for key in RUN_KEYS if key in record}

    def _redact(self, problem: str) -> str:
        """Take secrets and the folders of files out of a sentence."""
        return mask_secrets(self.stores.redact(problem))

    def _save(self, given: str, category: str | None, tool: str) -> Result:
        facts = self.stores.facts.get_all()
        text = strip_stamp(given, {fact.id for fact in facts})
        self.stores.facts.check_room_for(text)
        content = self._mask(text)
        heading = category and mask_secrets(category, self.turn.said)
        known = self._find_known(content, facts)
        if known:
            return {**_describe_fact(known), "note": "this is in the memory already"}
        source = self._make_source(tool)
        # A save may be what the attached text asks for, so it waits for the user.
        if self.turn.documents:
            waiting = self.stores.pending.add(content, heading, origin=ORIGIN, source=source)
            return {**_describe_fact(waiting), "note": "it waits until the user accepts it"}
        kept = self.stores.facts.remember(content, heading, origin=ORIGIN, source=source)
        self.stores.passages.sync()
        notes = [MASKED] if content != text else []
        notes += [MOVED.format(one.content) for one in kept.displaced]
        note = {"note": "; ".join(notes)} if notes else {}
        return {**_describe_fact(kept.memory), **note}

    def _mask(self, text: str) -> str:
        """Return a fact without its secrets; refuse one that says nothing else."""
        content = mask_fact(memories.check_content(text), self.turn.said)
        if not content:
            raise InvalidInput(ONLY_SECRET)
        return content

    def _find_known(self, content: str, facts: Sequence[Memory]) -> Memory | None:
        """Find the fact that says the same, or that was saved at the user's request just now."""
        # A model tends to save in its own words what was just saved at the user's request.
        asked = [fact for fact in facts if fact.id in self.turn.saved]
        repeated = (fact for fact in asked if repeats(content, fact.content))
        return next(repeated, None) or find_same(content, facts)

    def _refuse_beside_documents(self, what: str) -> None:
        if self.turn.documents:
            message = f"while a document is attached {what}, which may be what it asks for"
            raise InvalidInput(message)

    def _refuse_in_a_schedule(self) -> None:
        """Refuse schedules in a run of one: what it reads must not make others for ever."""
        if (self.turn.conversation or "").startswith(schedule_key("")):
            message = "a schedule makes no others and changes none; let the user ask for it"
            raise InvalidInput(message)

    def _refuse_other_channels(self, deliver: str) -> None:
        """Refuse results to where the memory is not shared already; a user may name any place."""
        kind, _, channel = check_deliver(deliver).partition(":")
        if kind != "slack":
            return
        listed = self.stores.settings.slack_allowed_channels or ""
        if channel not in listed.split(","):
            message = (
                f"{channel} is not on the list slackAllowedChannels, so nothing is sent there;"
                " only the user can choose it, on the page or by turnleaf schedule"
            )
            raise InvalidInput(message)

    def _make_source(self, tool: str) -> Source:
        turn = self.turn
        if turn.documents:
            return Source(
                conversation=turn.conversation,
                trust="document",
                name=f"document:{turn.documents[0]}",
            )
        return Source(conversation=turn.conversation, trust="user", name=f"tool:{tool}")


TOOLS: dict[str, Callable[[MemoryTools, Arguments], Result]] = {
    "read_memory": MemoryTools.read,
    "append_memory": MemoryTools.append,
    "search_memory": MemoryTools.search,
    "append_daily_log": MemoryTools.log,
    "manage_memory": MemoryTools.manage,
    "manage_schedule": MemoryTools.manage_schedule,
}
ACTIONS: dict[str, Callable[[MemoryTools, Arguments], Result]] = {
    "save": MemoryTools.save,
    "list": MemoryTools.list,
    "search": MemoryTools.find,
    "update": MemoryTools.update,
    "delete": MemoryTools.delete,
}
SCHEDULING: dict[str, Callable[[MemoryTools, Arguments], Result]] = {
    "add": MemoryTools.add_schedule,
    "list": MemoryTools.list_schedules,
    "update": MemoryTools.update_schedule,
    "pause": MemoryTools.pause_schedule,
    "resume": MemoryTools.resume_schedule,
    "remove": MemoryTools.remove_schedule,
    "runs": MemoryTools.schedule_runs,
}
LOOKING = ("list", "runs")
"""What changes no schedule."""
CHANGEABLE = {
    "prompt": "prompt",
    "timing": "timing",
    "timezone": "zone",
    "name": "name",
    "deliver": "deliver",
}
"""What of a schedule can be given, and what the store calls it."""


def make_stdio_command(stores: Stores) -> Sequence[str]:
    """Return the command that serves a space's tools over MCP, from wherever it is started.

    Without -P a module in the folder where it is started would be taken for one of Python's own.
    """
    return (sys.executable, "-P", "-m", "turnleaf", *stores.options, "mcp")


def _check_arguments(name: str, arguments: Arguments) -> Arguments:
    """Refuse arguments that the tool's schema does not have."""
    schema = next(spec for spec in list_specs() if spec.name == name).parameters
    known = schema["properties"]
    # Models send null for what they leave out.
    given = {key: value for key, value in arguments.items() if value is not None}
    for key, value in given.items():
        if key not in known:
            message = f"{name} takes no {key!r:.80}; it takes {', '.join(known) or 'nothing'}"
            raise InvalidInput(message)
        if not isinstance(value, str):
            message = f"{key} must be text, not {type(value).__name__}"
            raise InvalidInput(message)
        if len(value) > MOST_CHARS and key not in LIMITED_BY_THE_MEMORY:
            message = f"{key} is limited to {MOST_CHARS:,} characters, and this has {len(value):,}"
            raise InvalidInput(message)
        if value not in known[key].get("enum", [value]):
            message = f"{key} must be one of {', '.join(known[key]['enum'])}, not {value!r:.80}"
            raise InvalidInput(message)
    for key in schema["required"]:
        _require_argument(given, key)
    return given


def _require_argument(arguments: Arguments, key: str) -> str:
    value: str | None = arguments.get(key)
    if not value or not value.strip():
        message = f"{key} is missing; give it and try again"
        raise InvalidInput(message)
    return value


def _make_unknown(memory_id: str) -> NotFound:
    return NotFound(f"no fact has the id {memory_id!r:.80}; list gives the ids")


def _describe_fact(memory: Memory) -> Result:
    record = memories.to_json(memory)
    # A fact that a model reads must not be able to pose as something else, here as in a prompt.
    record["content"] = escaping.escape_passage(memory.content)
    return {key: record[key] for key in FACT_KEYS if key in record}


def _act_on_existing(schedule_id: str, act: Callable[[str], Schedule]) -> Schedule:
    try:
        return act(schedule_id)
    except NotFound:
        message = f"no schedule has the id {schedule_id!r:.80}; list gives the ids"
        raise NotFound(message) from None


def _describe_schedule(schedule: Schedule) -> Result:
    record = schedules.to_json(schedule)
    return {key: record[key] for key in SCHEDULE_KEYS if key in record}


def _note_masked(arguments: Arguments, given: Mapping[str, str]) -> Result:
    """Return a note for a model that it does not read again all that it wrote."""
    kept = {key: given[ours] for key, ours in CHANGEABLE.items() if ours in given}
    is_masked = any(arguments[key] != text for key, text in kept.items())
    return {"note": MASKED} if is_masked else {}


def _shorten(text: str) -> str:
    shown = text if len(text) <= RUN_CHARS else f"{text[:RUN_CHARS]} …"
    return escaping.escape_passage(shown)


def _describe_hit(hit: Hit) -> Result:
    record = {
        "text": escaping.escape_passage(hit.text),
        "source": hit.source,
        "date": hit.date,
        "id": hit.id,
        "conversation": hit.conversation,
        "speaker": hit.speaker and escaping.escape_passage(hit.speaker),
        "score": round(hit.score, 3),
        "trust": None if hit.trust in TRUSTED else hit.trust,
        "note": hit.note and escaping.escape_passage(hit.note),
    }
    return {key: value for key, value in record.items() if value is not None}
