"""The sentence that a fact is written down in, and the heading that it stands under."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from turnleaf.core.languages.detection import detect_language
from turnleaf.core.languages.language import choose_language, find_languages, get_language
from turnleaf.core.learning.slots import SOME_TIME, USER, slots
from turnleaf.core.learning.speech import one_spelling
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date

    from turnleaf.core.learning.slots import Statement

_FILE = "statements.toml"
_NO_TIME = lazy_pattern(r" ?(?:\(\)|（）)")


def write_fact(statement: Statement, said_on: date, message: str = "") -> str:
    """Return the fact that a statement makes, in its language and the script of the message."""
    language = get_language(statement.language)
    words = language.slots[statement.slot]
    template = words.say if statement.subject == USER else words.say_other or words.say
    fact = template.format(
        value=statement.value,
        kind=statement.kind_text or statement.kind,
        subject=statement.subject_text,
        month=_month_of(statement, said_on),
        year=f"{said_on:%Y}",
        **language.agreement(statement.subject),
    )
    fact = _NO_TIME.sub("", fact)
    if not statement.value.isascii():
        # Chinese sets a number in digits apart, and not one in characters.
        fact = fact.replace(f" {statement.value} ", statement.value)
    detected = detect_language(message or statement.value)
    return simplify(fact) if detected.is_simplified else fact


def category_of(statement: Statement, used: Collection[str] = ()) -> str:
    """Return the heading under which a fact stands: one that is `used` already, in any language."""
    return _choose_heading(statement.slot, statement.language, used)


def heading_of(slot: str, language: str, used: Collection[str] = ()) -> str:
    """Return the heading for facts of a slot, for text in a language."""
    return _choose_heading(slot, choose_language(language, _FILE).name, used)


def _choose_heading(slot: str, folder: str, used: Collection[str]) -> str:
    category = slots()[slot].category
    folders = (folder, *find_languages(_FILE))
    known = [get_language(name).categories for name in folders]
    headings = [categories[category] for categories in known if category in categories]
    return next((one for one in headings if one in used), headings[0])


def _month_of(statement: Statement, said_on: date) -> str:
    """Return the month in which something happened, or what was said of when that was."""
    ago = get_language(statement.language).ago
    when = one_spelling(statement.when).lower()
    if when and when not in ago:
        return "" if when == SOME_TIME else statement.when
    unit, count = ago.get(when, ("month", 0))
    if unit == "year":
        return f"{said_on.year - count}"
    if unit == "day":
        return f"{said_on - timedelta(days=count):%Y-%m}"
    months = said_on.year * 12 + said_on.month - 1 - count
    return f"{months // 12}-{months % 12 + 1:02}"
