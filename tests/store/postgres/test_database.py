"""A database: its address, its tables, and its restarts."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.meanings import Meanings
from tests.postgres import OWNER, SAFE, PostgresServer, empty_database, make_admin, share_server
from turnleaf.core.diagnosis import Retention
from turnleaf.core.search.ranking import Weights
from turnleaf.core.search.vectors import SENTENCES
from turnleaf.errors import InvalidInput, StorageError
from turnleaf.store.contracts import Stores
from turnleaf.store.opening import open_to_examine
from turnleaf.store.postgres.addresses import read_address
from turnleaf.store.postgres.schema import list_migrations, migrate

SCHEMAS = Path(__file__).parent / "schemas"
"""What pg_dump of PostgreSQL 16 says of a database of each released version of the tables."""
SECRET = "hunter2"  # noqa: S105 - what must not be shown


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ("postgresql://a@db.example.org/t", "verify-full"),
        ("postgresql://a@192.0.2.7/t", "verify-full"),
        ("postgresql://a@localhost,db.example.org/t", "verify-full"),
        ("postgresql://a@localhost.example.org/t", "verify-full"),
        ("postgresql://a@127.example.org/t", "verify-full"),
        ("postgresql://a@[::12]/t", "verify-full"),
        ("postgresql://a@localhost/t?hostaddr=192.0.2.7", "verify-full"),
        ("postgresql://a@db.example.org/t?sslmode=require", "require"),
        ("postgresql://a@localhost/t", None),
        ("postgresql://a@127.0.0.1:5433/t", None),
        ("postgresql://a@[::1]/t", None),
        ("postgresql://a@/t?host=/run/postgresql", None),
        ("postgresql:///t", None),
    ],
)
def test_a_server_elsewhere_must_prove_who_it_is_unless_the_address_says_otherwise(
    given: str, mode: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "turnleaf"):
        address = read_address(given)
    chosen = psycopg.conninfo.conninfo_to_dict(address.conninfo)
    assert chosen.get("sslmode") == mode
    assert address.is_unverified == bool(caplog.messages) == (mode == "require")


@pytest.mark.parametrize("name", ["PGHOST", "PGHOSTADDR"])
def test_a_variable_may_say_that_the_server_is_elsewhere(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "192.0.2.7")
    chosen = psycopg.conninfo.conninfo_to_dict(read_address("postgresql:///t").conninfo)
    assert (chosen["sslmode"], chosen["sslrootcert"]) == ("verify-full", "system")
    monkeypatch.setenv("PGSSLROOTCERT", "/etc/ours.pem")
    chosen = psycopg.conninfo.conninfo_to_dict(read_address("postgresql:///t").conninfo)
    assert chosen["sslrootcert"] == "/etc/ours.pem"


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://a@[::1]:5433/t",
        "postgresql://a@localhost:5433,[::1]:5434/t",
        "postgresql://a@localhost:5433,127.0.0.1:5433/t",
        "postgresql://a@:5433/t?host=/tmp/x",
        "postgresql://a%40b@db.example.org/t?sslmode=require",
    ],
)
def test_the_address_that_is_shown_is_one_of_the_same_database(given: str) -> None:
    shown = read_address(given).shown
    assert shown == given
    assert read_address(shown).conninfo == read_address(given).conninfo


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (f"postgresql://a:{SECRET}@db.example.org:5433/t", "postgresql://a@db.example.org:5433/t"),
        (f"postgresql://a@localhost/t?password={SECRET}", "postgresql://a@localhost/t"),
        (f"postgresql://a@/t?host=/tmp/x&passfile=/{SECRET}", "postgresql://a@/t?host=/tmp/x"),
    ],
)
def test_a_password_is_not_shown(given: str, shown: str) -> None:
    assert read_address(given).shown.partition("?ssl")[0] == shown
    assert SECRET not in read_address(given).shown


@pytest.mark.parametrize(
    "given",
    [
        f"postgresql://a:{SECRET}@host:port:5/t?nonsense=1",
        f"postgresql://a:{SECRET}/{SECRET}@host/t",
        f"postgresql://a:{SECRET}/{SECRET}?{SECRET}@host/t",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_naming_it(given: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Stores.open(given)
    assert SECRET not in str(refused.value)


def test_a_password_is_in_no_text_that_a_store_gives_or_raises(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    address = empty_database().replace("@/", f":{SECRET}@/")
    with caplog.at_level(logging.DEBUG), Stores.open(address) as stores:
        stores.facts.add("tea")
        told = [stores.location, *stores.options, repr(stores.folder), repr(stores.settings)]
        told += [str(one.location) for one in (stores.facts, stores.conversations, stores.daily)]
        told.append(stores.redact(f"at {stores.location}"))
    missing = f"postgresql://a:{SECRET}@/t?host={tmp_path}"
    with Stores.open(missing) as stores, pytest.raises(StorageError) as refused:
        stores.facts.get_all()
    with Stores.open(missing) as stores:
        found = stores.examine()
    assert [one.level for one in found.findings] == ["error"]
    told += [str(refused.value), *caplog.messages, repr(found)]
    assert not [text for text in told if SECRET in text]


def test_an_examination_names_what_the_settings_of_the_database_say() -> None:
    address = empty_database()
    with Stores.open(address) as stores:
        stores.config.change({"conversationKeepDays": 30})
    examined, problems = open_to_examine(address)
    with examined:
        found = examined.examine()
    assert (found.retention, problems) == (Retention(keeps_everything=True, days=30), [])
    assert found.findings == ()


def test_migrations_are_made_once_and_a_dry_run_makes_none() -> None:
    server, name = share_server(), f"bare_{os.getpid()}"
    with psycopg.connect(server.address("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} OWNER {OWNER}".encode())
    owner = server.address(name, OWNER)
    with Stores.open(server.address(name)) as stores:
        with pytest.raises(StorageError, match="turnleaf db migrate"):
            stores.facts.get_all()
        assert len(migrate(owner, dry_run=True)) == len(list_migrations())
        with pytest.raises(StorageError, match="turnleaf db migrate"):
            stores.facts.get_all()
        make_admin(server.address(name))("CREATE EXTENSION vector")
        assert len(migrate(owner)) == len(list_migrations())
        assert migrate(owner) == []
        assert stores.facts.get_all() == []


@pytest.mark.parametrize("version", sorted(one.stem for one in SCHEMAS.glob("*.sql")))
def test_a_database_of_each_version_is_upgraded_with_all_that_is_in_it(version: str) -> None:
    server, name = share_server(), f"older_{version}_{os.getpid()}"
    with psycopg.connect(server.address("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} OWNER {OWNER}".encode())
    make_admin(server.address(name))((SCHEMAS / f"{version}.sql").read_text("utf-8"))
    with Stores.open(server.address(name), space="anna") as anna:
        made = migrate(server.address(name, OWNER))
        assert [one.version for one in made] == [
            one.version for one in list_migrations() if one.version > int(version)
        ]
        assert [one.content for one in anna.facts.get_all()] == ["客廳的燈叫做小明"]
        assert [one.message.text for one in anna.conversations.messages("cli:1")] == [
            "小明壞了",
            "好",
        ]
        assert [one.source for one in anna.passages.search("小明")]
        model = Meanings()
        anna.passages.use_embedder(model, Weights())
        # Vectors that were there are neither lost nor made again.
        assert anna.passages.missing_vectors() == 0
        assert anna.passages.search("小明", mode="vector", floor=False)
        assert not {*model.asked} - {*SENTENCES, "小明"}
        assert anna.settings.memory_max_items == 77
        anna.facts.add("還有小華")
        assert {*anna.learning.backlog()} == {"cli:1"}
        assert [one.prompt for one in anna.schedules.get_all()] == ["小明好嗎？"]
    with Stores.open(server.address(name), space="bob") as bob:
        assert bob.facts.get_all() == []
        assert bob.schedules.get_all() == []


def test_a_role_that_could_read_every_space_is_not_let_in() -> None:
    owner = empty_database().replace("turnleaf_server@", f"{OWNER}@")
    with pytest.raises(InvalidInput, match="must not be a superuser"):
        migrate(owner, role="postgres")
    with pytest.raises(InvalidInput, match="CREATE ROLE nobody_knows"):
        migrate(owner, role="nobody_knows")


def test_every_table_has_row_level_security_and_the_space_first_in_every_key() -> None:
    admin = make_admin(empty_database())
    bare = admin(
        "SELECT relname FROM pg_class WHERE relnamespace = 'turnleaf'::regnamespace "
        "AND relkind = 'r' AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1"
    )
    assert bare == [("migrations",), ("settings",)]
    first = admin(
        "SELECT DISTINCT attname FROM pg_index JOIN pg_class ON pg_class.oid = indrelid "
        "JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0] "
        "WHERE relnamespace = 'turnleaf'::regnamespace AND relrowsecurity "
        "AND indexrelid <> 'turnleaf.work_by_due'::regclass"  # which is read over all spaces
    )
    assert first == [("space",)]


def test_tables_of_a_newer_version_are_not_served_by_an_older_one() -> None:
    address = empty_database()
    admin = make_admin(address)
    admin("INSERT INTO turnleaf.migrations (version, floor) VALUES (9000, 9000)")
    try:
        # Of a name of its own, so that no connection is there already.
        with (
            Stores.open(f"{address}&application_name=newer") as stores,
            pytest.raises(StorageError, match="are version 9000, but this Turnleaf supports"),
        ):
            stores.facts.get_all()
    finally:
        admin("DELETE FROM turnleaf.migrations WHERE version = 9000")


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    with tempfile.TemporaryDirectory(prefix="turnleaf-pg-") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder) / "server", SAFE)
        server.start()
        yield server
        server.remove()


def test_what_was_acknowledged_survives_a_crash_of_the_database_and_work_goes_on(
    own_server: PostgresServer,
) -> None:
    address = own_server.make_database("crashing")
    with Stores.open(address) as stores:
        stores.conversations.add_exchange("cli:1", "我的貓叫米米", "好")
        stores.facts.add("我的貓叫米米")
        own_server.stop("immediate")
        own_server.start()
        assert len(stores.conversations.messages("cli:1")) == 2
        stores.facts.add("tea")
        assert [one.content for one in stores.facts.get_all()] == ["我的貓叫米米", "tea"]


def test_a_database_that_is_gone_is_an_error_that_says_so(own_server: PostgresServer) -> None:
    address = own_server.make_database("gone")
    own_server.stop()
    with Stores.open(address) as stores, pytest.raises(StorageError, match="connection"):
        stores.facts.add("tea")
