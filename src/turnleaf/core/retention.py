"""For how long messages are kept, and how to change that: one wording for every program."""

from __future__ import annotations

from dataclasses import dataclass

from turnleaf.core.languages.language import DEFAULT, choose_language
from turnleaf.core.languages.replies import FILE, words_in
from turnleaf.core.plurals import pluralize


@dataclass(frozen=True, slots=True)
class Retention:
    """For how many days a store keeps its messages; None: forever, 0: only what a window shows.

    A store that cannot keep everything has only the window, whatever the days.
    """

    keeps_everything: bool
    days: int | None = None

    @property
    def span(self) -> str:
        """The span in a word for programs: "forever", "N days" or "window"."""
        if not self.keeps_everything or self.days == 0:
            return "window"
        return "forever" if self.days is None else pluralize(self.days, "day")

    def describe(self, language: str = DEFAULT) -> str:
        """Return the span in words for people."""
        words = words_in(language, "keeping")
        if self.span in words:
            return words[self.span]
        return words["one_day"] if self.days == 1 else words["days"].format(self.days)

    def announce(self, location: object, wanted: str = DEFAULT) -> str:
        """Return in one line what is kept from now on, where, and how to change that.

        That is in the language that is `wanted`, if we have it.
        """
        language = choose_language(wanted, FILE).name
        said = words_in(language, "keeping")["announced"].format(self.describe(language), location)
        return said[:1].upper() + said[1:]
