"""What a user asks outright to be remembered or forgotten, and which facts are meant.

Only a message that begins with the wish is one; greetings, politeness and a name may come first.
A reminder ("remember to buy milk", 記得買牛奶) is a thing to keep. "Note that …" is no wish: people
say it about the text at hand. What only sounds like a wish, being told, sung, said to others or a
task for the model ("write down the steps"), is in the `requests.toml` of each language.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from operator import add, or_
from typing import TYPE_CHECKING

from turnleaf.core.languages.language import detect_language, find_languages, get_language
from turnleaf.core.languages.words import HEAD_CHARS, compile_pattern
from turnleaf.core.loading import make_pattern
from turnleaf.core.search.terms import fold, list_terms, simplify

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.languages.language import Language
    from turnleaf.core.languages.words import Action, RequestWords
    from turnleaf.core.memories import Memory


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be remembered or forgotten, in the user's words."""

    action: Action
    content: str


_FILE = "requests.toml"
_MENTION = r"<@\w{1,20}>|@[\w-]{1,30}"
# Chinese follows an opening without a space or a stop.
_AFTER_OPENING = r"(?:[\s,，.。!！、:：~～—-]{1,10}|(?=[^\s\x00-\x7f]))"
_MAX_OPENINGS = 5
_OPENING_CHARS = 80

_SENTENCE_STOPS = ".!。！\n"
_QUESTION_MARK = make_pattern(r"[?？](?=\s|[^\x00-\x7f])")
_FIRST_CHARS = 200
_MAX_ENDING = 40
_MAX_ENDINGS = 5
_STOPS = " \t\r\n.。!！?？~～…,，;；"
_ABBREVIATION = make_pattern(
    r"(?:\b[A-Za-z](?:\.[A-Za-z])+|\b(?:etc|Jr|Sr|Inc|Ltd|Co|Corp|St|Dr))\Z"
)
_NOTHING_CHARS = 80

_HAN_RUN = make_pattern("[\u3400-\u9fff]+")
_LATIN_RUN = make_pattern("[a-z0-9]+")
_NOT_WORD = make_pattern(r"[\W_]+")


def find_request(text: str) -> Request | None:
    """Return the request to remember or forget that a message begins with, if any."""
    # Simplifying moves no character: what is found in the one text is cut out of the other.
    plain = simplify(text)
    start = _skip_opening(plain)
    told = plain[start:]
    for language in map(get_language, find_languages(_FILE)):
        words = language.requests
        for wish in words.wishes:
            if (match := wish.match(told)) and not _is_story(words, match, told):
                is_misread = _is_misread(language, text, match)
                content = (
                    "" if is_misread else _read_content(words, text[start:], wish.action, match)
                )
                return Request(wish.action, content) if content else None
    return None


def may_ask(plain: str) -> bool:
    """Whether the head of a text in Simplified characters has a word that requests need."""
    # Only a message that begins with a wish is one, so the rest need not be looked at.
    head = plain[:HEAD_CHARS].lower()
    return any(cue in head for cue in _list_cues())


def find_meant(wanted: str, memories: Sequence[Memory]) -> list[Memory]:
    """Return the facts to forget: those that say the words, else those about them."""
    wish = _prepare_wish(fold(wanted))
    facts = [(memory, fold(memory.content)) for memory in memories]
    # Who says a fact word for word means this one alone, and not all that are like it.
    same = [memory for memory, folded in facts if _strip_signs(folded) == wish.bare]
    if same or not (wish.words or wish.runs):
        return same
    literal = [memory for memory, folded in facts if _holds(folded, wish.spoken)]
    return literal or [memory for memory, folded in facts if _is_about(folded, wish)]


def is_everything(wanted: str) -> bool:
    """Whether a request to forget means all facts."""
    return _match_in_all("everything").fullmatch(simplify(wanted.strip())) is not None


@dataclass(frozen=True, slots=True)
class _ForgetWords:
    """What somebody wants forgotten, in the forms in which facts are compared with it."""

    bare: str
    spoken: tuple[str, ...]
    words: frozenset[str]
    runs: tuple[str, ...]


@lru_cache(maxsize=16)
def _prepare_wish(folded: str) -> _ForgetWords:
    spoken = tuple(map(_mark_words, _list_wordings(folded)))
    return _ForgetWords(
        _strip_signs(folded),
        spoken,
        frozenset(_find_words(folded)),
        (*dict.fromkeys(_find_runs(folded)),),
    )


