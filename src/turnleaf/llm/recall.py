"""`recall`: no model at all. It answers with what is remembered, and says where that stands."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from functools import partial
from typing import TYPE_CHECKING

from turnleaf.core.languages.replies import choose_words
from turnleaf.core.languages.words import find_pattern
from turnleaf.core.learning.dates import make_dates_absolute
from turnleaf.core.learning.findings import find_sure_facts
from turnleaf.core.loading import make_pattern
from turnleaf.core.model_dialogue import Text
from turnleaf.core.recall.questions import asks
from turnleaf.core.search.message_filters import is_small_talk
from turnleaf.core.search.terms import simplify
from turnleaf.core.secrets import mask_fact
from turnleaf.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from turnleaf.core.memories import Memory
    from turnleaf.core.model_dialogue import Prompt, Toolbox
    from turnleaf.core.search.ranking import Hit

MOST_FACTS = 60
"""So many facts are listed; the rest are counted."""
MOST_DAYS = 2
"""The days of one expression: from one to another."""
_DAY = make_pattern(r"\d{4}-\d\d-\d\d")
TALK = ("hello", "help", "thanks", "bye")


class RecallModel:
    """Answers from memory alone."""

    name = "recall"

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Text]:  # noqa: ARG002 - the protocol's
        """Quote what was found, with dates and where it stands."""
        earlier = [one.text for one in prompt.messages[:-1] if one.role == "user"]
        words = choose_words(prompt.question, "recall", earlier=earlier)
        # The first that has an answer counts: a greeting is not searched for, and a new statement
        # is noted before older ones that it replaces are quoted.
        ways = (_answer_small_talk, _list_all, _acknowledge, _quote, _decline)
        yield Text(next(filter(None, (answer(prompt, words) for answer in ways))))

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Refuse: there is nothing here that could follow a schema."""
        message = (
            "the recall model cannot produce structured output; set TURNLEAF_MODEL to another model"
        )
        raise ModelError(message)


def _answer_small_talk(prompt: Prompt, words: Mapping[str, str]) -> str:
    """Answer a greeting, thanks, or a question about what can be asked here."""
    plain = simplify(prompt.question)
    kind = next((one for one in TALK if find_pattern("recall", one).search(plain)), None)
    if kind:
        return words[kind]
    return words["nod"] if is_small_talk(prompt.question) and not asks(prompt.question) else ""


def _list_all(prompt: Prompt, words: Mapping[str, str]) -> str:
    """List all facts under their headings, if that is what is asked for."""
    if not find_pattern("recall", "overview").search(simplify(prompt.question)):
        return ""
    if not prompt.facts:
        return words["empty"]
    headings: dict[str, list[Memory]] = {}
    for fact in prompt.facts[:MOST_FACTS]:
        headings.setdefault(fact.category or words["others"], []).append(fact)
    groups = [
        "\n".join([f"**{heading}**", *(f"- {fact.content}" for fact in facts)])
        for heading, facts in headings.items()
    ]
    left = len(prompt.facts) - MOST_FACTS
    more = [words["more"].format(left)] if left > 0 else []
    return "\n\n".join([words["overview"], *groups, *more])


def _acknowledge(prompt: Prompt, words: Mapping[str, str]) -> str:
    """Return what will be learned of a statement; a question states nothing."""
    if asks(prompt.question) or not prompt.is_learned:
        return ""
    found = (
        one.content for one in find_sure_facts(prompt.question, datetime.now(UTC).astimezone())
    )
    facts = [kept for content in found if (kept := mask_fact(content, prompt.question))]
    # What is known already is quoted with its place instead of being promised once more.
    known = {fact.content.casefold() for fact in prompt.facts}
    new = [fact for fact in facts if fact.casefold() not in known]
    lead = words["noted" if prompt.has_room else "crowded"]
    return "\n".join([lead, *(f"- {fact}" for fact in new)]) if new else ""


def _quote(prompt: Prompt, words: Mapping[str, str]) -> str:
    lines = [*map(partial(_write_line, words=words), prompt.found)]
    return "\n".join([words["found"], *lines]) if lines else ""


def _decline(prompt: Prompt, words: Mapping[str, str]) -> str:
    if asks(prompt.question):
        return words["nothing"]
    return words["heard" if prompt.is_learned else "nod"]


def _write_line(hit: Hit, words: Mapping[str, str]) -> str:
    """Return a passage as a line of the answer, with the reference by which its place is found."""
    here = words["said"] if hit.source == "said" else words.get(hit.source, hit.source)
    where = [_find_meant(hit, words), here, hit.date, "" if hit.source == "said" else _refer(hit)]
    text = hit.text.replace("\n", "\n  ")
    return words["quoted"].format(text, words["joint"].join(filter(None, where)))


def _find_meant(hit: Hit, words: Mapping[str, str]) -> str:
    """Return which day "next Tuesday" was, of what was said some other day.

    Facts were kept with their days.
    """
    if hit.source == "memory" or not hit.date:
        return ""
    noon = datetime.combine(date.fromisoformat(hit.date), time(12))
    known = _DAY.findall(hit.text)
    told = [
        day for day in _DAY.findall(make_dates_absolute(hit.text, noon).text) if day not in known
    ]
    days = [*dict.fromkeys(told)]
    return words["meant"].format(" – ".join(days)) if 0 < len(days) <= MOST_DAYS else ""


def _refer(hit: Hit) -> str:
    """Return the short name of a passage's place: a fact's or message's number, or a line."""
    if hit.message is not None or (hit.source == "memory" and hit.id):
        return f"#{hit.id or hit.message}"
    return hit.conversation or f"{hit.path.name}:{hit.line}"
