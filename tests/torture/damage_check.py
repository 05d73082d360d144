"""A program that opens damaged files and says what it did to them that it should not.

    python -m tests.torture.damage_check DAMAGES.json

DAMAGES.json is a list of [KIND, FOLDER, NAME]. FOLDER holds folders, each with a sound store in
which the file NAME was damaged, and beside each a file FOLDER.original with the damaged bytes.
Prints complaints as JSON.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from contextlib import closing
from pathlib import Path

import apsw

from tests.torture.checker import next_step
from tests.torture.subjects import LOGGER, Subject, open_subject
from tests.torture.worker import failure

MARK = re.compile(rb"w\d+k\d+ v\d+")
ATTEMPTS = 2
GONE = "gone after the next write"


class WarningLog(logging.Handler):
    """Keeps what was warned of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def check(kind: str, folder: Path, name: str, heard: WarningLog) -> list[str]:
    damaged = folder.with_suffix(".original").read_bytes()
    heard.messages.clear()
    complaints: list[str] = []
    subject = open_or_complain(kind, folder, complaints)
    if subject is None:
        return [*complaints, "it never opens again"]
    before, said = use(subject)
    subject.close()
    if name.endswith(".db") and not is_sound(damaged):
        # SQLite has no checksums: it may write on in a page whose structure was damaged.
        said = [complaint for complaint in said if not complaint.startswith(GONE)]
    return complaints + said + find_discarded(folder, name, damaged, heard, before)


def open_or_complain(kind: str, folder: Path, complaints: list[str]) -> Subject | None:
    for _ in range(ATTEMPTS):
        try:
            return open_subject(kind, folder)
        except Exception as error:
            if failure(error).startswith("raw"):
                complaints.append(f"at opening: {failure(error)}")
    return None


def use(subject: Subject) -> tuple[list[str], list[str]]:
    """Read, write, read; return what was read first, and complaints.

    The first call may say that the file is damaged.
    """
    complaints = []
    before: list[str] = []
    for attempt in range(1, ATTEMPTS + 1):
        try:
            before = subject.list_texts()
            subject.perform(next_step(0))
            after = subject.list_texts()
        except Exception as error:
            if attempt == ATTEMPTS or failure(error).startswith("raw"):
                complaints.append(f"in use: {failure(error)}")
        else:
            missing = [text for text in [*before, next_step(0).text] if text not in after]
            complaints += [f"{GONE}: {text[:60]!r}" for text in missing]
            break
    return before, complaints


def is_sound(damaged: bytes) -> bool:
    """Whether SQLite itself finds nothing wrong with a database."""
    with closing(apsw.Connection(":memory:")) as database:
        try:
            database.deserialize("main", damaged)
            return bool(database.pragma("integrity_check") == "ok")
        except apsw.Error:
            return False


def find_discarded(
    folder: Path, name: str, damaged: bytes, heard: WarningLog, before: list[str]
) -> list[str]:
    """Return which damaged bytes are neither set aside with a warning nor in the file."""
    aside = sorted(folder.rglob(f"{Path(name).name}.*"))
    copies = [path for path in aside if path.read_bytes() == damaged]
    if copies:
        named = any(path.name in message for path in copies for message in heard.messages)
        return [] if named else [f"no warning names {copies[0].name}: {heard.messages}"]
    now = (folder / name).read_bytes() if (folder / name).exists() else b""
    lost = set(MARK.findall(damaged)) - set(MARK.findall(now))
    if lost:
        return [f"discarded: {sorted(lost)[:3]} ({len(lost)})"]
    known = entries(damaged) if name.endswith(".json") else 0
    return [f"of {known} entries {len(before)} are read"] if len(before) < known else []


def entries(damaged: bytes) -> int:
    """How many facts or exchanges a JSON file holds, as far as it is one."""
    try:
        document = json.loads(damaged)
    except (ValueError, RecursionError):
        return 0
    if isinstance(document, list):
        return len(document)
    try:
        return sum(len(each["messages"]) for each in document["conversations"].values()) // 2
    except (AttributeError, KeyError, TypeError):
        return 0


def main() -> None:
    heard = WarningLog()
    logger = logging.getLogger(LOGGER)
    logger.addHandler(heard)
    logger.propagate = False
    answers = {
        str(place): check(kind, place, name, heard)
        for kind, folder, name in json.loads(Path(sys.argv[1]).read_text())
        for place in sorted(Path(folder).iterdir())
        if place.is_dir()
    }
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
