"""Behind PgBouncer in transaction mode, where a connection is somebody else's a moment later."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import psycopg
import pytest

from tests.page.serving import choose_lasting_port
from tests.postgres import empty_database, make_admin, share_server
from tests.store.contracts.test_announcements import AnnouncementListener
from tests.torture.editors import wait_until
from turnleaf.errors import NotFound, StorageError
from turnleaf.settings import find_beside_database
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.postgres.coordination import PostgresAnnouncements
from turnleaf.store.postgres.schema import SERVING_ROLE
from turnleaf.store.postgres.stores import PostgresStores

SETTINGS = """
[databases]
* = host={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 1
max_client_conn = 40
logfile = {folder}/log
"""
LISTENING = """
SELECT count(*) FROM pg_stat_activity
WHERE starts_with(query, 'LISTEN') AND datname = current_database()
"""
ROUNDS = 8
"""More than those after which psycopg would prepare a statement, which fails here."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A PgBouncer with one connection to the server for everybody."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "make test installs it"
    with tempfile.TemporaryDirectory(prefix="turnleaf-pool-") as folder:
        Path(folder).chmod(0o777)
        number = choose_lasting_port()
        chosen = Path(folder) / "pgbouncer.ini"
        text = SETTINGS.format(server=share_server().folder, port=number, folder=folder)
        chosen.write_text(text)
        (Path(folder) / "users").write_text(f'"{SERVING_ROLE}" ""\n')
        with run(program, chosen) as pooler:
            assert wait_until(lambda: answers(number) or pooler.poll() is not None, 60)
            yield number


@contextmanager
def run(program: str, chosen: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run it as somebody who is not root, as it wants."""
    is_root = os.geteuid() == 0
    pooler = subprocess.Popen(
        [program, "-q", str(chosen)],
        user="nobody" if is_root else None,
        group="nogroup" if is_root else None,
    )
    yield pooler
    pooler.terminate()
    pooler.wait(60)


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def find_address(port: int) -> str:
    name = empty_database().partition("@/")[2].partition("?")[0]
    return f"postgresql://{SERVING_ROLE}@127.0.0.1:{port}/{name}"


def open_space(address: str, name: str) -> PostgresStores:
    return PostgresStores(find_beside_database(address).of_space(name), now=local_now)


def announce(space: PostgresStores, look_seconds: float) -> PostgresAnnouncements:
    return PostgresAnnouncements(space.place, "anna", local_now, look_seconds=look_seconds)


def find_process(space: PostgresStores) -> object:
    return space.place.in_step(lambda: space.place.step.rows("SELECT pg_backend_pid()"))


def test_one_connection_of_a_pooler_serves_two_spaces_also_after_errors(port: int) -> None:
    address = find_address(port)
    with open_space(address, "anna") as anna, open_space(address, "bob") as bob:
        for number in range(ROUNDS):
            anna.facts.add(f"茶 {number}")
            with pytest.raises(NotFound):
                anna.conversations.rename("cli:none", "x")
            with pytest.raises(StorageError, match="no_such_table"):
                anna.place.in_step(lambda: anna.place.step.rows("SELECT * FROM no_such_table"))
            bob.conversations.add_exchange("cli:1", f"咖啡 {number}", "好")
            assert len(anna.facts.get_all()) == number + 1
            assert bob.facts.get_all() == []
            assert anna.conversations.messages("cli:1") == []
            assert len(bob.conversations.messages("cli:1")) == 2 * (number + 1)
        assert anna.passages.search("茶")
        assert not bob.passages.search("茶")
        assert find_process(anna) == find_process(bob)


def test_spaces_at_the_same_time_see_only_their_own(port: int) -> None:
    address, wrong = find_address(port), list[str]()

    def write(name: str) -> None:
        with open_space(address, name) as space:
            for number in range(ROUNDS):
                space.daily.append(f"{name} {number}")
                notes = space.daily.read(local_now()).splitlines()[2:]
                wrong.extend(one for one in notes if name not in one)
                wrong.extend([f"{name} has {len(notes)}"] * (len(notes) != number + 1))

    threads = [Thread(target=write, args=(name,)) for name in ("anna", "bob", "carl")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def test_outside_a_transaction_the_pooled_connection_has_no_space(port: int) -> None:
    address = find_address(port)
    with open_space(address, "anna") as anna:
        anna.daily.append("tea")
        with psycopg.connect(address, autocommit=True, prepare_threshold=None) as other:
            assert other.execute("SELECT count(*) FROM turnleaf.notes").fetchall() == [(0,)]


def test_changes_arrive_by_looking_since_a_pooler_passes_no_hints(port: int) -> None:
    address = find_address(port)
    admin = make_admin(empty_database())
    other = f"{address}?application_name=another"
    assert wait_until(lambda: admin(LISTENING) == [(0,)], 60)  # what tests before this one left
    with (
        open_space(address, "anna") as anna,
        open_space(other, "anna") as another,
        closing(announce(anna, look_seconds=0.05)) as announcements,
    ):
        listener = AnnouncementListener()
        announcements.subscribe(listener)
        another.facts.add("茶")
        listener.wait_for("facts")
        assert admin(LISTENING) == [(0,)]


def test_an_address_past_the_pooler_is_where_changes_are_heard_of_at_once(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, past = find_address(port), empty_database()
    monkeypatch.setenv("TURNLEAF_DATABASE_DIRECT", past)
    assert wait_until(lambda: make_admin(past)(LISTENING) == [(0,)], 60)
    # Addresses of their own, since the environment is read when a process first opens one.
    with (
        open_space(f"{address}?application_name=direct", "anna") as anna,
        open_space(f"{address}?application_name=other", "anna") as other,
        closing(announce(anna, look_seconds=10.0**6)) as announcements,
    ):
        listener = AnnouncementListener()
        announcements.subscribe(listener)
        other.facts.add("茶")
        listener.wait_for("facts")
        assert make_admin(past)(LISTENING) == [(1,)]
        assert find_process(anna) == find_process(other)
