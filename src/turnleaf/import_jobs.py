"""Imports of files that were sent: one at a time, on a thread, with progress and an end.

A file that was sent has no name on the disk, so that the system removes it however the program
ends.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from threading import Lock, Thread, Timer
from typing import IO, TYPE_CHECKING, Literal

from turnleaf.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    StorageError,
    TurnleafError,
)
from turnleaf.importing import (
    Importer,
    ImportLearning,
    ImportReport,
    LearningPlan,
    LearningResult,
    is_list_of_facts,
)
from turnleaf.store.clock_and_ids import make_id
from turnleaf.store.exports import open_upload
from turnleaf.store.files import atomic
from turnleaf.store.files.backup import count_free_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from turnleaf.core.model_dialogue import Model
    from turnleaf.store.contracts import Stores

SPARE_BYTES = 200_000_000
"""So much of the disk stays free, for what an import adds to the memory."""
LOOK_BYTES = 16_000_000
"""After so many more bytes it is looked again whether they fit."""
KEPT_SECONDS = 3600.0
"""How long a file is kept after a dry run, for the import to follow."""
STEPS = 50
"""How many times progress is told at most."""
STOP_SECONDS = 2.0
UNEXPECTED = "something went wrong; the server log has the details"

JobState = Literal["receiving", "running", "done", "failed", "stopped"]
log = logging.getLogger("turnleaf")


class ImportStopped(Exception):
    """Somebody stopped the import."""


@dataclass(eq=False, slots=True)
class ImportJob:
    """One file that is imported, or counted; what became of it stays until the next."""

    id: str
    name: str
    dry_run: bool
    file: IO[bytes]
    state: JobState = "receiving"
    size: int = 0
    done: int = 0
    total: int = 0
    report: ImportReport = field(default_factory=ImportReport)
    problem: str | None = None
    is_stopping: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it is not over yet."""
        return self.state in {"receiving", "running"}


