"""Hints that a space has changed: others look at once, and nothing depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.postgres import empty_database, make_admin
from tests.store.contracts.test_announcements import AnnouncementListener
from tests.torture.editors import wait_until
from turnleaf.settings import find_beside_database
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.postgres.coordination import PostgresAnnouncements
from turnleaf.store.postgres.database import CHANNEL
from turnleaf.store.postgres.stores import PostgresStores

NEVER = 10.0**6
LISTENING = (
    "FROM pg_stat_activity WHERE datname = current_database() "
    "AND starts_with(query, 'LISTEN') AND pid <> pg_backend_pid()"
)


@pytest.fixture
def address() -> str:
    return empty_database()


def open_space(address: str, name: str, program: str = "") -> PostgresStores:
    """Open a space; one that another program opened shares no connection and no thread."""
    more = f"&application_name={program}" if program else ""
    return PostgresStores(find_beside_database(address + more).of_space(name), now=local_now)


@contextmanager
def subscribe(space: PostgresStores, look_seconds: float) -> Iterator[AnnouncementListener]:
    listener = AnnouncementListener()
    announcements = PostgresAnnouncements(
        space.place, space.space, local_now, look_seconds=look_seconds
    )
    announcements.subscribe(listener)
    yield listener
    announcements.close()


def test_a_change_by_another_program_arrives_long_before_anybody_would_look(address: str) -> None:
    with (
        open_space(address, "anna") as anna,
        open_space(address, "anna", "another") as other,
        subscribe(anna, NEVER) as listener,
    ):
        other.facts.add("茶")
        listener.wait_for("facts")
        other.conversations.add_exchange("cli:1", "茶", "好")
        listener.wait_for("conversations")
        # Settings are of all spaces.
        with open_space(address, "bob", "another") as bob:
            bob.config.change({"memoryMaxItems": 7})
        listener.wait_for("config")


def test_a_listening_connection_that_was_cut_is_made_again(address: str) -> None:
    admin = make_admin(address)
    with (
        open_space(address, "anna") as anna,
        open_space(address, "anna", "another") as other,
        subscribe(anna, NEVER) as listener,
    ):
        for word in ("tea", "coffee"):
            assert wait_until(lambda: admin(f"SELECT count(*) {LISTENING}") == [(1,)], 60)
            admin(f"SELECT pg_terminate_backend(pid, 10000) {LISTENING}")
            other.facts.add(word)
            listener.wait_for("facts")


def test_without_the_listening_connection_a_look_finds_the_change(address: str) -> None:
    admin = make_admin(address)
    with (
        open_space(address, "anna") as anna,
        open_space(address, "anna", "another") as other,
        subscribe(anna, 0.05) as listener,
    ):
        assert wait_until(lambda: admin(f"SELECT count(*) {LISTENING}") == [(1,)], 60)
        # While only a superuser may connect, it cannot be made again; the pool has its own.
        anna.facts.get_all()
        other.facts.get_all()
        name = address.partition("@/")[2].partition("?")[0]
        limit = f"ALTER DATABASE {name} CONNECTION LIMIT"
        admin(f"{limit} 0")
        try:
            admin(f"SELECT pg_terminate_backend(pid, 10000) {LISTENING}")
            other.facts.add("tea")
            listener.wait_for("facts")
            assert admin(f"SELECT count(*) {LISTENING}") == [(0,)]
        finally:
            admin(f"{limit} -1")


def test_a_hint_tells_nothing_of_the_space_and_what_changed(address: str) -> None:
    with (
        psycopg.connect(address, autocommit=True) as spy,
        open_space(address, "anna") as anna,
        open_space(address, "bob") as bob,
    ):
        spy.execute(f"LISTEN {CHANNEL}".encode())
        anna.facts.add("anna drinks tea")
        anna.daily.append("tea")
        bob.facts.add("coffee")
        heard = [one.payload for one in spy.notifies(timeout=60, stop_after=3)]
        assert len(heard) == 3
        assert heard[0] == heard[1] != heard[2]
        assert all(len(one) == 32 and not set(one) - set("0123456789abcdef") for one in heard)
        anna.facts.get_all()
        anna.facts.add("a last one")
        assert [one.payload for one in spy.notifies(timeout=60, stop_after=1)] == heard[:1]
