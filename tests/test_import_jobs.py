"""A file that is sent is stored only where there is room, and dropped when it is stopped."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest

from tests import imports as samples
from turnleaf import Assistant
from turnleaf.errors import StorageError
from turnleaf.import_jobs import LOOK_BYTES, SPARE_BYTES, ImportJob, ImportJobs

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
DEADLINE_SECONDS = 60.0


@pytest.fixture
def assistant(tmp_path: Path) -> Assistant:
    return Assistant(tmp_path / "data", now=lambda: NOW)


def test_a_disk_that_fills_up_meanwhile_ends_the_upload(assistant: Assistant) -> None:
    free = [SPARE_BYTES + 10, SPARE_BYTES]
    jobs = ImportJobs(assistant.stores, lambda: NOW, count_free=lambda: free.pop(0))
    job = jobs.receive("a.zip", dry_run=False, expected_bytes=10)
    jobs.write(job, b"x")
    with pytest.raises(StorageError, match="free some space"):
        jobs.write(job, b"x" * LOOK_BYTES)
    jobs.abandon(job)


def test_an_import_that_is_stopped_keeps_whole_conversations(assistant: Assistant) -> None:
    ended = Event()

    def tell(job: ImportJob) -> None:
        if job.state == "running" and job.done:
            job.is_stopping = True
        elif not job.is_active:
            ended.set()

    jobs = ImportJobs(assistant.stores, lambda: NOW, tell)
    talks = [{**samples.OWN_FORM, "id": str(number)} for number in range(50)]
    job = jobs.receive("talks.json", dry_run=False)
    jobs.write(job, json.dumps(talks).encode())
    jobs.start(job)
    assert ended.wait(DEADLINE_SECONDS)
    assert (job.state, job.problem, job.file.closed) == ("stopped", None, True)
    kept = assistant.conversations.summaries()
    assert 0 < len(kept) < len(talks)
    assert {one.turns for one in kept} == {2}


def test_a_file_that_was_counted_is_dropped_when_another_comes(assistant: Assistant) -> None:
    ended = Event()
    jobs = ImportJobs(
        assistant.stores, lambda: NOW, lambda job: None if job.is_active else ended.set()
    )
    first = jobs.receive("a.json", dry_run=True)
    jobs.write(first, json.dumps(samples.claude()).encode())
    jobs.start(first)
    assert ended.wait(DEADLINE_SECONDS)
    kept = first.file
    assert [kept.closed] == [False]
    second = jobs.receive("b.json", dry_run=True)
    assert [kept.closed] == [True]
    jobs.abandon(second)
    jobs.close()