class ImportJobs:
    """The imports of one space; `tell` hears of each step of the one that runs."""

    def __init__(
        self,
        stores: Stores,
        now: Callable[[], datetime],
        tell: Callable[[ImportJob], None] = lambda _job: None,
        *,
        count_free: Callable[[], int] | None = None,
        check_room: Callable[[], None] = lambda: None,
    ) -> None:
        self._stores = stores
        self._now = now
        self._tell = tell
        self._check_room = check_room
        self._count_free = count_free or (lambda: count_free_bytes(stores.folder.path))
        self._guard = Lock()
        self._job: ImportJob | None = None
        self._thread: Thread | None = None
        self._timer: Timer | None = None

    @property
    def is_busy(self) -> bool:
        """Whether one runs, or the file of a dry run is still there to be imported."""
        return self._job is not None and (self._job.is_active or not self._job.file.closed)

    @property
    def latest(self) -> ImportJob | None:
        """The import that runs, or the last one."""
        return self._job

    def get(self, job_id: str) -> ImportJob:
        """Return an import; raise NotFound where another one came since."""
        job = self._job
        if job is None or job.id != job_id:
            message = "no import has that ID; a later import may have replaced it"
            raise NotFound(message)
        return job

    def receive(self, name: str, *, dry_run: bool, expected_bytes: int = 0) -> ImportJob:
        """Make room for a file that is being sent.

        Raise Conflict while another import runs, StorageError where the disk is too full, and
        SpaceFull where the space is.
        """
        self._check_room()
        self._check_disk(expected_bytes)
        folder = self._stores.folder.path
        with self._guard:
            if self._job and self._job.is_active:
                message = "another import is running; wait until it is done, or stop it"
                raise Conflict(message)
            self._forget_file()
            atomic.make_folder(folder)
            # Without a name, so that nothing of it is left after a kill and no back-up reads it.
            file = TemporaryFile(dir=folder)  # noqa: SIM115 - open until the import is over
            self._job = ImportJob(make_id(), name, dry_run, file)
            return self._job

    def write(self, job: ImportJob, part: bytes) -> None:
        """Add what was sent to the file."""
        if job.is_stopping:
            message = "the import was stopped"
            raise Conflict(message)
        # Asking the system for each of many small pieces would slow an upload down.
        if (job.size + len(part)) // LOOK_BYTES > job.size // LOOK_BYTES:
            self._check_disk(len(part))
        try:
            job.file.write(part)
        except OSError as error:
            message = (
                f"the file could not be stored ({error.strerror}); free some space and send "
                "the file again"
            )
            raise StorageError(message) from error
        job.size += len(part)

    def abandon(self, job: ImportJob) -> None:
        """Drop a file that did not arrive whole."""
        job.state = "stopped"
        job.file.close()

    def start(self, job: ImportJob) -> None:
        """Import the file that was sent, or count what is in it."""
        if not job.size:
            self.abandon(job)
            message = f"{job.name} is empty; choose another file"
            raise InvalidInput(message)
        job.file.flush()
        job.state = "running"
        self._thread = Thread(target=self._run, args=[job], name="turnleaf-import", daemon=True)
        self._thread.start()

    def import_counted(self, job_id: str) -> ImportJob:
        """Import what a dry run has counted."""
        with self._guard:
            job = self.get(job_id)
            if job.state != "done" or job.file.closed:
                message = "the file of the dry run is no longer there; send it again"
                raise Conflict(message)
            self._stop_timer()
            job.dry_run, job.done, job.report = False, 0, ImportReport()
            self.start(job)
        return job

    def stop(self, job_id: str) -> None:
        """End an import; whole conversations that came in stay."""
        job = self.get(job_id)
        job.is_stopping = True
        self._expire()

    def close(self) -> None:
        """End what runs, without waiting for long."""
        if self._job:
            self.stop(self._job.id)
        if self._thread:
            self._thread.join(STOP_SECONDS)

    def _check_disk(self, expected_bytes: int) -> None:
        free = self._count_free()
        if expected_bytes + SPARE_BYTES > free:
            message = (
                f"the disk has only {free:,} free bytes, too few for this file and what it "
                "adds to the memory; free some space and send the file again"
            )
            raise StorageError(message)

    def _run(self, job: ImportJob) -> None:
        self._tell(job)
        state: JobState = "failed"
        try:
            self._import(job)
            state = "done"
        except ImportStopped:
            state = "stopped"
        except TurnleafError as error:
            job.problem = str(error)
        except Exception:
            log.exception("an import failed")
            job.problem = UNEXPECTED
        with self._guard:
            job.state = state
            if job.dry_run and state == "done":
                # Kept after a dry run, so that the same file need not be sent twice.
                self._start_timer()
            else:
                job.file.close()
        self._tell(job)

    def _import(self, job: ImportJob) -> None:
        importer = Importer(self._stores, self._now, dry_run=job.dry_run, report=job.report)

        def note(done: int, total: int) -> None:
            # Raised from here, between two conversations, so that each is imported whole or not at
            # all.
            if job.is_stopping:
                raise ImportStopped
            if not job.dry_run:
                self._check_room()
            is_step = done * STEPS // max(total, 1) > job.done * STEPS // max(total, 1)
            job.done, job.total = done, total
            if is_step:
                self._tell(job)

        with open_upload(job.file, job.name, self._now()) as export:
            if is_list_of_facts(export):
                importer.take_facts(export)
            else:
                importer.run(export, note)

    def _start_timer(self) -> None:
        self._timer = Timer(KEPT_SECONDS, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _expire(self) -> None:
        """Drop the file of a dry run that nobody goes on with."""
        with self._guard:
            job = self._job
            if job and not job.is_active:
                self._forget_file()
                job.state = "stopped" if job.dry_run else job.state

    def _forget_file(self) -> None:
        self._stop_timer()
        if self._job:
            self._job.file.close()


LearningState = Literal["idle", "running", "done", "failed", "stopped"]


class LearningJob:
    """A model that reads imported conversations on a thread, until it is done or stopped."""

    def __init__(
        self,
        stores: Stores,
        now: Callable[[], datetime],
        find_model: Callable[[], Model | None],
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        self._stores = stores
        self._now = now
        self._find_model = find_model
        self._tell = tell
        self._guard = Lock()
        self._is_stopping = False
        self._thread: Thread | None = None
        self.state: LearningState = "idle"
        self.result = LearningResult()
        self.most_calls = 0
        self.problem: str | None = None

    def plan(self) -> tuple[str | None, LearningPlan]:
        """Return the name of the model, and what is left for it to read; None: there is none."""
        model = self._find_model()
        if model is None or self.state == "running":
            return (model.name if model else None), LearningPlan()
        return model.name, ImportLearning(self._stores, self._now, model).plan()

    def start(self, max_calls: int) -> None:
        """Begin to read, with so many calls at most; raise Conflict where it is reading."""
        model = self._find_model()
        if model is None:
            message = "no model is set up that could extract facts; choose one in the settings"
            raise InvalidInput(message)
        with self._guard:
            if self.state == "running":
                message = "the model is already reading; wait until it is done, or stop it"
                raise Conflict(message)
            self.state, self.result, self.problem = "running", LearningResult(), None
            self.most_calls, self._is_stopping = max_calls, False
        learning = ImportLearning(self._stores, self._now, model)
        self._thread = Thread(target=self._run, args=[learning], name="turnleaf-read", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop after the call that is being made; what was found stays."""
        self._is_stopping = True

    def _run(self, learning: ImportLearning) -> None:
        state: LearningState = "failed"
        try:
            learning.run(self.most_calls, self._note)
            state = "done"
        except ImportStopped:
            state = "stopped"
        except TurnleafError as error:
            self.problem = str(error)
        except Exception:
            log.exception("reading an import failed")
            self.problem = UNEXPECTED
        self.state = state
        self._tell()

    def _note(self, result: LearningResult) -> None:
        self.result = result
        self._tell()
        if self._is_stopping:
            raise ImportStopped