@cache
def _list_languages() -> tuple[RequestWords, ...]:
    return tuple(get_language(name).requests for name in find_languages(_FILE))


@cache
def _list_cues() -> frozenset[str]:
    wishes = (wish for words in _list_languages() for wish in words.wishes)
    return frozenset(cue for wish in wishes for cue in wish.cues)


@cache
def _match_in_all(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return the pattern of a name in every language, between two that all share."""
    either = "|".join(words.pattern(name) for words in _list_languages())
    return compile_pattern(f"{before}(?:{either}){after}")


@cache
def _match_fact_words(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    either = "|".join(words.fact_pattern(name) for words in _list_languages())
    return compile_pattern(f"{before}(?:{either}){after}")


@cache
def _list_function_words() -> frozenset[str]:
    """Return the function words, which do not tell one fact from another."""
    return frozenset(list_terms(" ".join(words.grammar for words in _list_languages())))


def _is_story(words: RequestWords, match: re.Match[str], told: str) -> bool:
    """Whether what sounds like a request tells of something that happened: 忘記我的傘了."""
    return bool(match.groupdict().get("story")) and told.rstrip(_STOPS).endswith(
        words.text("story_end")
    )


def _is_misread(language: Language, text: str, match: re.Match[str]) -> bool:
    """Whether it is Japanese that only looks like a Chinese request: 要記入の書類があります."""
    misread = language.requests.misread
    if not misread or language.markers.has_words(match[0]):
        return False
    return detect_language(text).name in misread


def _skip_opening(plain: str) -> int:
    opening = _match_in_all("opening", f"(?:{_MENTION}|", f"){_AFTER_OPENING}")
    place = len(plain) - len(plain.lstrip())
    # Openings may follow each other ("hi, please"), but a text of nothing else has to end
    # somewhere.
    for _ in range(_MAX_OPENINGS):
        if not (match := opening.match(plain[place : place + _OPENING_CHARS])):
            break
        place += match.end()
    return place


def _read_content(words: RequestWords, text: str, action: Action, match: re.Match[str]) -> str:
    groups = match.groupdict()
    rest = _find_content(words, text[match.end() :], action, groups)
    if groups.get("over"):
        return rest.removesuffix(words.text("over_end"))
    if not groups.get("content"):
        return rest
    start, end = match.span("content")
    named = _drop_pronoun(_trim(text[start:end]))
    return words.text("joint").join(filter(None, (named, rest)))


def _is_clear(action: Action, groups: Mapping[str, str | None]) -> bool:
    """Whether a question is a request: "can you remember that …?", not "… my name?"."""
    return bool(
        action == "forget" or "that" not in groups or groups["that"] or groups.get("please")
    )


def _find_content(
    words: RequestWords, text: str, action: Action, groups: Mapping[str, str | None]
) -> str:
    """Return what to remember, without a question after it; "" when all of it is a question."""
    is_asked = bool(groups.get("asking"))
    is_clear = _is_clear(action, groups)
    if is_asked and not is_clear:
        return ""
    told = _trim(text)
    if _is_question(told if _count_polite_end(text.rstrip(_STOPS)) else text):
        if is_asked:
            return _drop_pronoun(_drop_particle(words, told))
        text = _drop_questions(text)
        told = "" if _is_question(text) else _trim(text)
    return "" if not is_asked and _begins_with_question(text) else _drop_pronoun(told)


def _drop_particle(words: RequestWords, told: str) -> str:
    end = words.text("question_end")
    return told[: -len(end)] if end and simplify(told).endswith(end) else told


def _drop_questions(text: str) -> str:
    for _ in range(_MAX_ENDINGS):
        if not _is_question(text):
            break
        text = _drop_last_sentence(text)
    return text


def _begins_with_question(text: str) -> bool:
    """Whether the first of several sentences asks: "remember that guy? He moved to Rome"."""
    head = text[:_FIRST_CHARS]
    mark = _QUESTION_MARK.search(head)
    if mark is None or any(stop in head[: mark.start()] for stop in _SENTENCE_STOPS):
        return False
    return not _count_polite_end(head[: mark.start()])


def _drop_last_sentence(text: str) -> str:
    bare = text.rstrip()
    end = max(bare.rfind(stop, 0, len(bare) - 1) for stop in _SENTENCE_STOPS)
    return text[: end + 1]


def _is_question(text: str) -> bool:
    question = _match_in_all("question", r"(?:[?？]|", r")\W{0,9}\Z")
    # The end is all that can ask, and a pattern that searches a long text for it would be slow.
    return question.search(simplify(text[-_MAX_ENDING:])) is not None


def _trim(text: str) -> str:
    for _ in range(_MAX_ENDINGS):
        text = _strip_stops(text)
        if not (polite := _count_polite_end(text)):
            break
        text = text[:-polite]
    return _strip_quotes(text.strip())


def _count_polite_end(text: str) -> int:
    """Count the characters of the last "please" or 好嗎."""
    polite = _match_in_all("polite_end", after=r"\Z").search(simplify(text[-_MAX_ENDING:]))
    return len(polite[0]) if polite else 0


def _strip_stops(text: str) -> str:
    bare = text.rstrip(_STOPS)
    # The stop of "St." or "U.S." belongs to the word.
    is_short = text[len(bare) :].startswith(".") and _ABBREVIATION.search(bare)
    return f"{bare}." if is_short else bare


def _strip_quotes(text: str) -> str:
    if text[:1] + text[-1:] in {'""', "''", "“”", "‘’", "「」", "『』"}:
        return text[1:-1].strip()
    return text


def _drop_pronoun(text: str) -> str:
    """Return a text, or "" for a mere "it"."""
    return "" if _match_in_all("nothing").match(simplify(text[:_NOTHING_CHARS])) else text


def _strip_signs(folded: str) -> str:
    return _NOT_WORD.sub("", folded)


def _list_wordings(folded: str) -> Iterator[str]:
    """Yield how the fact may say it literally, in the user's words or about the user."""
    text = folded.strip()
    yield text
    for words in _list_languages():
        for person, name in words.persons:
            if text.startswith(person):
                yield name + text.removeprefix(person)


def _mark_words(folded: str) -> str:
    """Return a text with the edges of Latin words marked, so that only whole ones are found."""
    # With signs that no text has, because \b does not tell a Latin word from a Chinese one beside
    # it.
    return _LATIN_RUN.sub("\x01\\g<0>\x02", folded)


def _holds(folded: str, spoken: Sequence[str]) -> bool:
    marked = _mark_words(folded)
    return any(wanted in marked for wanted in spoken)


def _is_about(folded: str, wanted: _ForgetWords) -> bool:
    """Whether a fact holds every telling word of what is wanted."""
    # "Forget my name" must not mean the names of everybody else.
    if wanted.words == {*list_terms("name")} and not wanted.runs:
        own_name = _match_fact_words("owner", after=r"?\s*name\b")
        return own_name.match(_match_fact_words("naming").sub(" name ", folded)) is not None
    return wanted.words <= _find_words(folded) and _covers(folded, wanted.runs)


def _find_words(folded: str) -> set[str]:
    named = _match_fact_words("naming").sub(" name ", folded)
    return {*list_terms(_HAN_RUN.sub(" ", named))} - _list_function_words()


def _find_runs(folded: str) -> list[str]:
    runs = _HAN_RUN.findall(_match_fact_words("naming").sub(" ", folded))
    return [part for run in runs for part in _match_fact_words("characters").split(run) if part]


def _covers(folded: str, runs: Sequence[str]) -> bool:
    """Whether a fact holds each character of the runs beside one of its neighbours there."""
    if not runs:
        return True
    # Also without grammar, so that characters which only a particle keeps apart are neighbours.
    fact = f"{folded} {_match_fact_words('characters').sub('', folded)}"
    # A run longer than the fact cannot be covered, and a pasted text would make long work of it.
    if max(map(len, runs)) > len(fact):
        return False
    known = {*_list_pairs(fact)}
    return all(_is_covered(run, known) if len(run) > 1 else run in fact for run in runs)


def _is_covered(run: str, known: set[str]) -> bool:
    pairs = [pair in known for pair in _list_pairs(run)]
    return all(map(or_, [False, *pairs], [*pairs, False]))


def _list_pairs(text: str) -> Iterator[str]:
    return map(add, text, text[1:])
