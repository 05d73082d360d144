"""The index's SQLite files: their tables, how they are opened, and passages as their rows.

What is made from the files in a moment is in the one, the vectors, which take long, are in another
beside it, by the content that they stand for, so that a new index finds them again. Every page
carries a checksum where SQLite's own extension for that is at hand, so that damage is noticed when
it is read and never answered from.
"""

from __future__ import annotations

import json
import os
import threading
import uuid
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import apsw.sqlite_extra

from turnleaf.core.keys import EVERYONE, Reader
from turnleaf.core.messages import TRUSTED
from turnleaf.core.search.ranking import Hit
from turnleaf.core.search.terms import TOKENIZER
from turnleaf.core.serialization import to_iso
from turnleaf.errors import InvalidInput
from turnleaf.store.passage_search import is_open

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from turnleaf.core.search.passages import Passage

    Row = Mapping[str, Any]


APPLICATION_ID = 0x7475726E
VECTORS_APPLICATION_ID = 0x7475726F
# There are no migrations: an index of another version is made anew.
SCHEMA_VERSION = 9
VECTORS_VERSION = 2
BUSY_MILLISECONDS = 10_000
PAGE_BYTES = 8192
CHECKSUM_BYTES = 8
CACHE_KILOBYTES = 65_536
LARGEST_LOG_BYTES = 16 * 1024 * 1024
FREED_PAGES = 1000
CONTEXT_WEIGHT = 0.3

COMPANIONS = ("-wal", "-shm")

