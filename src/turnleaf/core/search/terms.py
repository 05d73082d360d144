"""Search terms: the one way in which text becomes what is indexed and what is asked for.

Text is folded (NFKC, case, accents, Traditional to Simplified). Spaced scripts give stemmed words,
unspaced ones give overlapping character pairs and single characters, and dates in any usual
notation give the same month and day terms. The full-text tokenizer only has to split at spaces.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, filterfalse
from operator import add

from turnleaf.core.loading import find_folders, load_data, make_pattern

__all__ = [
    "MAX_POSTINGS",
    "TOKENIZER",
    "Query",
    "choose_affordable",
    "find_matches",
    "find_places",
    "fold",
    "list_terms",
    "parse_query",
    "simplify",
    "write_fts_query",
]

TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* M* N* S* Co Cn'"
"""The FTS5 tokenizer that keeps every term whole and changes nothing in it."""

MAX_POSTINGS = 10_000
"""How many entries of the index a query may read before its commonest terms are left out."""

MAX_TERMS = 128
"""How many terms of a query are looked up, the rarest of them."""

# A pasted text as a query has to cost no more than a long question.
_MAX_QUERY_TERMS = 1_024
_MAX_QUERY_CHARS = 4_000

# Scripts written without spaces between words: Thai to Khmer, Han, Kana and Hangul.
UNSPACED = (
    "\u0e01-\u0e4e\u0e50-\u0e59\u0e81-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u2e80-\u2fdf"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U000323af"
)
# Python's \w leaves out the vowel signs that Indic words are made of.
_INDIC = "\u0900-\u0963\u0966-\u096f\u0971-\u0aef\u0af1-\u0df3"
_SYMBOL = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u2767\u2776-\u27bf\u2b1b-\u2b55"
    "\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff"
)

_RUN = make_pattern(f"[{UNSPACED}]+")
# Longer words come in pieces, so that no blob of base64 becomes one giant term.
_LETTER = f"[^\\W_{UNSPACED}]"
WORD = make_pattern(f"{_LETTER}{{1,64}}(?:[{_INDIC}]{{1,64}}{_LETTER}{{0,64}})?|[{_SYMBOL}]")
_ASCII_WORD = make_pattern("[a-z0-9]{1,64}")
_COMPOUND = make_pattern(r"(?<![a-z0-9-])[a-z][a-z0-9]{0,20}(?:-[a-z0-9]{1,20}){1,3}(?![a-z0-9-])")
# Names that would be nothing but a letter or a common word without their signs.
_SIGNED_NAMES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}
_SIGNED_NAME = make_pattern(r"(?<![a-z0-9])(?:c\+\+|[cf]#|\.net(?![a-z0-9]))")
# CPython normalises a run of combining marks in quadratic time: 100,000 of them take a minute.
_MAX_UNCHECKED_CHARS = 1_000
_MARKS = make_pattern("([^\\w\\s\x00-\u02ff]{8})[^\\w\\s\x00-\u02ff]+")

# Everyday Chinese, Japanese, Korean and English: normalising it, which is slow, changes only what
# the folding table changes as well.
_PLAIN = make_pattern(
    "[\x00-\x7f\xb7\u2013-\u2016\u2018-\u201d\u2026\u3000-\u3029\u3041-\u3096\u30a0-\u30fe\u4e00-\u9fff"
    "\uac00-\ud7a3\uff01-\uff5e]*"
)

_MONTH_WORDS = """
    jan january; feb february; mar march; apr april; may; jun june; jul july; aug august;
    sep sept september; oct october; nov november; dec december
    """
_MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_WORDS.split(";"), start=1)
    for name in names.split()
}
_MONTH_NAMES = frozenset(_MONTHS)
_NUMERALS = {
    tens + ones: 10 * tens_value + ones_value
    for tens_value, tens in enumerate(("", "十", "二十", "三十"))
    for ones_value, ones in enumerate(("", *"一二三四五六七八九"))
}
_NUMBER = "\\d{1,2}|[一二三四五六七八九十]{1,3}"
# The look behind comes after the first characters, so that the search can skip to those.
_ISO_DATE = make_pattern(r"(?:19|20)(?<!\d..)\d\d([-/.])(\d{1,2})\1(\d{1,2})(?!\d)")
_HAN_DATE = make_pattern(rf"(?<![\d一二三四五六七八九十])({_NUMBER}) ?月(?: ?({_NUMBER}) ?[日号])?")
_NAMED_DATE = make_pattern(
    r"(?:(?<!\d)(\d{1,2})(?:st|nd|rd|th)? (?:of )?)?"
    rf"\b({'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b"
    r"(?:\.? (\d{1,2})(?:st|nd|rd|th)?\b)?(,? \d{4}\b)?"
)
_AMBIGUOUS_MONTHS = frozenset({"may", "mar", "march"})
_BEFORE_MONTH = make_pattern(
    r"\b(?:in|of|during|since|until|by|last|next|this|early|mid|late)[ -]$"
)

_FILE = "terms.toml"
_MIN_INFLECTED = 4
_MIN_STEM = 2


@cache
def load_han() -> tuple[str, str]:
    """Return the Traditional characters and their Simplified forms, position by position."""
    table = load_data("search/han.toml")
    return "".join(table["traditional"].split()), "".join(table["simplified"].split())


@cache
def _load_simplifying_table() -> dict[int, int]:
    return str.maketrans(*load_han())


@cache
def _load_folding_table() -> dict[int, str | int | None]:
    """Return the table that simplifies Han characters and takes the marks off letters."""
    table: dict[int, str | int | None] = {**_load_simplifying_table()}
    # Latin, Greek and Cyrillic only: without its mark a voiced Kana would be another letter.
    for code in (*range(0xC0, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x2000)):
        decomposed = unicodedata.normalize("NFKD", chr(code))
        if len(decomposed) > 1 and unicodedata.combining(decomposed[1]):
            table[code] = decomposed[0]
    # The wide forms that _PLAIN lets pass.
    for code in (0x2026, 0x3000, *range(0xFF01, 0xFF5F)):
        table[code] = unicodedata.normalize("NFKC", chr(code)).lower()
    # These have no decomposition, though people type them without the stroke.
    table |= str.maketrans("đħıłøŧ", "dhilot")
    vowel_points = (*range(0x591, 0x5C8), *range(0x610, 0x61B), *range(0x64B, 0x660))
    return table | dict.fromkeys((*range(0x300, 0x370), *vowel_points))


@dataclass(frozen=True, slots=True)
class Query:
    """What a person typed, as terms to rank by."""

    terms: tuple[str, ...]
    repeated: frozenset[str]
    """The words and pairs that occur more than once in it, and so count double."""


def simplify(text: str) -> str:
    """Return the text in Simplified characters, otherwise unchanged."""
    return text if text.isascii() else text.translate(_load_simplifying_table())


def fold(text: str) -> str:
    """Return the text with width, case, accents and Han variants made the same."""
    if text.isascii():
        return text.lower()
    if len(text) > _MAX_UNCHECKED_CHARS:
        text = _MARKS.sub(r"\1", text)
    if not _PLAIN.fullmatch(text):
        text = unicodedata.normalize("NFKC", text)
    return text.casefold().translate(_load_folding_table())


def list_terms(text: str) -> list[str]:
    """Return all terms of a text, each as often as it occurs."""
    folded = _spell_signs(fold(text))
    found: list[str] = []
    if folded.isascii():
        words = _ASCII_WORD.findall(folded)
    else:
        words = WORD.findall(folded)
        for run in _RUN.findall(folded):
            # Scripts without spaces have no words to split at. A pair finds a word of two
            # characters; a single character finds what a query of one asks for.
            chars = list(run)
            found += map(add, chars, chars[1:])
            found += chars
    found += _find_date_terms(folded, words)
    found += map(_stem, words)
    found += _find_compounds(folded)
    return found


def is_stop_word(word: str) -> bool:
    """Whether a folded word is grammar, or said in any conversation."""
    return word in _load_stop_words()


def is_unspaced(char: str) -> bool:
    """Whether a character is of a script that is written without spaces."""
    return _RUN.match(char) is not None


def list_date_terms(text: str) -> list[str]:
    """Return only the terms of the months and days that a text names."""
    folded = fold(text)
    return _find_date_terms(folded, WORD.findall(folded))


def find_named_dates(query_terms: Iterable[str]) -> set[str]:
    """Return the days that a query names, or else the months."""
    # No other term mixes digits and Han characters.
    dates = {term for term in query_terms if term[0].isdigit() and "月" in term}
    return {term for term in dates if term.endswith("日")} or dates


def parse_query(text: str) -> Query:
    """Return what a person typed as terms to search for; nothing in it is ever syntax."""
    folded = _spell_signs(fold(text[:_MAX_QUERY_CHARS]))
    words, runs = WORD.findall(folded), _RUN.findall(folded)
    dates, stop_words = _find_date_terms(folded, words), _load_stop_words()
    telling = [_stem(word) for word in words if word not in stop_words]
    asked = [part for run in runs for part in _load_asking_pattern().split(run)]
    pairs = [pair for part in asked for pair in _list_pairs(part)]
    chosen = _drop_duplicates(
        (
            *(*dates, *telling, *_find_compounds(folded)),
            *filterfalse(_is_stop_pair, pairs),
            *filterfalse(_is_stop_char, "".join(asked)),
        )
    ) or _drop_duplicates(
        # A query of nothing but grammar still has to find something.
        (*map(_stem, words), *(pair for run in runs for pair in _list_pairs(run)), *"".join(runs))
    )
    counts = Counter((*telling, *pairs))
    return Query(chosen, frozenset(term for term in chosen if counts[term] > 1))


def choose_affordable(
    query: Query, frequencies: Mapping[str, int], max_postings: int = MAX_POSTINGS
) -> list[str]:
    """Return the rarest terms of a query, as many as can be looked up at a bounded cost.

    The frequencies are the numbers of passages that hold each term; what none holds finds nothing.
    Repeated terms come twice.
    """
    known = filter(frequencies.get, query.terms)
    rarest_first = sorted(known, key=frequencies.__getitem__)[:MAX_TERMS]
    costs = [*accumulate(map(frequencies.__getitem__, rarest_first))]
    # However common it is, one term that does occur has to stay.
    kept = rarest_first[: max(bisect_right(costs, max_postings), 1)]
    return [*kept, *(term for term in kept if term in query.repeated)]


def write_fts_query(chosen: Iterable[str]) -> str:
    """Return the FTS5 expression that matches any of the terms."""
    return " OR ".join(map(_quote, chosen))


def _spell_signs(folded: str) -> str:
    """Return a folded text with letters in place of the signs that a name ends or begins with."""
    # Nearly no text has such a name, and looking for a sign is cheaper than a pattern.
    if "++" not in folded and "#" not in folded and ".net" not in folded:
        return folded
    return _SIGNED_NAME.sub(lambda name: f" {_SIGNED_NAMES[name[0]]} ", folded)


def _find_compounds(folded: str) -> list[str]:
    """Return the words written with a hyphen as they are written without: e-mail is email."""
    if "-" not in folded:
        return []
    return [_stem(word.replace("-", "")) for word in _COMPOUND.findall(folded)]


def _drop_duplicates(found: Iterable[str]) -> tuple[str, ...]:
    """Return each term once; of very many, a sample from beginning to end."""
    different = tuple(dict.fromkeys(found))
    # Characters come after pairs: to cut at the limit would drop the end of a long Chinese query.
    return different[:: 1 + len(different) // (_MAX_QUERY_TERMS + 1)]


def _quote(term: str) -> str:
    """Quote a term, so that it cannot be read as FTS5 syntax; no term has a quote in it."""
    return f'"{term}"'


def _list_pairs(run: str) -> Iterator[str]:
    """Return the overlapping character pairs of a run."""
    return map(add, run, run[1:])


def _is_stop_char(char: str) -> bool:
    """Whether a single character says nothing about what is looked for."""
    return char in _load_stop_chars()


def _is_stop_pair(pair: str) -> bool:
    """Whether a character pair only asks or only holds a sentence together."""
    chars = set(pair)
    return (
        pair in _load_stop_pairs()
        or bool(chars & _load_asking_chars())
        or chars <= _load_stop_chars()
    )


def _join_lists(name: str, joint: str = " ") -> str:
    """Return what every language lists under a name, in Simplified characters."""
    tables = (load_data(f"languages/{one}/{_FILE}") for one in find_folders("languages", _FILE))
    return simplify(joint.join(table.get(name, "") for table in tables))


@cache
def _load_stop_words() -> frozenset[str]:
    return frozenset(_join_lists("stop_words").split())


@cache
def _load_stop_pairs() -> frozenset[str]:
    return frozenset(_join_lists("stop_pairs").split())


@cache
def _load_asking_chars() -> frozenset[str]:
    return frozenset("".join(_join_lists("asking_characters").split()))


@cache
def _load_asking_pattern() -> re.Pattern[str]:
    """Return the pattern of words that only ask, with the grammar characters around them."""
    words = "|".join((*_join_lists("asking_words").split(), *_load_asking_chars()))
    grammar = f"[{''.join(_load_stop_chars() - _load_asking_chars())}]{{0,2}}"
    return re.compile(f"{grammar}(?:{words}){grammar}")


@cache
def _load_stop_chars() -> frozenset[str]:
    return _load_asking_chars() | frozenset("".join(_join_lists("stop_characters").split()))


@cache
def _load_base_forms() -> dict[str, str]:
    """Return the base of each irregular form: went, go."""
    lines = map(str.split, _join_lists("irregular_forms", ";").split(";"))
    return {form: base for base, *forms in filter(None, lines) for form in forms}


def _find_date_terms(folded: str, words: Iterable[str]) -> list[str]:
    """Return one notation for the months and days that a folded text names."""
    # No other term mixes digits and Han characters, so these cannot be mistaken for a word.
    found = []
    if "19" in folded or "20" in folded:
        found += [
            _make_date_terms(_read_number(date[2]), date[3]) for date in _ISO_DATE.finditer(folded)
        ]
    if "月" in folded:
        found += [
            _make_date_terms(_read_number(date[1]), date[2]) for date in _HAN_DATE.finditer(folded)
        ]
    if not _MONTH_NAMES.isdisjoint(words):
        found += map(_read_named_date, _NAMED_DATE.finditer(folded))
    return [term for dated in found for term in dated]


def _read_named_date(match: re.Match[str]) -> tuple[str, ...]:
    """Return the terms of a date whose month is a word."""
    before, name, after, year = match.groups()
    # May is mostly a verb, and March may be one.
    if name in _AMBIGUOUS_MONTHS and not (before or after or year):
        start = match.start()
        if not _BEFORE_MONTH.search(match.string, max(0, start - 8), start):
            return ()
    return _make_date_terms(_MONTHS[name], before or after)


def _make_date_terms(month: int, day: str | None) -> tuple[str, ...]:
    """Return the terms of a month and, where there is one, a day in it."""
    if month not in range(1, 13):
        return ()
    if day and _read_number(day) in range(1, 32):
        return f"{month}月", f"{month}月{_read_number(day)}日"
    return (f"{month}月",)


def _read_number(digits: str) -> int:
    """Return the value of one or two digits or Chinese numerals; 0 for anything else."""
    return int(digits) if digits.isdigit() else _NUMERALS.get(digits, 0)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Strip the commonest English endings, so that inflected forms get the same term."""
    # Irregular forms first: no ending tells that "went" is "go".
    word = _load_base_forms().get(word, word)
    if not (word.isascii() and word.isalpha()):
        return word
    if len(word) >= _MIN_INFLECTED:
        word = _strip_participle(_strip_plural(word))
    if len(word) >= _MIN_INFLECTED and word.endswith("e"):
        word = word[:-1]
    return f"{word[:-1]}i" if len(word) > _MIN_STEM and word.endswith("y") else word


