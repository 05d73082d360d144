"""A takeover that is killed, cut off or refused anywhere loses nothing and doubles nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.older import archive
from tests.torture.campaign import Start, aim, find_complaints, kill_again, kill_each
from tests.torture.plan import Writer
from tests.torture.rig import copies, inject, report
from tests.torture.test_faults import NAMING, WRITING, bad_manners
from tests.torture.test_kills import CALLS
from tests.torture.test_power_cuts import cut_everywhere
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore

KIND = "takeover-db"
ROOM = "shared"
NO_LIMITS = Settings(conversation_max_age_days=36500)
FIRST_KILLS = 2


@pytest.fixture
def older(start: Callable[[str], Start], arena: Path) -> Start:
    """What an older program left: a part in the archive only, and a part there and in the file."""
    left = start("conversations-json")
    (place,) = copies(left.template, arena, 1, "older")
    path = place / "conversations.json"
    store = ConversationStore(path, settings=NO_LIMITS)
    one, two, *rest = store.get_history(ROOM)
    archive(place, ROOM, [one, two, *rest[:2]])
    store.clear(ROOM)
    store.add_messages(ROOM, rest)
    return Start(place, left.written)


def test_a_kill_at_each_system_call_loses_and_doubles_nothing(older: Start, arena: Path) -> None:
    groups = kill_each([(Writer(KIND, 1, 1), older)], CALLS, arena)
    assert find_complaints(groups, arena) == ""
    assert all(len(copies_in(Path(hit.job.folder))) == 2 for _, hits in groups for hit in hits)


def test_a_kill_while_another_kill_is_mended_loses_nothing(older: Start, arena: Path) -> None:
    first = kill_each([(Writer(KIND, 1, 1), older)], CALLS, arena, FIRST_KILLS)
    place = arena / "again"
    place.mkdir()
    assert find_complaints(kill_again(first, CALLS, place), place) == ""


def test_a_power_cut_at_any_instant_loses_and_doubles_nothing(older: Start, arena: Path) -> None:
    assert cut_everywhere([(Writer(KIND, 1, 1), older)], arena) == ""


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_an_error_at_each_call_is_refused_and_loses_nothing(
    error: str, older: Start, arena: Path
) -> None:
    calls = (*WRITING, *NAMING, "openat")
    (jobs,) = aim([(Writer(KIND, 1, 1), older)], calls, arena)
    hits = inject(jobs, f"error={error}", calls, arena)
    assert all(hit.line for hit in hits), "not every worker met its error"
    assert report(bad_manners(hits)) + find_complaints([(older, hits)], arena) == ""


def copies_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if ".taken-over-" in path.name]
