"""Looks at everything in a data folder: what was found, and what is wrong with it."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from turnleaf import __version__, keeping, search
from turnleaf.core import shelf
from turnleaf.core.schedules import seen
from turnleaf.core.times import to_iso
from turnleaf.core.wording import counted
from turnleaf.errors import (
    CorruptFile,
    InvalidInput,
    SettingsError,
    StorageError,
    TurnleafError,
)
from turnleaf.llm import embeddings, models
from turnleaf.settings import CONFIG_NAME, SETTINGS, Settings
from turnleaf.store import conversations_db, databases, files, journal, takeover, vocabulary
from turnleaf.store.conversations import SHELVES
from turnleaf.store.daily import DailyLog, local_now
from turnleaf.store.index_database import COMPANIONS
from turnleaf.store.learning import GIVEN_UP, SKIPPED, LearningStore
from turnleaf.store.memories import utc_now
from turnleaf.store.memory_file import MemoryFile
from turnleaf.store.schedules import parsed
from turnleaf.store.unimported import describe_unimported

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.schedules import Schedule
    from turnleaf.settings import DataFolder

MOST_LINES = 10_000
"""So many changes are looked at; when there are more, the older ones were once among them."""
IN_A_CHANGE = {"n", "time", "op", "file"}
LATE = timedelta(minutes=1)
"""So long after its time nobody seems to run what is due."""
UNHAPPY = {"failed", "interrupted", "missed"}
SET_ASIDE = ("*.corrupt-*", "*.conflict-*")


@dataclass
class Report:
    """What was found so far."""

    files: list[dict[str, Any]] = field(default_factory=list)
    limits: list[dict[str, Any]] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    search: str = "not possible"
    learning: str = "nothing yet"
    json_format: str | None = None
    kept: str = "not possible"
    last_error: dict[str, str] | None = None
    problems: list[dict[str, str]] = field(default_factory=list)

    def error(self, message: str) -> None:
        """Note what stops turnleaf from working, once."""
        problem = {"level": "error", "message": message}
        if problem not in self.problems:
            self.problems.append(problem)

    def warning(self, message: str) -> None:
        """Note what somebody should look at."""
        self.problems.append({"level": "warning", "message": message})


def checkup(folder: DataFolder) -> dict[str, Any]:
    """Describe the folder, the parts at work and every problem; nothing is created or changed."""
    return _described(folder, _examined(folder))


def _examined(folder: DataFolder) -> Report:
    """Look at everything in the data folder."""
    report = Report()
    settings = report.settings = _settings(folder, report)
    try:
        report.search = search.describe(settings)
        fault = search.find_fault(settings)
        if fault:
            report.warning(f"the search goes by words alone: {fault}")
    except SettingsError as error:
        report.error(str(error))
    memory, conversations = folder.memory(settings), folder.conversations(settings)
    for look, path in (
        *((_look_at_folder, one) for one in (folder.path, memory.parent, folder.daily)),
        (_look_at_folder, conversations.parent),
        (_look_at_memory, memory),
        (_look_at_changes, memory.with_name(journal.NAME)),
        (_look_at_days, folder.daily),
        (_look_at_conversations, conversations),
        (_look_for_older, conversations),
        (_look_at_schedules, folder.schedules),
        (_look_at_index, folder.index),
        (_look_at_config, folder.path / CONFIG_NAME),
        (_look_at_learning, folder.learning),
        *((_look_for_leftovers, one) for one in _with_leftovers(folder, settings)),
        *((_look_at_other_folder, other) for other in folder.others),
    ):
        try:
            look(path, report)
        except OSError as error:
            report.error(f"cannot read {path}: {error.strerror}; check its permissions")
        except StorageError as error:
            report.error(str(error))
    _look_for_unimported(folder, report)
    return report


def _with_leftovers(folder: DataFolder, settings: Settings) -> list[Path]:
    """Name the folders of the files that are set aside when they cannot be used."""
    stores = (folder.memory(settings), folder.conversations(settings), folder.schedules)
    return sorted({one.parent for one in stores})


def _settings(folder: DataFolder, report: Report) -> Settings:
    try:
        _refuse_odd(folder.path / CONFIG_NAME)
        settings = Settings.load(folder.path)
        for location in (folder.memory, folder.conversations):
            location(settings)
    except (SettingsError, StorageError) as error:
        report.error(str(error))
        return Settings()
    for setting in SETTINGS:
        report.limits.append(
            {
                "name": setting.variable,
                "value": getattr(settings, setting.field),
                "from": settings.sources.get(setting.field, "default"),
                "meaning": setting.meaning,
            }
        )
    return settings


def _look_at_folder(path: Path, report: Report) -> None:
    there = next(place for place in (path, *path.parents) if place.exists())
    if not there.is_dir():
        report.error(f"{there} is a file, but a folder is needed; choose another data folder")
    elif path == there and not os.access(path, os.R_OK | os.X_OK):
        report.error(f"{path} cannot be read; check who owns it and its permissions")
    elif not os.access(there, os.W_OK | os.X_OK):
        report.error(f"{there} cannot be written to; check who owns it and its permissions")


def _look_at_memory(path: Path, report: Report) -> None:
    try:
        form = MemoryFile(path, utc_now).format
    except InvalidInput as error:
        report.error(f"the memory cannot be at {path}: {error}")
        return

    def described() -> str:
        text = _text(path, files.MAX_PAGE_BYTES)
        facts = form.parse(text, files.modified(path)).facts
        chars = sum(len(fact.memory.content) for fact in facts)
        return f"{counted(len(facts), 'fact')}, {counted(chars, 'character')}"

    _look_at_file("memory", path, described, report)


def _look_for_unimported(folder: DataFolder, report: Report) -> None:
    with suppress(TurnleafError, OSError):  # What cannot be read is reported where it is looked at.
        notice = describe_unimported(folder, report.settings)
        if notice:
            report.warning(notice)


def _look_at_conversations(path: Path, report: Report) -> None:
    if path.suffix not in SHELVES:
        known = " or ".join(SHELVES)
        report.error(f"the conversations' location {path} must end in {known}; correct it")
        return

    def described() -> str:
        if path.suffix != ".db":
            return counted(len(shelf.parse(_text(path))), "conversation")
        return keeping.describe_figures(conversations_db.examine(path))

    _look_at_file("conversations", path, described, report)
    report.kept = keeping.describe_span(keeping.find_span(path, report.settings))
    if path.suffix != ".db":
        report.warning(
            f"history is short: {path} keeps {report.kept}; to keep every message, name a .db file "
            "(turnleaf config conversationsLocation) or unset the location"
        )


def _look_for_older(location: Path, report: Report) -> None:
    """Report what an older version left beside a database, and beside a file as well."""
    folder = location.parent
    waiting = takeover.list_older(folder)
    if location.suffix == ".db":
        for path in waiting:
            report.warning(f"{path} is of an older version; the next command takes it over")
    elif (folder / takeover.ARCHIVE) in {path.parent for path in waiting}:
        report.warning(
            f"{folder / takeover.ARCHIVE} is of an older version, and nobody reads it any more; "
            "conversations in a .db file take it over"
        )
    copies, size = takeover.describe_backups(folder)
    if copies:
        holds = f"{counted(copies, 'file')} of an older version, taken over since; yours to delete"
        report.files.append(_row("older files", folder, size, holds))


def _look_at_days(path: Path, report: Report) -> None:
    holds = "not there yet"
    if path.is_dir():
        is_readable = os.access(path, os.R_OK | os.X_OK)
        holds = counted(len(DailyLog(path).dates()), "day") if is_readable else "cannot be read"
    report.files.append(_row("daily log", path, None, holds))


def _look_at_schedules(path: Path, report: Report) -> None:
    now = utc_now()

    def described() -> str:
        known = parsed(files.read(path)).values()
        for one in known:
            _look_at_schedule(one, now, report)
        paused = sum(one.is_paused for one in known)
        return counted(len(known), "schedule") + (f", {paused} of them paused" if paused else "")

    _look_at_file("schedules", path, described, report)


def _look_at_schedule(one: Schedule, now: datetime, report: Report) -> None:
    name = f"the schedule {one.name or one.id}"
    last = seen(one.runs[-1], now) if one.runs else None
    if last and last.state in UNHAPPY:
        why = last.error or last.state
        report.warning(f"the last run of {name} (due {to_iso(last.due)}): {last.state}; {why}")
    if one.next_due and one.is_due(now - LATE) and not one.is_running(now):
        program = "turnleaf slack" if one.kind == "slack" else "turnleaf serve"
        report.warning(
            f"{name} is due since {to_iso(one.next_due)}, but no program runs it; start {program}"
        )


def _look_at_changes(path: Path, report: Report) -> None:
    try:
        _refuse_odd(path)
        lines = (files.read(path) or b"").split(b"\n")[:-1]
    except StorageError as error:
        report.error(str(error))
        return
    older = max(0, len(lines) - MOST_LINES)
    newest = enumerate(lines[older:], older + 1)
    bad = [number for number, line in newest if not _is_change(line)]
    if bad:
        report.warning(
            f"{counted(len(bad), 'line')} of {path} cannot be read, line {bad[0]} first; undo and "
            "why know nothing of them; correct them or delete them"
        )


def _is_change(line: bytes) -> bool:
    try:
        return not line.strip() or json.loads(line).keys() >= IN_A_CHANGE
    except (AttributeError, ValueError, RecursionError):
        return False


def _look_at_file(name: str, path: Path, count: Callable[[], str], report: Report) -> None:
    size, holds = None, "not there yet"
    try:
        if path.exists():
            size, holds = databases.measure(path), "cannot be used"
            _refuse_odd(path)
            holds = count()
            if not os.access(path, os.W_OK):
                report.error(f"{path} cannot be changed; check who owns it and its permissions")
    except StorageError as error:
        holds = "cannot be read"
        report.error(str(error))
    except (CorruptFile, UnicodeDecodeError) as error:
        why = " ".join(str(error).split())
        report.error(
            f"{path} cannot be used ({why}); correct it, or it will be kept as "
            f"{path.name}.corrupt-TIME by the next command that needs it"
        )
    report.files.append(_row(name, path, size, holds))


def _text(path: Path, max_bytes: int | None = None) -> str:
    return (files.read(path, max_bytes) or b"").decode("utf-8-sig")


def _refuse_odd(path: Path) -> None:
    """Refuse what is no file, such as a pipe, on which reading would wait for ever."""
    if os.access(path, os.F_OK) and not path.is_file():
        message = f"{path} is no ordinary file; move it away"
        raise StorageError(message)


def _row(name: str, path: Path, size: int | None, holds: str) -> dict[str, Any]:
    return {"name": name, "path": str(path), "bytes": size, "holds": holds}


def _look_for_leftovers(folder: Path, report: Report) -> None:
    for path in sorted(path for name in SET_ASIDE for path in folder.glob(name)):
        report.warning(
            f"{path} was set aside because it could not be used; "
            "take over from it what you need, then delete it"
        )


def _look_at_index(path: Path, report: Report) -> None:
    parts = [path, *(path.with_name(path.name + suffix) for suffix in COMPANIONS)]
    size = sum(part.stat().st_size for part in parts if part.is_file())
    holds = f"{size:,} bytes, made from the other files" if size else "made by the first search"
    report.files.append(_row("search index", path, size or None, holds))


def _look_at_config(path: Path, report: Report) -> None:
    holds = "there" if path.exists() else "none, and none is needed"
    report.files.append(_row("settings", path, None, holds))


def _look_at_other_folder(path: Path, report: Report) -> None:
    names = ("prompts/memory/MEMORY.md", "memories.json", "conversations", CONFIG_NAME)
    if any((path / name).exists() for name in names):
        report.warning(
            f"there is a second data folder at {path}, which is not used; "
            "--data-dir or TURNLEAF_DATA_DIR chooses between them"
        )


def _look_at_learning(path: Path, report: Report) -> None:
    if not path.exists():
        report.files.append(_row("learning", path, None, "not there yet"))
        return
    store = LearningStore(path)
    try:
        _refuse_odd(path)
        waiting = sum(store.backlog().values())
        calls = sum(store.spent(local_now().date()).values())
        tallies = store.tallies(local_now().date())
        problems = sorted({one.problem for one in store.outbox() if one.problem})
        error = store.last_error()
        aside = store.set_aside()
        report.json_format = _json_format(report.settings, store)
    except (StorageError, CorruptFile) as unreadable:
        report.error(str(unreadable))
        return
    finally:
        store.close()
    holds = f"{counted(waiting, 'message')} to learn from"
    report.files.append(_row("learning", path, path.stat().st_size, holds))
    most = report.settings.extract_daily_calls
    report.learning = f"{counted(calls, 'call')} of a model today, {most:,} at most"
    if tallies.get(SKIPPED):
        report.learning += f"; {counted(tallies[SKIPPED], 'fact')} of its answers skipped"
    if tallies.get(GIVEN_UP):
        report.learning += f"; {counted(tallies[GIVEN_UP], 'message')} given up as unreadable"
    for one in aside:
        said = one.queued.message.timestamp
        report.warning(
            f"a message of {one.key}{f' ({to_iso(said)})' if said else ''} was set aside: learning"
            " from it was cut off twice; turnleaf forget --conversation erases it with the rest"
        )
    for problem in problems:
        report.warning(f"something was learnt and could not be kept: {problem}")
    if error:
        report.last_error = {
            "time": to_iso(error.time), "conversation": error.key, "message": error.text,
        }  # fmt: skip
        report.warning(f"learning failed and will be tried again: {error.text}")


def _described(folder: DataFolder, report: Report) -> dict[str, Any]:
    settings = report.settings
    return {
        "versions": {
            "turnleaf": __version__,
            "python": platform.python_version(),
            "sqlite": f"apsw {version('apsw')}",
            "platform": platform.platform(),
        },
        "dataFolder": {
            "path": str(folder.path),
            "why": folder.why,
            "exists": folder.path.is_dir(),
        },
        "files": report.files,
        "limits": report.limits,
        "parts": {
            "search": report.search,
            "embeddings": embeddings.describe(settings),
            "tokens": vocabulary.describe(),
            "model": models.describe(settings),
            "kept": report.kept,
            "learning": "; ".join(
                filter(None, (_learner(settings), report.json_format, report.learning))
            ),
        },
        "lastError": report.last_error,
        "problems": report.problems,
    }


def _learner(settings: Settings) -> str:
    if not settings.enabled or not settings.auto_extract:
        return "switched off"
    try:
        model = models.find_extractor(settings)
    except SettingsError as error:
        return f"not possible ({error})"
    return f"by rules and by {model.name}" if model else "by rules"


def _json_format(settings: Settings, store: LearningStore) -> str | None:
    with suppress(SettingsError):  # It is reported with the model.
        model = models.find_extractor(settings)
        return models.describe_json_format(model, store) if model else None
    return None