def _strip_plural(word: str) -> str:
    """Strip the s of a plural or of the third person."""
    if word.endswith("ies") and len(word) > _MIN_INFLECTED:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    # Class, bus and analysis are no plurals.
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _strip_participle(word: str) -> str:
    """Strip -ing or -ed, with the consonant that was doubled for it."""
    if word.endswith("ied") and len(word) > _MIN_INFLECTED:
        return f"{word[:-3]}y"
    # Need and succeed end in "eed" by themselves, agreed does not.
    if word.endswith("eed"):
        is_whole = word.endswith("ceed") or not any(vowel in word[:-3] for vowel in "aeiouy")
        return word if is_whole else word[:-1]
    stem = word.removesuffix("ing") if word.endswith("ing") else word.removesuffix("ed")
    if stem == word or len(stem) < _MIN_STEM or not any(vowel in stem for vowel in "aeiouy"):
        return word
    # Agree, fall, miss and buzz have their double letter by themselves.
    if len(stem) >= _MIN_INFLECTED and stem[-1] == stem[-2] and stem[-1] not in "elsz":
        return stem[:-1]
    return stem


# Accents and points that stand by themselves are in words, and in no term.
_ACCENT = "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f]"
_WORD = f"(?:{WORD.pattern})"
_TOKEN = make_pattern(f"(?P<run>[{UNSPACED}]+)|{_WORD}(?>(?:{_ACCENT}++(?>{_WORD}?))*)")


def find_places(text: str, wanted: Collection[str]) -> list[tuple[int, int]]:
    """Return the places in a text, first and last, that match one of the terms.

    A single Chinese character is marked only where no longer match is.
    """
    return _join_places(_find_matches(text, wanted, 2)) or _join_places(
        _find_matches(text, wanted, 1)
    )


def find_matches(text: str, wanted: Collection[str]) -> list[str]:
    """Return the parts of a text that match one of the terms, as they stand there, each once."""
    return list(dict.fromkeys(text[start:end] for start, end in find_places(text, wanted)))


def _find_matches(text: str, wanted: Collection[str], width: int) -> Iterator[tuple[int, int]]:
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        if not token["run"]:
            if not set(list_terms(token[0])).isdisjoint(wanted):
                yield start, end
            continue
        for first in range(start, end - width + 1):
            # A pair comes before its two characters, so the first term is the widest.
            if list_terms(text[first : first + width])[0] in wanted:
                yield first, first + width


def _join_places(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
