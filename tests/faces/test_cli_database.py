"""The programs take the address of a database where they take a folder."""

from __future__ import annotations

import os
from uuid import uuid4

import psycopg
import pytest

from tests.faces.conftest import Cli
from tests.postgres import OWNER, empty_database, list_tables, make_admin, run, share_server
from turnleaf import Assistant
from turnleaf.llm.recall import RecallModel

KEY = "cli:session-1"
LAMP = "客廳的燈叫做小明"
SECRET = "hunter2"  # noqa: S105 - what must not be shown


@pytest.fixture
def address() -> str:
    return empty_database()


def test_an_assistant_remembers_answers_and_learns(address: str) -> None:
    with Assistant(address, model=RecallModel()) as assistant:
        assistant.reply(KEY, f"記住{LAMP}")
        assistant.reply(KEY, "My name is Ann and I live in Oslo.")
        assistant.flush()
    with Assistant(address, model=RecallModel()) as again:
        facts = [one.content for one in again.stores.facts.get_all()]
        assert LAMP in facts
        assert any("Oslo" in one for one in facts)
        assert "小明" in again.reply("cli:session-2", "客廳的燈叫什麼？").text


def test_commands_take_an_address(cli: Cli, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("--data-dir", address, "remember", LAMP).code == 0
    monkeypatch.setenv("TURNLEAF_DATA_DIR", address)
    assert LAMP in cli("memories").out
    assert LAMP in cli("search", "小明").out
    assert cli("--space", "anna", "memories", "--json").json == []
    assert cli("config", "memoryMaxItems", "7").code == 0
    assert cli("log", "換了燈泡").code == 0
    assert "換了燈泡" in cli("today").out
    assert LAMP in cli("export", "--format", "markdown").out
    assert cli("undo").code == 0
    assert LAMP not in cli("memories").out
    refused = cli("backup", "x.tar.gz")
    assert refused.code == 2
    assert "pg_dump" in refused.err
    assert not cli.data.exists()


def test_doctor_says_what_is_in_a_database_and_what_is_wrong_with_it(
    cli: Cli, address: str
) -> None:
    cli("--data-dir", address, "remember", LAMP)
    found = cli("--data-dir", address, "doctor")
    assert (found.code, found.err) == (0, "")
    assert address in found.out
    assert "1 fact" in found.out
    wrong = cli("--data-dir", address.replace("turnleaf_server@", f"{OWNER}@"), "doctor")
    assert wrong.code == 1
    assert "connect as another role" in wrong.out


def test_a_space_of_a_database_is_erased_only_when_that_is_confirmed(
    cli: Cli, address: str
) -> None:
    cli("--data-dir", address, "--space", "anna", "remember", LAMP)
    assert cli("--data-dir", address, "db", "erase", "anna").code == 2
    assert LAMP in cli("--data-dir", address, "--space", "anna", "memories").out
    assert cli("--data-dir", address, "db", "erase", "anna", "--yes").code == 0
    assert LAMP not in cli("--data-dir", address, "--space", "anna", "memories").out


def test_nothing_in_a_database_names_a_space_that_was_erased(cli: Cli, address: str) -> None:
    for name in ("anna", "bob"):
        assert cli("--data-dir", address, "token", "add", "--space", name).code == 0
        cli("--data-dir", address, "--space", name, "remember", LAMP)
    done = cli("--data-dir", address, "db", "erase", "anna", "--yes")
    assert done.out == "erased anna and revoked 1 of its tokens\n"
    admin = make_admin(address)
    for table in list_tables(address):
        rows = admin(f"SELECT * FROM turnleaf.{table}")  # noqa: S608 - of the catalogue
        assert "anna" not in str(rows), table
    listed = cli("--data-dir", address, "token", "list", "--json").json
    assert [one["space"] for one in listed] == ["bob"]


def test_tune_says_what_it_changes(cli: Cli, address: str) -> None:
    owner = address.replace("turnleaf_server@", f"{OWNER}@")
    assert cli("db", "tune", owner).code == 0
    make_admin(address)("CREATE INDEX vectors_near_old ON turnleaf.vectors (space)")
    for options in (["--dry-run"], ["--passages", "7"]):
        done = cli("db", "tune", owner, *options)
        assert (done.code, done.out) == (0, 'DROP INDEX CONCURRENTLY turnleaf."vectors_near_old"\n')
    assert cli("db", "tune", owner).out == "there is nothing to change\n"
    refused = cli("db", "tune")
    assert refused.code == 2
    assert "postgresql://" in refused.err


def test_migrate_says_what_it_makes(cli: Cli, address: str) -> None:
    owner = address.replace("turnleaf_server@", f"{OWNER}@")
    done = cli("db", "migrate", owner)
    assert (done.code, done.err) == (0, "")
    assert "the tables are up to date" in done.out
    assert cli("db", "migrate").code == 2


@pytest.fixture
def bare(address: str) -> str:
    """The address of a database without anything, for the role that serves."""
    assert address
    name = f"bare_{uuid4().hex}"
    make_admin(share_server().address("postgres"))(f"CREATE DATABASE {name} OWNER {OWNER}")
    return share_server().address(name)


def test_a_database_without_pgvector_or_with_an_old_one_says_what_to_run(
    cli: Cli, bare: str
) -> None:
    owner, admin = bare.replace("turnleaf_server@", f"{OWNER}@"), make_admin(bare)
    refused = cli("db", "migrate", owner)
    assert refused.code == 1
    admin(refused.err.strip().rpartition("superuser: ")[2])
    old = "UPDATE pg_extension SET extversion = '{}' WHERE extname = 'vector'"
    ((version,),) = admin("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    admin(old.format("0.7.4"))
    refused = cli("db", "migrate", owner)
    assert refused.code == 1
    assert "pgvector 0.7.4" in refused.err
    assert "ALTER EXTENSION vector UPDATE" in refused.err
    admin(old.format("0.10.0"))
    assert cli("db", "migrate", owner).code == 0
    assert cli("--data-dir", bare, "doctor").code == 0
    admin(old.format("0.7.4"))
    assert "ALTER EXTENSION vector UPDATE" in cli("--data-dir", bare, "doctor").out
    admin(old.format(version))


def test_a_dry_run_prints_all_that_makes_the_tables(cli: Cli, bare: str) -> None:
    script = cli("db", "migrate", bare.replace("turnleaf_server@", f"{OWNER}@"), "--dry-run")
    assert script.code == 0
    assert "turnleaf db migrate" in cli("--data-dir", bare, "doctor").out
    make_admin(bare)(script.out)
    assert cli("--data-dir", bare, "remember", LAMP).code == 0
    assert cli("--data-dir", bare, "doctor").code == 0


@pytest.mark.parametrize(
    "given",
    [f"postgresql://a:{SECRET}@localhost/t", f"postgres://a@/t?host=/x&password={SECRET}"],
)
def test_a_password_is_not_taken_from_where_everybody_on_the_machine_sees_it(
    cli: Cli, given: str
) -> None:
    for command in (("--data-dir", given, "memories"), ("db", "migrate", given)):
        refused = cli(*command)
        assert refused.code == 2
        assert "~/.pgpass" in refused.err
        assert SECRET not in refused.err + refused.out


def test_no_command_says_a_password_also_where_the_database_refuses(
    cli: Cli, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = address.replace("turnleaf_server@", f"nobody:{SECRET}@")
    for known in (address.replace("@/", f":{SECRET}@/"), refused):
        monkeypatch.setenv("TURNLEAF_DATA_DIR", known)
        for command in (("doctor",), ("doctor", "--json"), ("memories",), ("config",)):
            done = cli(*command)
            assert done.out + done.err
            assert SECRET not in done.out + done.err
            assert (done.code != 0) == (known == refused)
    monkeypatch.setenv("TURNLEAF_DATA_DIR", address)
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert SECRET not in cli("doctor").out


def test_doctor_says_what_is_missing_in_a_database_and_the_statement_that_mends_it(
    cli: Cli, address: str
) -> None:
    admin = make_admin(address)
    for statement in (
        "ALTER TABLE turnleaf.notes DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_space ON turnleaf.books",
        "REVOKE DELETE ON turnleaf.records FROM turnleaf_server",
        "DROP INDEX turnleaf.messages_that_cite",
        "DROP POLICY own_space ON turnleaf.work",
        "DROP POLICY finishing ON turnleaf.work",
        "DROP TABLE turnleaf.writes",
    ):
        admin(statement)
    counts = []
    owner_address = address.replace("turnleaf_server@", f"{OWNER}@")
    with psycopg.connect(owner_address, autocommit=True) as owner:
        while told := find_statements(cli, address):
            for statement in told:
                owner.execute(statement.encode())
            counts.append(len(told))
    # A table that was made again needs its security and its rights next.
    assert counts == [7, 3]
    assert cli("--data-dir", address, "doctor").code == 0
    assert cli("--data-dir", address, "remember", LAMP).code == 0


def find_statements(cli: Cli, address: str) -> list[str]:
    """Return the statements that `doctor` says are to be run."""
    found = cli("--data-dir", address, "doctor", "--json").json["problems"]
    parts = [one["message"].partition("owns the tables: ") for one in found]
    return [statement for _, is_told, statement in parts if is_told]


def test_a_dump_by_a_role_that_only_reads_is_restored_into_a_fresh_database(
    cli: Cli, address: str
) -> None:
    cli("--data-dir", address, "remember", LAMP)
    cli("--data-dir", address, "--space", "anna", "remember", "tea")
    server = share_server()
    name, reader = f"restored_{os.getpid()}", f"backup_{os.getpid()}"
    admin = make_admin(server.address("postgres"))
    admin(f"CREATE DATABASE {name} OWNER {OWNER}")
    admin(f"CREATE ROLE {reader} LOGIN BYPASSRLS; GRANT pg_read_all_data TO {reader}")
    dump = ("pg_dump", "--format=custom", f"--file={server.folder}/{name}.dump")
    with pytest.raises(AssertionError, match="row-level security"):
        run(*dump, address.replace("turnleaf_server@", f"{OWNER}@"), folder=server.folder)
    source = address.replace("turnleaf_server@", f"{reader}@")
    run(*dump, source, folder=server.folder)
    assert "connect as another role" in cli("--data-dir", source, "memories").err
    admin(f"DROP ROLE {reader}")
    into = f"--dbname={server.address(name, 'postgres')}"
    run("pg_restore", into, f"{server.folder}/{name}.dump", folder=server.folder)
    restored = server.address(name)
    assert cli("--data-dir", restored, "doctor").code == 0
    assert LAMP in cli("--data-dir", restored, "memories").out
    assert LAMP in cli("--data-dir", restored, "search", "小明").out
    assert "tea" in cli("--data-dir", restored, "--space", "anna", "memories").out
    assert cli("--data-dir", restored, "undo").code == 0
