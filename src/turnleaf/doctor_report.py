"""The report of `doctor`: what the stores report of themselves, and which parts are at work."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from turnleaf import __version__
from turnleaf.core.diagnosis import Diagnosis
from turnleaf.core.languages import pluralize
from turnleaf.core.serialization import to_iso
from turnleaf.errors import SettingsError, StorageError
from turnleaf.llm import discovery, embeddings, models
from turnleaf.settings import SETTINGS, Settings
from turnleaf.store import token_vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.diagnosis import LearningFigures, Row
    from turnleaf.store.contracts import Stores


def make_doctor_report(stores: Stores, problems: Sequence[Diagnosis] = ()) -> dict[str, Any]:
    """Describe the place, the parts at work and every problem; nothing is created or changed.

    `problems` are those of opening the stores.
    """
    settings, limits, unusable = _find_settings(stores)
    searching, unsearchable = _describe_search(settings)
    found = stores.examine()
    place = found.place or stores.find_place()
    silent = [Diagnosis("error", fault)] if (fault := discovery.find_fault(settings)) else []
    reported = dict.fromkeys([*unusable, *problems, *unsearchable, *silent, *found.findings])
    return {
        "versions": _find_versions(),
        "dataFolder": {
            "path": place.location,
            "why": place.why,
            "exists": place.exists,
        },
        "files": [_to_json(row) for row in found.rows],
        "limits": limits,
        "parts": {
            "search": searching,
            "embeddings": embeddings.describe(settings),
            "tokens": token_vocabulary.describe(),
            "model": models.describe(settings),
            "words": models.describe_destinations(settings)[1],
            "kept": found.retention.describe() if found.retention else "not available",
            "learning": _describe_learning(settings, found.learning),
        },
        "lastError": _describe_error(found.learning),
        "problems": [asdict(problem) for problem in reported],
    }


def _find_versions() -> dict[str, str]:
    return {
        "turnleaf": __version__,
        "python": platform.python_version(),
        "sqlite": f"{version('apsw').rpartition('.')[0]} (apsw)",
        "platform": platform.platform(),
    }


def _find_settings(stores: Stores) -> tuple[Settings, list[dict[str, Any]], list[Diagnosis]]:
    """Return the settings, what to show of them, and why they are only the defaults, if so."""
    try:
        settings = stores.config.load()
    except (SettingsError, StorageError) as error:
        # A folder whose settings cannot be used has to be examined as well, so the defaults stand
        # in.
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
        described = embeddings.describe_search(settings)
        fault = embeddings.find_search_fault(settings)
    except SettingsError as error:
        return "not available", [Diagnosis("error", str(error))]
    message = f"search uses words only: {fault}"
    return described, [Diagnosis("warning", message)] if fault else []


def _describe_learning(settings: Settings, figures: LearningFigures | None) -> str:
    if figures is None:
        return f"{_describe_learner(settings)}; nothing learned yet"
    most = settings.extract_daily_calls
    said = [
        _describe_learner(settings),
        _describe_json_format(settings, figures),
        f"{pluralize(figures.calls, 'model call')} today, {most:,} at most",
    ]
    if figures.skipped:
        said.append(f"{pluralize(figures.skipped, 'fact')} in its answers skipped")
    if figures.given_up:
        said.append(
            f"{pluralize(figures.given_up, 'message')} given up because no answer could be read"
        )
    return "; ".join(filter(None, said))


def _describe_learner(settings: Settings) -> str:
    if not settings.learns:
        return "switched off"
    try:
        model = models.find_extractor(settings)
    except SettingsError as error:
        return f"not available ({error})"
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
