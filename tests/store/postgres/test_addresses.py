"""Connecting to a database: where the password comes from, and how much of it one process takes."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.postgres import SAFE, PostgresServer, empty_database
from turnleaf.errors import SettingsError, StorageError
from turnleaf.settings import find_database_limits
from turnleaf.store.contracts import Stores
from turnleaf.store.postgres.stores import PostgresStores

SECRET = "hunter2"  # noqa: S105 - what must not be shown
HBA = "local all turnleaf_server scram-sha-256\nlocal all all trust\n"


@pytest.fixture(scope="module")
def locked_address() -> Iterator[str]:
    """The address of a database whose server asks for the password."""
    with tempfile.TemporaryDirectory(prefix="turnleaf-pg-") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder) / "server", SAFE)
        server.start()
        address = server.make_database("locked")
        with psycopg.connect(server.address("locked", "postgres"), autocommit=True) as admin:
            admin.execute(f"ALTER ROLE turnleaf_server PASSWORD '{SECRET}'")
            (server.folder / "data" / "pg_hba.conf").write_text(HBA)
            admin.execute("SELECT pg_reload_conf()")
        yield address
        server.remove()


def write(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


@pytest.mark.parametrize("way", ["pass file", "service file", "variable", "address"])
def test_a_password_comes_from_where_libpq_looks_and_is_shown_nowhere(
    locked_address: str,
    way: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    host = locked_address.partition("host=")[2]
    address = f"{locked_address}&application_name={way.replace(' ', '_')}"
    with (
        caplog.at_level(logging.DEBUG),
        Stores.open(f"{address}_not") as stores,
        pytest.raises(StorageError, match="password") as refused,
    ):
        stores.facts.get_all()
    if way == "pass file":
        monkeypatch.setenv("PGPASSFILE", write(tmp_path / "pass", f"*:*:*:*:{SECRET}\n"))
    elif way == "service file":
        text = f"[mine]\nhost={host}\nuser=turnleaf_server\ndbname=locked\npassword={SECRET}\n"
        monkeypatch.setenv("PGSERVICEFILE", write(tmp_path / "services", text))
        address = "postgresql:///?service=mine&sslmode=disable"
    elif way == "variable":
        monkeypatch.setenv("PGPASSWORD", SECRET)
    else:
        address = address.replace("@/", f":{SECRET}@/")
    with caplog.at_level(logging.DEBUG), Stores.open(address) as stores:
        stores.facts.add("茶")
        with pytest.raises(StorageError) as wrong:
            as_postgres(stores).place.in_step(
                lambda: as_postgres(stores).place.step.rows("SELECT no_such_column")
            )
        told = [stores.location, *stores.options, repr(stores.folder), repr(stores.examine())]
        told += [repr(stores.settings), repr(stores.measure_pool()), str(wrong.value)]
    told += [str(refused.value), *caplog.messages]
    assert not [text for text in told if SECRET in text]


def test_a_program_that_another_starts_finds_the_password_where_that_one_had_it(
    locked_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Stores.open(locked_address.replace("@/", f":{SECRET}@/")) as stores:
        option, passed_on = stores.options[:2]
    assert (option, passed_on) == ("--data-dir", locked_address)
    with Stores.open(passed_on) as other, pytest.raises(StorageError, match="password"):
        other.facts.get_all()
    monkeypatch.setenv("TURNLEAF_DATA_DIR", locked_address.replace("@/", f":{SECRET}@/"))
    with Stores.open(passed_on) as other:
        other.facts.add("tea")


def test_the_name_of_a_service_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGSERVICE", raising=False)
    shown = "postgresql:///?service=mine&sslmode=disable"
    with Stores.open(shown) as stores:
        assert stores.location == shown


def as_postgres(stores: Stores) -> PostgresStores:
    assert isinstance(stores, PostgresStores)
    return stores


def test_a_process_makes_no_more_connections_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLEAF_DATABASE_CONNECTIONS", "3")
    with Stores.open(f"{empty_database()}&application_name=three") as stores:
        assert stores.facts.get_all() == []
        assert stores.measure_pool()["max_connections"] == 3


def test_a_statement_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLEAF_DATABASE_SECONDS", "5")
    with Stores.open(f"{empty_database()}&application_name=second") as stores:
        place = as_postgres(stores).place
        with pytest.raises(StorageError, match="statement timeout"):
            place.in_step(lambda: place.step.rows("SELECT pg_sleep(600)"))
        assert stores.facts.get_all() == []


@pytest.mark.parametrize(
    "given",
    ["0", "00", "-1", "many", "1.5", "99999999999999", "0000000019999999999", "٣", "9" * 9_999],
)
@pytest.mark.parametrize("name", ["TURNLEAF_DATABASE_CONNECTIONS", "TURNLEAF_DATABASE_SECONDS"])
def test_a_limit_that_is_no_number_is_refused_by_name(name: str, given: str) -> None:
    with pytest.raises(SettingsError, match=name):
        find_database_limits({name: given})
    assert find_database_limits({name: ""}) == find_database_limits({})
    assert find_database_limits({name: f"{'0' * 20}7"}) == find_database_limits({name: "7"})
