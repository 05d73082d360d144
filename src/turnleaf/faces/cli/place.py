"""The data folder of one run of the program, and the stores in it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import click

from turnleaf.faces.cli.output import note
from turnleaf.settings import DataFolder, Settings, data_folder
from turnleaf.store.daily import DailyLog
from turnleaf.store.learning import LearningStore
from turnleaf.store.memories import MemoryStore
from turnleaf.store.opening import open_conversations
from turnleaf.store.pending import PendingStore
from turnleaf.store.schedules import ScheduleStore

if TYPE_CHECKING:
    from turnleaf.store.conversations import ConversationStore


class Place:
    """Where this run reads and writes; everything in it is found when it is first needed."""

    def __init__(self, data_dir: str | None = None) -> None:
        self.data_dir = data_dir

    @cached_property
    def folder(self) -> DataFolder:
        """The data folder."""
        return data_folder(self.data_dir)

    @cached_property
    def settings(self) -> Settings:
        """The settings that hold there."""
        return Settings.load(self.folder.path)

    @cached_property
    def memory(self) -> MemoryStore:
        """The live long-term memory; the folder of the daily log is made with its own (003)."""
        store = MemoryStore(self.folder.memory(self.settings), settings=self.settings)
        if not store.location.exists():
            self.daily.init()
        return store

    @cached_property
    def pending(self) -> PendingStore:
        """What waits to be accepted."""
        return PendingStore(self.memory)

    @cached_property
    def conversations(self) -> ConversationStore:
        """The conversations, with what an older version kept elsewhere."""
        store = open_conversations(self.folder, self.settings)
        taken = store.take_over_older()
        if taken and taken.messages:
            note(str(taken))
        return store

    @property
    def learning(self) -> LearningStore | None:
        """What is yet to be learnt from, if there is a file of it."""
        return self._learning if self.folder.learning.exists() else None

    @cached_property
    def _learning(self) -> LearningStore:
        return LearningStore(self.folder.learning)

    @cached_property
    def schedules(self) -> ScheduleStore:
        """What is asked by the clock."""
        return ScheduleStore(self.folder.schedules)

    @cached_property
    def daily(self) -> DailyLog:
        """The daily log."""
        return DailyLog(self.folder.daily)


pass_place = click.make_pass_decorator(Place)
