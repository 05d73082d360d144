"""The report of `doctor`: what the stores report of themselves, and which parts are at work."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from turnleaf import __version__, search
from turnleaf.core.examination import Diagnosis
from turnleaf.core.plurals import pluralize
from turnleaf.core.times import to_iso
from turnleaf.errors import SettingsError, StorageError
from turnleaf.llm import embeddings, models
from turnleaf.settings import SETTINGS, Settings
from turnleaf.store import vocabulary
from turnleaf.store.files.config import read_settings
from turnleaf.store.opening import examine_stores

if TYPE_CHECKING:
    from turnleaf.core.examination import LearningFigures, Row
    from turnleaf.settings import DataFolder


def make_doctor_report(folder: DataFolder) -> dict[str, Any]:
    """Describe the folder, the parts at work and every problem; nothing is created or changed."""
    settings, limits, unusable = _find_settings(folder)
    searching, unsearchable = _describe_search(settings)
    found = examine_stores(folder, settings)
    problems = dict.fromkeys([*unusable, *unsearchable, *found.findings])
    return {
        "versions": _find_versions(),
        "dataFolder": {
            "path": str(folder.path),
            "why": folder.why,
            "exists": folder.path.is_dir(),
        },
        "files": [_to_json(row) for row in found.rows],
        "limits": limits,
        "parts": {
            "search": searching,
            "embeddings": embeddings.describe(settings),
            "tokens": vocabulary.describe(),
            "model": models.describe(settings),
            "kept": found.retention.describe() if found.retention else "not possible",
            "learning": _describe_learning(settings, found.learning),
        },
        "lastError": _describe_error(found.learning),
        "problems": [asdict(problem) for problem in problems],
    }


def _find_versions() -> dict[str, str]:
    return {
        "turnleaf": __version__,
        "python": platform.python_version(),
        "sqlite": f"{version('apsw').rpartition('.')[0]} (apsw)",
        "platform": platform.platform(),
    }


def _find_settings(folder: DataFolder) -> tuple[Settings, list[dict[str, Any]], list[Diagnosis]]:
    """Return the settings, what to show of them, and why they are only the defaults, if so."""
    try:
        settings = read_settings(folder)
    except (SettingsError, StorageError) as error:
        return Settings(), [], [Diagnosis("error", str(error))]
    limits = [
        {
            "name": setting.variable,
            "value": getattr(settings, setting.field),
            "from": settings.sources.get(setting.field, "default"),
            "meaning": setting.meaning,
        }
        for setting in SETTINGS
    ]
    return settings, limits, []


def _describe_search(settings: Settings) -> tuple[str, list[Diagnosis]]:
    try:
        described = search.describe(settings)
        fault = search.find_fault(settings)
    except SettingsError as error:
        return "not possible", [Diagnosis("error", str(error))]
    message = f"the search goes by words alone: {fault}"
    return described, [Diagnosis("warning", message)] if fault else []


def _describe_learning(settings: Settings, figures: LearningFigures | None) -> str:
    if figures is None:
        return f"{_describe_learner(settings)}; nothing yet"
    most = settings.extract_daily_calls
    said = [
        _describe_learner(settings),
        _describe_json_format(settings, figures),
        f"{pluralize(figures.calls, 'call')} of a model today, {most:,} at most",
    ]
    if figures.skipped:
        said.append(f"{pluralize(figures.skipped, 'fact')} of its answers skipped")
    if figures.given_up:
        said.append(f"{pluralize(figures.given_up, 'message')} given up as unreadable")
    return "; ".join(filter(None, said))


def _describe_learner(settings: Settings) -> str:
    if not settings.learns:
        return "switched off"
    try:
        model = models.find_extractor(settings)
    except SettingsError as error:
        return f"not possible ({error})"
    return f"by rules and by {model.name}" if model else "by rules"


def _describe_json_format(settings: Settings, figures: LearningFigures) -> str | None:
    try:
        model = models.find_extractor(settings)
    except SettingsError:
        return None  # It is reported with the model.
    return models.describe_json_format(model, figures.json_formats) if model else None


def _describe_error(figures: LearningFigures | None) -> dict[str, str] | None:
    error = figures.last_error if figures else None
    if error is None:
        return None
    return {"time": to_iso(error.time), "conversation": error.key, "message": error.text}


def _to_json(row: Row) -> dict[str, Any]:
    return {"name": row.name, "path": row.location, "bytes": row.bytes, "holds": row.holds}
