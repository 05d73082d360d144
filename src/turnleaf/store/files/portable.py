"""What a space in a folder holds, part by part, to be copied from it and to it."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from turnleaf.core import markdown, schedules
from turnleaf.core.markdown_blocks import LINES, is_blank
from turnleaf.core.memories import read_day
from turnleaf.core.messages import NewMessage, find_trust
from turnleaf.core.opaque_records import Record
from turnleaf.core.portable import (
    ConversationImage,
    FactsImage,
    MessageImage,
    PortablePart,
    is_marker,
    make_day,
    make_learning,
    make_record,
    make_schedules,
    read_bare_entries,
    read_file_entries,
    read_number,
    render_facts,
    split_record_name,
    swap_title,
    write_file_lines,
)
from turnleaf.core.serialization import dumps, from_iso, to_iso
from turnleaf.errors import InvalidInput
from turnleaf.store.files import atomic, opaque_records
from turnleaf.store.files.conversations import schema
from turnleaf.store.files.daily import read_source, with_source
from turnleaf.store.files.databases import Database
from turnleaf.store.files.facts.memory_file import MemoryFile
from turnleaf.store.files.facts.older import TITLES, find_older_path
from turnleaf.store.files.facts.pending import PendingStore
from turnleaf.store.files.learning_queue import ATTEMPTS, FORM, SET_ASIDE, UNREADABLE
from turnleaf.store.files.schedules import parse
from turnleaf.store.in_memory.portable import PortableSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.settings import DataFolder
    from turnleaf.store.contracts import Portable
    from turnleaf.store.files.config import ConfigFile
    from turnleaf.store.files.databases import Connection
    from turnleaf.store.files.facts.memories import MemoryStore

    Now = Callable[[], datetime]

_CONVERSATIONS = """
SELECT CAST(key AS BLOB), leaf, turns, CAST(created_at AS BLOB), CAST(updated_at AS BLOB),
    CAST(title AS BLOB), is_renamed, CAST(audience AS BLOB), is_searched
FROM conversations WHERE ? OR key > ? ORDER BY key LIMIT ?
"""
_PUT_CONVERSATION = """
INSERT INTO conversations
    (key, leaf, turns, created_at, updated_at, title, is_renamed, audience, is_searched, oldest)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?4)
ON CONFLICT (key) DO UPDATE SET leaf = ?2, turns = ?3, created_at = ?4, updated_at = ?5,
    title = ?6, is_renamed = ?7, audience = ?8, is_searched = ?9, oldest = ?4
"""
_MESSAGES = f"""
SELECT n, (SELECT CAST(key AS BLOB) FROM conversations WHERE id = conversation),
    (SELECT CAST(created_at AS BLOB) FROM conversations WHERE id = conversation),
    coalesce(parent, 0), is_shown, is_resumed, {schema.MORE}, {schema.PLAIN}
