"""Turns, events, failures and crashes in any order: what is said is learned from once, or waits.

Each message has a text of its own. A message is judged by where that text is: in a conversation,
in the queue, or in an extraction that was completed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.effort import LONG
from tests.standins.scripted_model import ScriptedModel
from turnleaf import Assistant, Message
from turnleaf.core.model_dialogue import Usage
from turnleaf.errors import ModelError
from turnleaf.settings import CONFIG_NAME
from turnleaf.store.files.config import ConfigFile

KEYS = ("cli:session-1", "slack:1.5")
NUMBERED = re.compile(r"\[User \d+\]: \(\w{3} [\d: -]+\) (q\d+)")
"""A message to learn from; one for context is marked as such before its time."""


class TurnsMachine(RuleBasedStateMachine):
    """One assistant over one folder, that may die at any moment between two steps."""

    def __init__(self) -> None:
        super().__init__()
        self.now = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
        self.model = ScriptedModel()
        self.said: dict[str, str] = {}
        self.folder = Path(tempfile.mkdtemp())
        ConfigFile(self.folder / CONFIG_NAME).update(
            {"embeddings": "off", "conversationMaxTurns": 4}
        )
        self.open()

    def open(self) -> None:
        self.assistant = Assistant(self.folder, model=self.model, now=lambda: self.now)

    def text(self, key: str) -> str:
        text = f"q{len(self.said)}"
        self.said[text] = key
        return text

    @rule(key=st.sampled_from(KEYS), share=st.sampled_from([0, 74, 75, 99]))
    def talk(self, key: str, share: int) -> None:
        self.model.turns = [["Fine.", Usage(share, 0, 100)]]
        self.assistant.reply(key, self.text(key))

    @rule(key=st.sampled_from(KEYS))
    def talk_while_the_model_is_away(self, key: str) -> None:
        self.model.turns = [[ModelError("away; try later")]]
        with suppress(ModelError):
            self.assistant.reply(key, self.text(key))

    @rule(key=st.sampled_from(KEYS))
    def report(self, key: str) -> None:
        self.assistant.record(key, [Message("user", self.text(key))])

    @rule(
        key=st.sampled_from(KEYS),
        name=st.sampled_from(
            ["session.idle", "session.compaction_start", "session.compaction_complete"]
        ),
        fails=st.booleans(),
    )
    def happen(self, key: str, name: str, *, fails: bool) -> None:
        self.model.facts = [ModelError("away; try later")] if fails else []
        self.assistant.handle_event(name, {"conversation": key})
        self.settle()

    @rule(seconds=st.sampled_from([1, 60, 601, 4000]))
    def let_time_pass(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def flush(self) -> None:
        self.assistant.flush()
        self.settle()

    @rule()
    def die_in_the_middle_of_an_extraction(self) -> None:
        """Leave a claim behind, as a kill does while the model is asked."""
        for key in KEYS:
            self.assistant.learning.claim(key)
        self.assistant.close(flush=False)
        self.open()

    @rule()
    def close_and_open_again(self) -> None:
        self.assistant.close()
        self.settle()
        self.open()

    def settle(self) -> None:
        self.assistant.wait()
        self.model.facts = []

    @invariant()
    def what_was_said_waits_or_is_in_one_completed_extraction(self) -> None:
        self.assistant.wait()
        waiting = Counter(self.waiting())
        learned = Counter(text for one in self.model.completed for text in NUMBERED.findall(one))
        for text, key in self.said.items():
            assert waiting[text] + learned[text] == 1, f"{text} of {key}"

    @invariant()
    def a_conversation_holds_only_what_was_queued_before(self) -> None:
        for key in KEYS:
            history = self.assistant.conversations.get_history(key)
            assert {one.text for one in history if one.role == "user"} <= set(self.said)

    def waiting(self) -> list[str]:
        """Read the queue as it is on disk, whoever holds it."""
        read = self.assistant.learning._database.read  # type: ignore[attr-defined]  # noqa: SLF001
        rows = read(lambda database: list(database.execute("SELECT record FROM queue")))
        return [found for (row,) in rows for found in re.findall(r'"(q\d+)"', bytes(row).decode())]

    def teardown(self) -> None:
        self.assistant.close(flush=False)
        shutil.rmtree(self.folder)


TestTurns = TurnsMachine.TestCase
TestTurns.settings = settings(
    max_examples=250 if LONG else 10,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],
)
