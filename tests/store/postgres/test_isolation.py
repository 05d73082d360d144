"""Spaces of one database: nothing of one is seen in another, whoever used the connection before."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

from tests.decisions import decide
from tests.meanings import Meanings
from tests.postgres import (
    OWNER,
    empty_database,
    list_tables,
    make_admin,
    share_server,
)
from turnleaf.core.changes import Source
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.core.search.ranking import Weights
from turnleaf.errors import NotFound, StorageError
from turnleaf.settings import find_beside_database
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.due_work import WORK_LEASE
from turnleaf.store.postgres.stores import PostgresStores

KEY = "cli:1"
LAMP = "客廳的燈叫做小明"


@pytest.fixture
def address() -> str:
    return empty_database()


def open_space(address: str, name: str) -> PostgresStores:
    folder = find_beside_database(address)
    chosen = folder if name == folder.space else folder.of_space(name)
    return PostgresStores(chosen, now=local_now)


def fill(space: Stores) -> None:
    """Leave rows in every table."""
    fact = space.facts.add(LAMP, source=Source(LAMP, KEY, local_now(), "user"))
    space.pending.add("小明要換燈泡")
    space.daily.append("換了小明的燈泡")
    space.conversations.add_exchange(KEY, "小明壞了", "好")
    space.conversations.add_exchange("cli:2", "forget this", "yes")
    space.conversations.clear("cli:2")
    made = space.schedules.add("小明好嗎？", "@daily", zone="UTC")
    _, run = space.schedules.begin(made.id)
    space.schedules.add_result("小明.md", run, f"{run.id}: 好")
    space.records.put("sessions", "小明", b"1")
    space.learning.enqueue(KEY, [Queued(Message("user", "小明壞了", local_now()))])
    space.learning.spend("a model", cap=3, day=local_now().date())
    batch = space.learning.claim(KEY)
    assert batch
    space.learning.complete(batch, [decide("d1")])
    space.learning.enqueue(KEY, [Queued(Message("user", "小明好了", local_now()))])
    space.passages.use_embedder(Meanings(), Weights())
    space.passages.embed()
    space.facts.delete(fact.id)
    assert space.passages.search("小明")
    (question, *_) = space.conversations.messages(KEY)
    space.conversations.hide(KEY, [question.message.timestamp or local_now()], "a test")
    space.conversations.claim(space.conversations.messages(KEY)[0].id)
    space.daily.append("what has no vector yet")
    space.passages.sync()


def find_process(space: PostgresStores) -> int:
    """Return the server's process that the space is connected to."""
    found = space.place.in_step(lambda: space.place.step.rows("SELECT pg_backend_pid()"))
    return int(found[0][0])


def test_one_connection_serves_two_spaces_and_shows_neither_the_other_s(address: str) -> None:
    with open_space(address, "anna") as anna, open_space(address, "bob") as bob:
        anna.facts.add("tea")
        bob.facts.add("coffee")
        for _ in range(3):
            assert [one.content for one in anna.facts.get_all()] == ["tea"]
            assert [one.content for one in bob.facts.get_all()] == ["coffee"]
        assert find_process(anna) == find_process(bob)


def test_after_an_error_the_connection_belongs_to_no_space(address: str) -> None:
    with open_space(address, "anna") as anna, open_space(address, "bob") as bob:
        anna.facts.add("tea")
        with pytest.raises(NotFound):
            anna.conversations.rename("cli:none", "x")
        with pytest.raises(StorageError, match="no_such_table"):
            anna.place.in_step(lambda: anna.place.step.rows("SELECT * FROM no_such_table"))
        assert bob.facts.get_all() == []
        assert [one.content for one in anna.facts.get_all()] == ["tea"]
        assert find_process(anna) == find_process(bob)


def test_without_a_space_the_serving_role_sees_no_row_and_can_add_none(address: str) -> None:
    with open_space(address, "anna") as anna:
        fill(anna)
    with psycopg.connect(address, autocommit=True) as connection:
        for table in list_tables(address):
            if table not in {"settings", "work"}:
                rows = connection.execute(f"SELECT * FROM turnleaf.{table}".encode()).fetchall()  # noqa: S608
                assert [row for row in rows if row[0] != ""] == [], table
        for added in (
            "notes (space, day, id, text) VALUES ('anna', '2026-01-01', 1, 'x')",
            "work (space, kind, due) VALUES ('anna', 'x', now())",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"INSERT INTO turnleaf.{added}".encode())
        # What is seen of all spaces tells that there is something to do, and nothing else.
        shown = connection.execute("SELECT * FROM turnleaf.work ORDER BY kind").fetchall()
        assert [row[:2] for row in shown] == [("anna", "learning"), ("anna", "schedules")]
        assert LAMP not in str(shown)


def test_no_row_can_be_moved_to_another_space(address: str) -> None:
    with open_space(address, "anna") as anna:
        anna.daily.append("tea")
        with pytest.raises(StorageError, match="row-level security"):
            anna.place.in_step(
                lambda: anna.place.step.run("UPDATE turnleaf.notes SET space = 'bob'"), writes=True
            )
        assert anna.daily.dates()


def test_an_erased_space_leaves_no_row_and_others_stay(address: str) -> None:
    admin = make_admin(address)
    with open_space(address, "anna") as anna, open_space(address, "bob") as bob:
        fill(anna)
        bob.facts.add("coffee")
        tables = [one for one in list_tables(address) if one != "settings"]
        count = "SELECT count(*) FROM turnleaf.{} WHERE space = 'anna'"
        empty = [one for one in tables if admin(count.format(one)) == [(0,)]]
        assert empty == []
        anna.erase_space()
        assert {one: admin(count.format(one)) for one in tables} == {one: [(0,)] for one in tables}
        assert anna.facts.get_all() == []
        assert anna.passages.search("小明") == []
        assert len(bob.facts.get_all()) == 1


@pytest.mark.parametrize("role", ["postgres", OWNER])
def test_a_superuser_or_owner_does_not_serve(address: str, role: str) -> None:
    database = address.partition("@/")[2].partition("?")[0]
    with (
        open_space(share_server().address(database, role), "default") as stores,
        pytest.raises(StorageError, match="must not connect as a superuser, as the owner"),
    ):
        stores.facts.get_all()


def test_what_a_server_had_that_died_is_done_by_another(address: str) -> None:
    moments = [local_now()]

    def open_server() -> PostgresStores:
        return PostgresStores(find_beside_database(address), now=lambda: moments[-1])

    with open_server() as dead, open_server() as alive, open_server() as third:
        dead.schedules.add("小明好嗎？", "every 1m", zone="UTC")
        moments.append(moments[-1] + timedelta(minutes=1))
        (work,) = dead.work.claim()
        assert alive.work.claim() == []
        moments.append(moments[-1] + WORK_LEASE)
        assert [one.space for one in alive.work.claim()] == ["default"]
        assert third.work.claim() == []
        dead.work.finish(work)
        assert third.work.claim() == []
