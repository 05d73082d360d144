"""What the rules of a language are made of, and how a clause is read by them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from turnleaf.core.candidates import Claim
from turnleaf.core.terms import date_terms, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PERSON = "\ue000"
"""What stands in a clause for "my wife" and the like, as rules see it."""

_PART = re.compile(r"(?<!P)<(\w+)>")
_NO_WORD = re.compile(r"[\"'「」『』()!?。~]|(?<!\d)[.:]|[.:](?!\w)")
_UNSPACED = re.compile(r"(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])")
_YEAR = re.compile(r"\d{4}|\d{2,3}(?=年)")
_ARTICLE = re.compile(r"^(?:(?:the|a|an|my|our|some|to) )+")


class Vocabulary:
    """Patterns with names, of which longer ones are made: `<day>` stands for that of "day"."""

    def __init__(self, spell: Callable[[str], str], words: Mapping[str, str]) -> None:
        self._spell = spell
        self._parts: dict[str, str] = {}
        for name, text in words.items():
            # Two spellings may become one; trying it twice doubles the work at every repetition.
            spelt = dict.fromkeys(map(spell, text.split()))
            self._parts[name] = f"(?:{'|'.join(spelt).replace('_', ' ')})"

    def define(self, parts: Mapping[str, str]) -> None:
        """Add patterns that are no mere lists of words."""
        self._parts |= parts

    def spelt(self, pattern: str) -> str:
        """Put the named patterns into one."""
        while _PART.search(pattern):
            pattern = _PART.sub(lambda part: self._parts[part[1]], pattern)
        return self._spell(pattern)

    def compile(self, pattern: str) -> re.Pattern[str]:
        """Make one pattern of the named ones; case does not matter in it."""
        return _compiled(self.spelt(pattern))

    def rule(
        self, category: str, attribute: str | None, pattern: str, value: str = "{value}"
    ) -> Rule:
        """Make the rule for a plain statement."""
        return Rule(self.spelt(pattern), category, attribute, value)

    def person(self, category: str, attribute: str | None, pattern: str) -> Rule:
        """Make the rule for a statement after which somebody may be spoken of."""
        name = "value" if attribute else "who"
        return Rule(self.spelt(pattern), category, attribute, about=("of", name))

    def change(
        self, category: str, attribute: str | None, pattern: str, value: str = "{value}"
    ) -> Rule:
        """Make the rule for a statement that something is no longer as it was."""
        spelt = self.spelt(pattern)
        return Rule(spelt, category, attribute, value, is_correction=True, is_dated=True)


# There are many rules, and a program that never reads a language need not wait for its rules.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """A way of stating a fact: what the clause looks like and which attribute that settles.

    The templates take the pattern's groups; `of` is "user" where the pattern names nobody else,
    and what `more` and `when` say belongs to the value.
    The groups `about` name somebody or something that the next clause may speak of.
    A fact that says when it began (`is_dated`) is no passing state because of it.
    """

    pattern: str
    category: str
    attribute: str | None = None
    value: str = "{value}"
    about: tuple[str, ...] = ()
    is_correction: bool = False
    is_dated: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one language states facts.

    A `gap` lies between two clauses, unless the first is a mere `lead`, or they are an `ended`
    one together. `never` marks a clause that states no fact, `stop` one after which
    the sentence states none, `passing` what holds only for a while. `tag` asks for a confirmation
    of what went before. `subject` is what a clause that begins with a `bare` verb or with a
    `pronoun` may take from an earlier one. `tidy` takes out of a clause what does not matter for
    its meaning; `told` turns how somebody else writes about the user into how the user says it.
    `gloss` puts the words of another language into this one.
    """

    rules: tuple[Rule, ...]
    person: re.Pattern[str]
    gap: re.Pattern[str]
    ended: re.Pattern[str]
    lead: re.Pattern[str]
    filler: re.Pattern[str]
    particle: re.Pattern[str]
    never: re.Pattern[str]
    stop: re.Pattern[str]
    passing: re.Pattern[str]
    tag: re.Pattern[str]
    change: re.Pattern[str]
    subject: re.Pattern[str]
    bare: re.Pattern[str]
    pronoun: re.Pattern[str]
    tidy: tuple[tuple[re.Pattern[str], str], ...]
    told: tuple[tuple[re.Pattern[str], str], ...]
    same_words: Mapping[str, str]
    my: str
    gloss: Callable[[str], str] = str

    def claim(self, said: str) -> Claim | None:
        """Read a clause; None when it states no lasting fact."""
        said = self.gloss(said)
        if self.never.search(said):
            return None
        tidied = self._tidied(said)
        is_passing = self.passing.search(tidied) is not None
        person = self.person.search(tidied)
        clause = self.person.sub(PERSON, tidied, count=1)
        for rule in self.rules:
            if is_passing and not rule.is_dated:
                continue
            found = _compiled(rule.pattern).fullmatch(clause)
            if found:
                return self._claim(rule, found, person)
        return None

    def key(self, words: str) -> str:
        """Give one spelling for what is called or written in several ways."""
        text = " ".join(_NO_WORD.sub(" ", fold(words).replace("、", ",")).split()).strip(" ,")
        text = _ARTICLE.sub("", _UNSPACED.sub("", text)).replace("的", "")
        return self.same_words.get(text, text)

    def _tidied(self, said: str) -> str:
        for pattern, replacement in self.tidy:
            said = pattern.sub(replacement, said)
        return said.strip(" ,")

    def _claim(self, rule: Rule, found: re.Match[str], person: re.Match[str] | None) -> Claim:
        groups = _groups(found, person)
        keys = dict.fromkeys(found.groupdict(), "") | {"of": "user", "value": ""}
        keys |= {name: self.key(words) for name, words in groups.items()}
        if "date" in groups:
            keys["value"] = _day(keys["date"]) or keys["date"]
        details = (keys[name] for name in ("more", "when") if keys.get(name))
        value = " ".join((rule.value.format(**keys), *details))
        return Claim(
            category=rule.category,
            attribute=rule.attribute.format(**keys) if rule.attribute else None,
            value=f"not {value}" if "no" in groups else value,
            about=_about(rule, groups, person),
            is_correction=rule.is_correction,
        )


def _day(words: str) -> str:
    """Give a day of the year in one notation; empty when the words do not name one."""
    days = {term for term in date_terms(words) if term.endswith("日")}
    return " ".join((*days, *_YEAR.findall(words))) if len(days) == 1 else ""


def _about(rule: Rule, groups: Mapping[str, str], person: re.Match[str] | None) -> tuple[str, ...]:
    """Name whom a clause is about, if that is somebody else than the user."""
    names = rule.about or (("of", "who") if person and person["of"] == groups.get("of") else ())
    return tuple(groups[name] for name in names if name in groups)


def _groups(found: re.Match[str], person: re.Match[str] | None) -> dict[str, str]:
    """Give the parts of a clause that a rule has named, with the person in their own words."""
    groups = _said(found)
    if person is None:
        return groups
    groups = {name: words.replace(PERSON, person[0]) for name, words in groups.items()}
    is_subject = PERSON in found[0] and PERSON not in _said(found).get("value", "")
    return {**(_said(person) if is_subject else {}), **groups}


def _said(found: re.Match[str]) -> dict[str, str]:
    return {name: words for name, words in found.groupdict().items() if words}