SCHEMA = f"""
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    signature TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE feeds (
    file INTEGER PRIMARY KEY,
    database TEXT NOT NULL,
    message INTEGER NOT NULL,
    change INTEGER NOT NULL
);
CREATE TABLE circles (
    id INTEGER PRIMARY KEY,
    audience TEXT NOT NULL,
    trust TEXT NOT NULL,
    conversation TEXT NOT NULL,
    UNIQUE (audience, trust, conversation)
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    kind TEXT NOT NULL,
    shape BLOB NOT NULL,
    fingerprint BLOB NOT NULL,
    meaning BLOB NOT NULL,
    text TEXT NOT NULL,
    line INTEGER NOT NULL,
    before INTEGER,
    after INTEGER,
    heading TEXT,
    date TEXT,
    conversation TEXT,
    speaker TEXT,
    ref TEXT,
    message INTEGER,
    parent INTEGER,
    part INTEGER NOT NULL,
    earlier INTEGER NOT NULL,
    later INTEGER NOT NULL,
    time INTEGER,
    trust TEXT NOT NULL,
    is_shown INTEGER NOT NULL,
    circle INTEGER,
    until TEXT
);
CREATE TABLE missing (passage INTEGER PRIMARY KEY);
CREATE TABLE totals (
    passages INTEGER NOT NULL, boot TEXT, vectors TEXT, is_swept INTEGER NOT NULL, erased_at REAL,
    removed_at REAL, scrubbed_at REAL
);
INSERT INTO totals (passages, is_swept) VALUES (0, 0);
CREATE INDEX passages_by_file ON passages (file, message);
CREATE INDEX passages_by_meaning ON passages (meaning);
CREATE INDEX passages_by_message ON passages (conversation, message, part)
    WHERE message IS NOT NULL;
CREATE INDEX passages_by_circle ON passages (circle) WHERE circle IS NOT NULL;
CREATE INDEX passages_by_end ON passages (until) WHERE until IS NOT NULL AND kind = 'memory';
CREATE INDEX passages_by_day ON passages (date) WHERE date IS NOT NULL;
CREATE VIRTUAL TABLE words USING fts5(
    own, context, content='', contentless_delete=1, tokenize="{TOKENIZER}"
);
INSERT INTO words(words, rank) VALUES ('rank', 'bm25(1.0, {CONTEXT_WEIGHT})');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""  # noqa: S608 - of constants

VECTORS_SCHEMA = f"""
CREATE TABLE vectors.owner (id TEXT NOT NULL);
CREATE TABLE vectors.model (
    name TEXT NOT NULL, scripts TEXT NOT NULL, mean REAL NOT NULL, deviation REAL NOT NULL,
    dimension INTEGER NOT NULL
);
CREATE TABLE vectors.slots (slot INTEGER PRIMARY KEY, meaning BLOB NOT NULL);
CREATE INDEX vectors.slots_by_meaning ON slots (meaning);
CREATE TABLE vectors.free (slot INTEGER PRIMARY KEY);
CREATE TABLE vectors.blocks (id INTEGER PRIMARY KEY, vectors BLOB NOT NULL);
PRAGMA vectors.application_id = {VECTORS_APPLICATION_ID};
PRAGMA vectors.user_version = {VECTORS_VERSION};
"""

# SQLite's default file system is the same for all threads, and is another for a moment below.
_one_at_a_time = threading.Lock()


class Outdated(Exception):
    """The file is an index of another version, or not whole."""


def find_vectors_path(path: Path) -> Path:
    """Return where the vectors of an index are."""
    return path.with_name("vectors.db" if path.stem == "index" else f"{path.stem}-vectors.db")


def connect(path: Path | None) -> apsw.Connection:
    """Open the index, making it where it is missing; without a path it is kept in memory."""
    database = apsw.Connection(str(path or ":memory:"), vfs=_load_file_system() if path else None)
    try:
        return _prepare(database, str(find_vectors_path(path)) if path else ":memory:")
    except BaseException:
        database.close()
        raise


def set_mark(path: Path, marked: float | None) -> None:
    """Set or take off the mark of an erasure in a copy that nobody uses yet."""
    with closing(apsw.Connection(str(path), vfs=_load_file_system())) as database:
        database.pragma("synchronous", "OFF")
        database.execute("UPDATE totals SET erased_at = ?", (marked,))


def tidy(database: apsw.Connection) -> None:
    """Release free pages and empty the log, so that no deleted text stays in them.

    While others read, that is left to the next time.
    """
    # Called under the lock: to wait for a reader would hold up every writer.
    database.set_busy_timeout(0)
    with suppress(apsw.BusyError):
        # Some pages at a time: to release all of them would hold the lock for as long as that
        # takes.
        database.execute(f"PRAGMA incremental_vacuum({FREED_PAGES})")
        database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    database.set_busy_timeout(BUSY_MILLISECONDS)


def _prepare(database: apsw.Connection, vectors: str) -> apsw.Connection:
    database.set_busy_timeout(BUSY_MILLISECONDS)
    _refuse_another(database, "main", APPLICATION_ID)
    # Whoever closes last would delete the log by its name, which may belong to a newer index.
    database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    database.execute("ATTACH ? AS vectors", (vectors,))
    _refuse_another(database, "vectors", VECTORS_APPLICATION_ID)
    _configure(database, "main", auto_vacuum="INCREMENTAL", synchronous="OFF")
    # A power cut may take the newest vectors, but not mix old pages with new ones.
    _configure(database, "vectors", auto_vacuum="NONE", synchronous="NORMAL")
    database.pragma("temp_store", "MEMORY")
    _check(database)
    return database


def _configure(
    database: apsw.Connection, schema: str, *, auto_vacuum: str, synchronous: str
) -> None:
    # Before the first page is written: cksumvfs keeps its checksum at the end of each page.
    database.reserve_bytes(schema, CHECKSUM_BYTES)
    for pragma, value in (
        ("page_size", PAGE_BYTES),
        ("auto_vacuum", auto_vacuum),
        ("journal_mode", "WAL"),
        ("synchronous", synchronous),
        ("secure_delete", "ON"),
        ("cache_size", -CACHE_KILOBYTES),
        ("journal_size_limit", LARGEST_LOG_BYTES),
    ):
        database.pragma(pragma, value, schema=schema)


def refuse_stranger(path: Path) -> None:
    """Refuse a file that was never an index: what is wrong with one is cured by deleting it."""
    if not path.exists():
        return
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        # Otherwise even a look at somebody's database leaves files beside it.
        address = f"{path.as_uri()}?immutable=1"
        with closing(apsw.Connection(address, flags=flags)) as database:
            _refuse_another(database, "main", APPLICATION_ID)
            is_stranger = not database.pragma("page_count") and path.stat().st_size > 0
    except (apsw.CorruptError, apsw.NotADBError):
        is_stranger = True
    if is_stranger:
        message = f"{path} exists and is not an index; choose another name for the index"
        raise InvalidInput(message)


def _refuse_another(database: apsw.Connection, schema: str, application_id: int) -> None:
    """Refuse a database that is no index, before anything in it is changed."""
    is_ours = database.pragma("application_id", schema=schema) == application_id
    if not is_ours and not _is_empty(database, schema):
        name = database.db_filename(schema)
        message = f"{name} is a database, but not an index; choose another name for it"
        raise InvalidInput(message)


def _check(database: apsw.Connection) -> None:
    """Make the tables in empty files; refuse an index of another version."""
    with database:
        if _is_empty(database, "vectors"):
            database.execute(VECTORS_SCHEMA)
            database.execute("INSERT INTO owner (id) VALUES (?)", (uuid.uuid4().hex,))
        elif database.pragma("user_version", schema="vectors") != VECTORS_VERSION:
            raise Outdated
        if _is_empty(database, "main"):
            database.execute(SCHEMA)
        elif database.pragma("user_version") != SCHEMA_VERSION:
            raise Outdated
        # After a power cut some pages may be older than others, each with a sound checksum: only
        # a check of the whole finds that, once after each start of the machine.
        boot = _read_boot_id()
        if boot and database.execute("SELECT boot FROM totals").get != boot:
            _check_whole(database)
            # What was taken in is compared with the files and the vectors once more.
            database.execute("UPDATE files SET signature = '', version = ''")
            database.execute("UPDATE totals SET boot = ?, vectors = NULL, is_swept = 0", (boot,))
        _meet_vectors(database)


def _meet_vectors(database: apsw.Connection) -> None:
    """Look for the vector of every passage once more where these are other vectors."""
    owner = database.execute("SELECT id FROM owner").get
    known = database.execute("SELECT vectors FROM totals").get
    if known != owner:
        if known is not None:
            # Either the vectors are others, or a log that belongs to another index was replayed.
            _check_whole(database)
        database.execute("INSERT OR IGNORE INTO missing (passage) SELECT id FROM passages")
        database.execute("UPDATE totals SET vectors = ?", (owner,))


def _check_whole(database: apsw.Connection) -> None:
    """Refuse an index of which a power cut kept some pages and not others.

    It is not made durable, and a page that is missing has no checksum that could be wrong.
    """
    counts = [
        database.execute(f"SELECT {what}").get
        for what in (
            "passages FROM totals",
            "count(*) FROM passages",
            "count(*) FROM words_docsize",
        )
    ]
    is_sound = {database.pragma("integrity_check", schema=name) for name in ("main", "vectors")}
    if len(set(counts)) > 1 or is_sound != {"ok"}:
        raise Outdated
    # SQLite's own check knows nothing of what the tables of FTS5 mean.
    database.execute("INSERT INTO words(words) VALUES ('integrity-check')")


def _read_boot_id() -> str | None:
    """Return an id of the present boot of the machine, where the system has one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return None