FROM messages WHERE n > ? ORDER BY n LIMIT ?
"""  # noqa: S608 - of constants
_PUT_MESSAGE = """
INSERT OR REPLACE INTO messages (
    n, conversation, parent, role, text, timestamp, json, status, trust, source, shaped_by,
    is_shown, is_resumed, is_hidden
) VALUES (?, (SELECT id FROM conversations WHERE key = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_MARK_VERSIONS = """
WITH several AS (
    SELECT conversation AS whose, coalesce(parent, 0) AS above FROM messages
    GROUP BY 1, 2 HAVING count(*) > 1
)
UPDATE messages SET is_version = 1
WHERE is_version IS NULL
    AND (conversation, coalesce(parent, 0)) IN (SELECT whose, above FROM several)
"""
_BEGIN_NUMBERS = """
INSERT INTO sqlite_sequence (name, seq) SELECT 'messages', 0
WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'messages')
"""


class _Facts:
    """The facts of a folder, or those that wait."""

    def __init__(self, name: str, store: MemoryStore, now: Now) -> None:
        self.name = name
        self._store = store
        self._now = now
        path = store.location
        older = find_older_path(path) if store.keeps_older else None
        self._file = MemoryFile(path, now, store.title, older)
        self._older = MemoryFile(older, now, TITLES.get(older.suffix), path) if older else None

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:  # noqa: ARG002
        """Return all as one part."""
        if after is not None or not self._store.exists():
            return []
        self._store.changes()  # What an editor saved is then on record.
        facts, text = self._file.read()
        older = self._older if self._older and self._older.path.exists() else None
        older_facts, older_text = older.read() if older else ([], markdown.EMPTY)
        main = self._file.journal.read()
        beside = older.journal.read() if older else []
        if self._file.format is markdown:
            entries = read_file_entries(text, main, beside, self._now())
        else:
            text, older_text = (render_facts(one, self._now()) for one in (facts, older_facts))
            entries = read_bare_entries([*main, *beside])
        return FactsImage(
            text,
            older_text,
            tuple(facts),
            tuple(older_facts),
            atomic.read_mtime(self._file.path),
            entries,
            max((one.n for one in (*main, *beside)), default=0),
        ).to_parts()

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:  # noqa: ARG002
        """Replace all."""
        if self._file.format is not markdown:
            message = (
                f"facts are copied to Markdown, not to {self._file.path.name}; unset "
                "memoryLocation there"
            )
            raise InvalidInput(message)
        now = self._now()
        nothing = FactsImage(markdown.EMPTY, markdown.EMPTY, (), (), now)
        image: FactsImage = parts[0].value if parts else nothing
        title = (self._store.title or markdown.EMPTY).rstrip("\n")
        text = swap_title(image.text, title)
        older = swap_title(image.older, TITLES[".md"].rstrip("\n"))
        path, beside = self._file.path, self._older
        image = _replace_texts(image, text, older)
        lines, older_lines = write_file_lines(image, path.name, beside.path.name if beside else "")
        atomic.make_folder(path.parent)
        with atomic.lock(path) as file, self._file.journal.hold() as held:
            # The record before the page, as with every change. Lines
            # of other files, and those that cannot be read, stay.
            held.rewrite(lines, lambda _: True)
            if beside and (image.older_facts or beside.path.exists()):
                held.of(beside.journal).rewrite(older_lines, lambda _: True)
                with atomic.lock(beside.path) as other:
                    other.replace(older.encode())
                # The replaced page would be taken for what an editor saved in that instant.
                atomic.drop_previous(beside.path)
            file.replace(text.encode())
            atomic.drop_previous(path)
        seen = {key: to_iso(time) for key, time in sorted(image.find_typed().items())}
        if seen:
            data = (json.dumps(seen, indent=0) + "\n").encode()
            atomic.write(atomic.find_seen_path(path), data)


def _replace_texts(image: FactsImage, text: str, older: str) -> FactsImage:
    return FactsImage(
        text, older, image.facts, image.older_facts, image.written_at, image.entries,
        image.last_number,
    )  # fmt: skip


class _Shelf:
    """A table of a SQLite file; nothing is made by asking."""

    def __init__(self, path: Path, form: Any) -> None:  # noqa: ANN401 - a Form
        self.path = path
        self.database = Database(path, form)

    def select(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds."""
        if not self.path.exists():
            return []
        return self.database.read(lambda database: schema.select(database, query, values))

    def write(self, work: Callable[[Connection], None], *, erases: bool = False) -> None:
        """Change something; whatever is erased leaves no byte."""
        atomic.make_folder(self.path.parent)
        if erases:
            self.database.erase(work)
        else:
            self.database.write(work)


class _FileConversations:
    name = "conversations"

    def __init__(self, shelf: _Shelf) -> None:
        self._shelf = shelf

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return conversations by key."""
        rows = self._shelf.select(_CONVERSATIONS, after is None, after or "", limit)
        return [_read_conversation(*row).to_part() for row in rows]

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store conversations, and erase others with their messages."""

        def work(database: Connection) -> None:
            for key in gone:
                number = schema.find_conversation(database, key)
                query = "SELECT n FROM messages WHERE conversation = ?"
                found = [n for (n,) in schema.select(database, query, (number,))]
                _remove(database, found)
                database.execute("DELETE FROM conversations WHERE id = ?", (number,))
            for part in parts:
                database.execute(_PUT_CONVERSATION, _write_conversation(part.value))
                schema.alter_all(database, schema.get_conversation(database, part.name))

        self._shelf.write(work, erases=bool(gone))


def _read_conversation(  # noqa: PLR0913, PLR0917 - as its columns are
    key: bytes, leaf: int, turns: int, created: bytes, updated: bytes, title: bytes,
    is_renamed: int, audience: bytes, is_searched: int,
) -> ConversationImage:  # fmt: skip
    return ConversationImage(
        schema.decode(key), leaf, turns, from_iso(schema.decode(created)),
        from_iso(schema.decode(updated)), schema.decode(title), bool(is_renamed),
        schema.decode(audience), bool(is_searched),
    )  # fmt: skip


def _write_conversation(one: ConversationImage) -> tuple[Any, ...]:
    times = to_iso(one.created_at), to_iso(one.updated_at)
    rest = one.title, one.is_renamed, one.audience, one.is_searched
    return one.key, one.leaf, one.turns, *times, *rest


def _remove(database: Connection, numbers: Sequence[int]) -> None:
    rows = [(n,) for n in numbers]
    database.executemany("DELETE FROM messages WHERE n = ?", rows)
    database.executemany("DELETE FROM hidden WHERE message = ?", rows)
    schema.alter(database, numbers)


class _FileMessages:
    name = "messages"

    def __init__(self, shelf: _Shelf) -> None:
        self._shelf = shelf

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return messages by id, without those that are damaged."""
        found, number = list[PortablePart](), read_number(after)
        # All of a batch may be damaged, and that is not the end.
        while rows := self._shelf.select(_MESSAGES, number, limit):
            reasons = self._find_reasons(rows[0][0], rows[-1][0])
            images = [_read_message(row, reasons.get(row[0], ())) for row in rows]
            found = [one.to_part() for one in images if one]
            number = rows[-1][0]
            if found:
                break
        return found

    def _find_reasons(self, first: int, last: int) -> dict[int, tuple[str, ...]]:
        query = "SELECT message, reason FROM hidden WHERE message BETWEEN ? AND ?"
        found: dict[int, tuple[str, ...]] = {}
        for number, reason in self._shelf.select(query, first, last):
            found[number] = (*found.get(number, ()), reason)
        return found

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store messages, and erase others."""
        new = [part.value for part in parts]

        def work(database: Connection) -> None:
            _remove(database, [*map(read_number, gone)])
            last: int = database.execute("SELECT coalesce(max(n), 0) FROM messages").get
            numbers = [(one.id,) for one in new]
            database.executemany("DELETE FROM hidden WHERE message = ?", numbers)
            database.executemany(_PUT_MESSAGE, [*map(_write_message, new)])
            hidden = [(one.id, reason) for one in new for reason in one.reasons]
            query = "INSERT OR IGNORE INTO hidden (message, reason) VALUES (?, ?)"
            database.executemany(query, hidden)
            # Whoever follows the database looks by itself only at numbers that are larger.
            schema.alter(database, [one.id for one in new if one.id <= last])

        self._shelf.write(work, erases=bool(gone))


def _read_message(row: Sequence[Any], reasons: tuple[str, ...]) -> MessageImage | None:
    n, key, begun, parent, is_shown, is_resumed, *more = row
    status, trust, source, shaped_by, is_accepted, _, *columns = more
    if columns[2] is None and columns[3] is None:
        columns[2] = begun  # An older version kept messages that had no time.
    message = schema.read_message(*columns)
    if message is None:
        return None
    said_at = message.timestamp or from_iso(schema.decode(begun))
    return MessageImage(
        n,
        schema.decode(key),
        parent,
        message,
        said_at,
        schema.decode(status).strip() or "complete",
        "user" if is_accepted else schema.decode(trust) or find_trust(message.role),
        None if source is None else schema.decode(source),
        None if shaped_by is None else json.loads(shaped_by),
        bool(is_shown),
        bool(is_resumed),
        reasons,
    )


def _write_message(one: MessageImage) -> tuple[Any, ...]:
    more = NewMessage(one.message, one.status, one.trust, one.source, one.shaped_by)
    columns = list(schema.to_row(one.message))
    columns[2] = to_iso(one.said_at)
    flags = int(one.is_shown), one.is_resumed or None, bool(one.reasons) or None
    return one.id, one.key, one.parent or None, *columns, *schema.to_more(more), *flags


class _FileDaily:
    name = "daily"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return days."""
        paths = self._folder.glob("*.md") if self._folder.is_dir() else ()
        days = sorted(one.stem for one in paths if read_day(one.stem) and one.stem > (after or ""))
        found = [make_day(date.fromisoformat(day), self._read(day)) for day in days]
        return [one for one in found if one.count][:limit]

    def _read(self, day: str) -> list[tuple[str, str | None]]:
        data = atomic.read(self._folder / f"{day}.md", atomic.MAX_PAGE_BYTES) or b""
        text = data.decode("utf-8-sig", "replace").removeprefix(f"# {day}\n").lstrip("\n")
        return [_read_note(lines) for lines in _split_notes(text)]

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Replace days."""
        atomic.make_folder(self._folder)
        for day in gone:
            with atomic.lock(self._folder / f"{day}.md") as file:
                file.remove()
        for part in parts:
            notes = "".join(line for note in part.value[1] for line in _write_note(*note))
            with atomic.lock(self._folder / f"{part.name}.md") as file:
                file.replace(f"# {part.name}\n\n{notes}".encode())


def _split_notes(text: str) -> list[list[str]]:
    """Return the lines of each note; what somebody wrote between notes is one, too."""
    notes: list[list[str]] = []
    for line in LINES.findall(text):
        if not notes or not (is_blank(line) or line[0] in " \t"):
            notes.append([])
        notes[-1].append(line)
    return notes


def _read_note(lines: Sequence[str]) -> tuple[str, str | None]:
    whole = "".join(lines)
    text = "".join(
        line
        for line in LINES.findall(markdown.without_comments(whole))
        if not (is_blank(line) and read_source(whole) is not None)
    )
    return text if text.endswith("\n") else f"{text}\n", read_source(whole)


def _write_note(text: str, source: str | None) -> list[str]:
    if source is None:
        return [text]
    return [f"{line}\n" for line in with_source(text.removesuffix("\n").split("\n"), source)]


class _Schedules:
    name = "schedules"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._results = path.with_name("results")

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:  # noqa: ARG002
        """Return all as one part."""
        if after is not None:
            return []
        return make_schedules(parse(atomic.read(self._path)).values(), self._read_results())

    def _read_results(self) -> dict[str, str]:
        folder = self._results
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        files = [one for one in paths if one.is_file() and not one.name.startswith(".")]
        return {one.name: (atomic.read(one) or b"").decode("utf-8", "replace") for one in files}

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:  # noqa: ARG002
        """Replace all."""
        known, results = parts[0].value if parts else ((), {})
        opaque_records = [schedules.to_json(one) for one in known]
        atomic.make_folder(self._path.parent)
        text = json.dumps(opaque_records, ensure_ascii=False, indent=2)
        with atomic.lock(self._path) as file:
            file.replace(f"{text}\n".encode())
        for name in self._read_results().keys() - results.keys():
            with atomic.lock(self._results / name) as file:
                file.remove()
        for name, result in results.items():
            atomic.make_folder(self._results)
            with atomic.lock(self._results / name) as file:
                file.replace(result.encode())


class _Learning:
    name = "learning"

    def __init__(self, path: Path) -> None:
        self._shelf = _Shelf(path, FORM)

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:  # noqa: ARG002
        """Return all as one part."""
        if after is not None:
            return []
        select = self._shelf.select
        extracted = select("SELECT key, extracted_at, cycle, cycle_since FROM conversations")
        return make_learning(
            {
                "queue": [
                    _read_queued(*row)
                    for row in select("SELECT key, record, token FROM queue ORDER BY n")
                ],
                "outbox": [
                    [name, key, json.loads(record), problem]
                    for name, key, record, problem in select(
                        "SELECT id, key, record, problem FROM outbox ORDER BY n"
                    )
                ],
                "sightings": [
                    json.loads(one) for (one,) in select("SELECT record FROM sightings ORDER BY n")
                ],
                "problems": [
                    _read_problem(*row) for row in select("SELECT key, record FROM problems")
                ],
                "last": {key: last for key, last, _, _ in extracted if last},
                "cycles": {key: [one, since] for key, _, one, since in extracted if one != "idle"},
                "calls": sorted(map(list, select("SELECT day, model, calls FROM spending"))),
                "tallies": sorted(map(list, select("SELECT day, name, amount FROM tallies"))),
                "formats": sorted(
                    map(list, select("SELECT url, model, json_format, since FROM json_formats"))
                ),
            }
        )

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:  # noqa: ARG002
        """Replace all."""
        body: Mapping[str, Any] = parts[0].value if parts else {}
        self._shelf.write(lambda database: _write_learning(database, body))


def _read_queued(key: str, record: bytes, token: str | None) -> list[object]:
    body = json.loads(record)
    attempts, unreadable = body.pop(ATTEMPTS, 0), body.pop(UNREADABLE, 0)
    # Nobody holds the copy, so that whoever holds the message has not tried that.
    is_held = token is not None and token != SET_ASIDE
    return [key, body, 0 if is_held else attempts, unreadable, token == SET_ASIDE]


def _read_problem(key: str, record: bytes) -> list[object]:
    body = json.loads(record)
    return [key, body["time"], body["text"], body.get("sources", [])]


def _write_learning(database: Connection, body: Mapping[str, Any]) -> None:
    tables = "queue outbox sightings problems conversations spending tallies json_formats"
    for table in tables.split():
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - of constants
    queued = [
        (
            key,
            _encode({**one, ATTEMPTS: attempts, UNREADABLE: unreadable}),
            SET_ASIDE if aside else None,
        )
        for key, one, attempts, unreadable, aside in body.get("queue", ())
    ]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "INSERT INTO queue (key, record, token) VALUES (?, ?, ?)": queued,
        "INSERT INTO outbox (id, key, record, problem) VALUES (?, ?, ?, ?)": [
            (name, key, _encode(one), problem) for name, key, one, problem in body.get("outbox", ())
        ],
        "INSERT INTO sightings (key, record) VALUES (?, ?)": [
            (one["conversation"], _encode(one)) for one in body.get("sightings", ())
        ],
        "INSERT INTO problems (key, record) VALUES (?, ?)": [
            (key, _encode({"time": time, "text": text, "sources": sources}))
            for key, time, text, sources in body.get("problems", ())
        ],
        "INSERT INTO conversations (key, extracted_at) VALUES (?, ?)": [
            *body.get("last", {}).items()
        ],
        """
        INSERT INTO conversations (key, cycle, cycle_since) VALUES (?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET cycle = excluded.cycle, cycle_since = excluded.cycle_since
        """: [(key, *one) for key, one in body.get("cycles", {}).items()],
        "INSERT INTO spending VALUES (?, ?, ?)": [tuple(one) for one in body.get("calls", ())],
        "INSERT INTO tallies VALUES (?, ?, ?)": [tuple(one) for one in body.get("tallies", ())],
        "INSERT INTO json_formats VALUES (?, ?, ?, ?)": [
            tuple(one) for one in body.get("formats", ())
        ],
    }
    for query, values in rows.items():
        database.executemany(query, values)


def _encode(body: object) -> bytes:
    return dumps(body).encode()


class _FileRecords:
    name = "records"

    def __init__(self, path: Path, now: Now) -> None:
        self.shelf = _Shelf(path, opaque_records.FORM)
        self._now = now

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return records by collection and key."""
        query = """
            SELECT collection, key, value, version, expires_at FROM records
            WHERE (collection, key) > (?, ?) AND (expires_at IS NULL OR expires_at > ?)
            ORDER BY collection, key LIMIT ?
        """
        place = split_record_name(after)
        # One of them may be the marker of the copy itself, which is no part of the space.
        rows = self.shelf.select(query, *place, to_iso(self._now()), limit + 1)
        found = [
            Record(collection, key, value, version, None if end is None else from_iso(end))
            for collection, key, value, version, end in rows
        ]
        return [make_record(one) for one in found if not is_marker(one.collection, one.key)][:limit]

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store records with their versions, and erase others."""
        new = [part.value for part in parts]
        rows = [
            (o.collection, o.key, o.value, o.version, o.expires_at and to_iso(o.expires_at))
            for o in new
        ]

        def work(database: Connection) -> None:
            query = "DELETE FROM records WHERE collection = ? AND key = ?"
            database.executemany(query, [*map(split_record_name, gone)])
            query = (
                "INSERT OR REPLACE INTO records (collection, key, value, version, expires_at) "
                "VALUES (?, ?, ?, ?, ?)"
            )
            database.executemany(query, rows)

        self.shelf.write(work, erases=bool(gone))


class _FileSettings(PortableSettings):
    def __init__(self, config: ConfigFile) -> None:
        super().__init__(config)
        self._path = config.path

    def read_values(self) -> Mapping[str, Any]:
        """Return what was set here."""
        values: Mapping[str, Any] = json.loads(
            (atomic.read(self._path) or b"{}").decode("utf-8-sig")
        )
        return values


class FilePortableSpace:
    """A space in a folder, to be copied."""

    def __init__(
        self,
        folder: DataFolder,
        config: ConfigFile,
        memory: MemoryStore,
        conversations: Path,
        now: Now,
    ) -> None:
        self._folder = folder
        self._config = config
        self._memory = memory
        self._now = now
        if conversations.suffix != ".db":
            message = (
                f"{conversations} keeps only the newest messages, so there is no complete "
                "history to copy; set conversationsLocation to a .db file first"
            )
            raise InvalidInput(message)
        self._messages = _Shelf(conversations, schema.FORM)
        self._records = _FileRecords(folder.records, now)

    def list_stores(self) -> Sequence[Portable]:
        """Return the stores in the order in which they are copied."""
        pending = PendingStore(self._memory, now=self._now)
        return (
            _FileSettings(self._config),
            _Facts("facts", self._memory, self._now),
            _Facts("pending", pending, self._now),
            # Before the messages, which are stored below their conversation.
            _FileConversations(self._messages),
            _FileMessages(self._messages),
            _FileDaily(self._folder.daily),
            _Schedules(self._folder.schedules),
            _Learning(self._folder.learning),
            self._records,
        )

    def read_numbers(self) -> Mapping[str, int]:
        """Return the last numbers that were given to messages and records."""
        said = self._messages.select("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        kept = self._records.shelf.select("SELECT last FROM versions")
        return {
            name: rows[0][0] if rows else 0
            for name, rows in (("messages", said), ("records", kept))
        }

    def finish(self, numbers: Mapping[str, int]) -> None:
        """Avoid numbers that were used elsewhere, and make derived values right."""
        state = self._memory.read_record_state()

        def finish_messages(database: Connection) -> None:
            # Without a message there is no row of theirs yet.
            database.execute(_BEGIN_NUMBERS)
            query = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'messages'"
            database.execute(query, (numbers["messages"],))
            database.execute(_MARK_VERSIONS)
            # Facts that were forgotten before have hidden their messages already.
            database.execute("DELETE FROM record")
            database.execute("INSERT INTO record (state) VALUES (?)", (state,))

        def finish_records(database: Connection) -> None:
            query = "UPDATE versions SET last = max(last, ?)"
            database.execute(query, (numbers["records"],))

        self._messages.write(finish_messages)
        self._records.shelf.write(finish_records)