def _is_empty(database: apsw.Connection, schema: str) -> bool:
    return not database.execute(f"SELECT count(*) FROM {schema}.sqlite_schema").get  # noqa: S608


@cache
def _load_file_system() -> str | None:
    """Return the name of the SQLite file system that adds checksums, if there is one."""
    with _one_at_a_time:
        usual = apsw.vfs_names()[0]
        try:
            # An extension is loaded through a connection, whichever, and stays for the process.
            with apsw.Connection(":memory:") as carrier:
                apsw.sqlite_extra.load(carrier, "cksumvfs")
        except (apsw.Error, apsw.sqlite_extra.NotAvailable, OSError):
            return None
        finally:
            # Loading it makes it the default for every database of the process.
            apsw.set_default_vfs(usual)
        return "cksmvfs"


COLUMNS = (
    "id", "path", "kind", "fingerprint", "text", "line", "before", "after", "heading", "date",
    "conversation", "speaker", "ref", "message", "parent", "part", "earlier", "later", "time",
    "trust", "is_shown", "audience",
)  # fmt: skip
_SELECT = """
    SELECT passages.id, path, kind, fingerprint, text, line, before, after, heading, date,
        passages.conversation, speaker, ref, message, parent, part, earlier, later, time,
        passages.trust, is_shown, ifnull(audience, '')
    FROM passages JOIN files ON files.id = passages.file
        LEFT JOIN circles ON circles.id = passages.circle
    WHERE passages.id IN (SELECT value FROM json_each(?))
"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_rows(database: apsw.Connection, numbers: Sequence[int]) -> dict[int, Row]:
    """Return passages by their numbers."""
    rows: Any = database.execute(_SELECT, (json.dumps([*numbers]),))
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows}


def list_by_time(database: apsw.Connection, narrowing: Narrowing, limit: int) -> list[int]:
    """Return the numbers of the newest passages, oldest first."""
    query = f"SELECT id FROM passages WHERE is_shown AND ?1 {narrowing.condition} "  # noqa: S608
    order = "ORDER BY date DESC, time DESC, line DESC, part DESC, id DESC LIMIT ?5"
    rows: Any = database.execute(query + order, (True, *narrowing.values, limit))
    return [number for (number,) in rows][::-1]


def find_hit(database: apsw.Connection, hit: Hit) -> int | None:
    """Return the number of the passage that a hit is of, if it still stands."""
    number: int | None = database.execute(
        "SELECT passages.id FROM passages JOIN files ON files.id = passages.file "
        "WHERE path = ? AND conversation = ? AND message = ? AND part = ?",
        (os.fsencode(hit.path), hit.conversation, hit.message, hit.part),
    ).get
    return number


def follow(database: apsw.Connection, number: int, side: str, count: int) -> list[int]:
    """Return the passages on one side, "before" or "after", the nearest first."""
    found: list[int] = []
    while len(found) < count:
        step = f"SELECT {side} FROM passages WHERE id = ?"  # noqa: S608 - of two constants
        beside = database.execute(step, (found[-1] if found else number,)).get
        if beside is None:
            break
        found.append(beside)
    return found


def make_hit(
    row: Row, score: float = 0.0, bm25: float | None = None, vector: float | None = None
) -> Hit:
    """Return a passage as what was found."""
    return Hit(
        text=row["text"],
        source=row["kind"],
        path=Path(os.fsdecode(row["path"])),
        line=row["line"],
        heading=row["heading"],
        date=row["date"],
        conversation=row["conversation"],
        speaker=row["speaker"],
        id=row["ref"],
        score=score,
        bm25=bm25,
        vector=vector,
        message=row["message"],
        parent=row["parent"],
        time=None if row["time"] is None else to_iso(to_moment(row["time"])),
        trust=row["trust"],
        is_shown=bool(row["is_shown"]),
        part=row["part"],
        earlier=row["earlier"],
        later=row["later"],
        audience=row["audience"],
    )


def to_milliseconds(moment: datetime) -> int:
    """Return a time as the index keeps it."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def to_moment(milliseconds: int) -> datetime:
    """Return the time that the index keeps as a number."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


class Narrowing(NamedTuple):
    """Which passages are searched."""

    source: str | None = None
    since: str | None = None
    until: str | None = None
    closed: tuple[int, ...] = ()
    """The circles whose passages the reader may not find."""

    @property
    def is_narrow(self) -> bool:
        """Whether only a kind of passages, or those of some days, are searched."""
        return self[:3] != (None, None, None)

    @property
    def condition(self) -> str:
        """The condition in SQL on a passage, with its three values below."""
        closed = ", ".join(map(str, self.closed))
        is_open = f"AND (circle IS NULL OR circle NOT IN ({closed}))" if closed else ""
        if not self.is_narrow:
            return is_open
        since = "AND date >= ?3" if self.since else "AND ?3 IS NULL"
        until = "AND date <= ?4" if self.until else "AND ?4 IS NULL"
        kind = "AND kind = ?2" if self.source else "AND ?2 IS NULL"
        return f"{kind} {since} {until} {is_open}"

    @property
    def values(self) -> tuple[str | None, ...]:
        """The values in the condition."""
        return self[:3] if self.is_narrow else ()


def circle_of(database: apsw.Connection, said: Passage) -> int | None:
    """Return the circle of those who may find a passage; None: everybody, in every prompt."""
    if said.audience == EVERYONE and said.trust in TRUSTED:
        return None
    circle = (said.audience, said.trust, said.conversation or "")
    database.execute(
        "INSERT OR IGNORE INTO circles (audience, trust, conversation) VALUES (?, ?, ?)", circle
    )
    return int(
        database.execute(
            "SELECT id FROM circles WHERE audience = ? AND trust = ? AND conversation = ?", circle
        ).get
    )


def find_closed(database: apsw.Connection, reader: Reader) -> tuple[int, ...]:
    """Return the circles whose passages a reader may not find."""
    rows: Any = database.execute("SELECT id, audience, trust, conversation FROM circles")
    return tuple(number for number, *circle in rows if not is_open(reader, *circle))


def forget_empty_circles(database: apsw.Connection) -> None:
    """Take out the circles of conversations that are gone."""
    database.execute(
        "DELETE FROM circles WHERE NOT EXISTS (SELECT 1 FROM passages WHERE circle = circles.id)"
    )
