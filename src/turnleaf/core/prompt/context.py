"""Which passages go into a prompt: how surely they answer, which say the same, what has room.

Preferences act here and never in the score of a hit. The more surely something that was found
belongs to the question, the more of the room is filled; below a floor nothing is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from turnleaf.core.loading import make_pattern
from turnleaf.core.messages import TRUSTED
from turnleaf.core.prompt import escaping
from turnleaf.core.prompt.citations import name_passage
from turnleaf.core.search.message_filters import asks_again, says_nothing
from turnleaf.core.search.passages import cut_pieces
from turnleaf.core.search.terms import list_terms, parse_query
from turnleaf.core.secrets import mask_fact

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Hashable,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from turnleaf.core.search.ranking import Hit

    Count = Callable[[str], int]
    Place = tuple[str, str, str, str, int, int]

MOST_FACTS = 16
HIT_CHARS = 600
"""Of a passage that is much longer than this, the part that fits the question is shown."""
_GAP_TOKENS = 4
_FEWEST_TOKENS = 16
_MOST_REFUSED = 8
"""With less room than this, or after so many that had none, nothing more is looked at."""

_WORDS_WEIGHT = 0.2
"""What it counts, beside the nearness in meaning, that a passage holds all words of a question."""
_STRANGE_NAME = 0.1
"""What a question loses by naming somebody of whom nothing that was found speaks."""
_DATE_BONUS = 0.1
"""What a question gains by naming days on which something was found."""
_SURE_BY_MEANING = 0.1
_DOUBTFUL_SHARE = 0.3
"""How much of the room is filled where it is just sure enough."""
_UNSURE_BY_WORDS = 0.15
_SURE_BY_WORDS = 0.3
_MANY_WORDS = 0.4
_NEARLY_ALL_WORDS = 0.7
"""From these shares of a question's words on a passage fits, or fits surely, whatever it means."""
_ALIKE = 0.85
"""The share of common words from which two passages say the same."""
_REPEATS = 0.6
"""The share of an answer's words in a user's statement from which it repeats that."""
_BESIDE_SHARE = 0.2
"""What the score of the message before or after counts for the order in which room is filled."""
_DAY_SHARE = 0.2
"""What the best score in the same conversation on the same day counts for it."""
_LEAST_SHARE = 0.1
"""What has less than this share of the best one's weight is not shown."""
_FEWEST_TERMS = 4
_MOST_COMPARED = 60
"""Among so many of the best hits a statement is looked for that an answer repeats."""
# A word that begins with a capital inside a sentence.
_NAME = make_pattern(r"(?<=[a-z,'’] )[A-Z][a-z]+")
_CALENDAR = """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """
_CALENDAR_WORDS = frozenset(_CALENDAR.split())


class ContextRoom:
    """How many tokens passages may still take."""

    def __init__(self, tokens: int, count: Count) -> None:
        self.left = tokens
        self._count = count
        self._refused = 0
        self._days: set[tuple[str, str | None]] = set()
        self._messages: set[int | None] = set()
        self._parents: set[int | None] = set()

    @property
    def is_full(self) -> bool:
        """Whether there is no room for even a short passage, or several did not fit."""
        return self.left < _FEWEST_TOKENS or self._refused >= _MOST_REFUSED

    def take(self, hit: Hit) -> bool:
        """Take a passage in if there is room for it and the opening of its day; return whether."""
        cost = self._count(f"{write_line(hit)}\n") + self._count_opening(hit)
        if cost > self.left:
            self._refused += 1
            return False
        self.left -= cost
        self._days.add(_find_day(hit))
        self._messages |= {hit.message} - {None}
        self._parents |= {hit.parent} - {None}
        return True

    def _count_opening(self, hit: Hit) -> int:
        """Return what the opening of its day costs, or what one gap more or less does."""
        if _find_day(hit) not in self._days:
            return self._count(f"{write_opening(hit)}\n")
        follows = hit.parent in self._messages or hit.message in self._messages
        precedes = hit.message in self._parents
        # A message between two that are taken closes a gap, so it saves an ellipsis.
        return _GAP_TOKENS * (1 - follows - precedes)


def estimate_confidence(question: str, hits: Sequence[Hit], *, is_dated: bool = False) -> float:
    """Return how likely it is that some hit answers the question, from 0 to 1."""
    share = max((hit.bm25 or 0.0 for hit in hits), default=0.0)
    nearest = [hit.nearness for hit in hits if hit.nearness is not None]
    adjusted = _DATE_BONUS * is_dated - _STRANGE_NAME * _names_stranger(question, hits)
    if not hits:
        return 0.0
    if not nearest:
        return _scale(_UNSURE_BY_WORDS, _SURE_BY_WORDS, share + 2 * adjusted)
    by_meaning = _scale(0.0, _SURE_BY_MEANING, max(nearest) + _WORDS_WEIGHT * share + adjusted)
    # One paragraph of a letter may hold what is asked for, and be about something else.
    return max(by_meaning, _scale(_MANY_WORDS, _NEARLY_ALL_WORDS, share + adjusted))


def choose(question: str, hits: Iterable[Hit], known: Collection[str] = ()) -> list[Hit]:
    """Return the hits that may go into a prompt, best first, each as it is shown."""
    return [*show(question, find_evidence(question, hits, known))]


def find_evidence(question: str, hits: Iterable[Hit], known: Collection[str] = ()) -> list[Hit]:
    """Return the hits that may answer something.

    Left out are questions that ask the same, answers that say nothing, what is `known` to be in
    the prompt, and what is no longer shown in its conversation.
    """
    return [
        hit
        for hit in hits
        if hit.is_shown and _is_evidence(hit, question) and not is_said(hit, known)
    ]


def put_clusters_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with those first that stand beside others or on a day that fits well.

    Answers come in clusters: what else was said where something fits is more often asked for than
    something else of the same score. What is far below the best is left out, however much room
    there is.
    """
    days = _find_best_scores(hits, _find_day)
    messages = _find_best_scores(hits, lambda hit: hit.message)
    followers = _find_best_scores(hits, lambda hit: hit.parent)

    def weigh(hit: Hit) -> float:
        beside = messages.get(hit.parent, 0.0) + followers.get(hit.message, 0.0)
        return _score_for_prompt(hit) + _BESIDE_SHARE * beside + _DAY_SHARE * days[_find_day(hit)]

    weighed = sorted(((weigh(hit), hit) for hit in hits), key=lambda one: one[0], reverse=True)
    return [hit for weight, hit in weighed if weight >= _LEAST_SHARE * weighed[0][0]]


def show(question: str, evidence: Sequence[Hit]) -> Iterator[Hit]:
    """Yield hits as they are shown, without repetitions.

    One after the other, because a prompt has room for few of very many.
    """
    for hit in drop_repetitions(put_statements_first(evidence)):
        shown = shorten(hit, question)
        # What is found is sent to a provider as facts are, so the same secrets are masked.
        text = mask_fact(shown.text)
        if text:
            yield replace(shown, text=text)


def is_answer(hit: Hit) -> bool:
    """Whether the assistant said it."""
    return hit.trust == "assistant" or hit.speaker == "assistant"


def is_said(hit: Hit, texts: Collection[str]) -> bool:
    """Whether what was found, or the message that it is a part of, is among some texts."""
    if hit.text in texts:
        return True
    # Of a long message a part is found, and the history holds the whole of it.
    return hit.source == "conversations" and any(hit.text in text for text in texts)


def put_statements_first(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield hits in their order, but what the user stated before an answer that repeats it."""
    # Each answer is compared with each statement, so the number of statements is bounded.
    best = hits[:_MOST_COMPARED]
    stated = [hit for hit in best if hit.source == "conversations" and not is_answer(hit)]
    given: set[int] = set()
    for hit in hits:
        own = _find_words(hit.text) if is_answer(hit) else frozenset()
        is_telling = len(own) >= _FEWEST_TERMS
        for one in stated if is_telling else ():
            # An answer that repeats what the user said is weaker evidence than the user's own
            # words.
            if id(one) not in given and _measure_overlap(own, _find_words(one.text)) >= _REPEATS:
                given.add(id(one))
                yield one
        if id(hit) not in given:
            yield hit


def drop_repetitions(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Yield hits, but none that says the same as a better one."""
    said: list[frozenset[str]] = []
    for hit in hits:
        own = _find_words(hit.text)
        if not any(_is_alike(own, words) for words in said):
            said.append(own)
            yield hit


def fill_room(hits: Iterable[Hit], room: ContextRoom, filled: Sequence[Hit] = ()) -> list[Hit]:
    """Return `filled` and as many of the hits as there is room for, each once.

    A few facts take no room: they are in the prompt anyway, unless the memory is too large for it.
    """
    chosen = {find_place(hit): hit for hit in filled}
    facts = 0
    for hit in () if room.is_full else hits:
        if find_place(hit) in chosen:
            continue
        is_fact = hit.source == "memory"
        facts += is_fact
        # What is too long for the room is passed over, so that it does not keep shorter ones out.
        if facts <= MOST_FACTS if is_fact else room.take(hit):
            chosen[find_place(hit)] = hit
        if room.is_full:
            break
    return [*chosen.values()]


def shorten(hit: Hit, question: str) -> Hit:
    """Return a hit, of a long text only the part with most words of the question."""
    if len(hit.text) <= 2 * HIT_CHARS:
        return hit
    asked = set(parse_query(question).terms)
    cut = cut_pieces(hit.text)
    held = [len(asked.intersection(list_terms(piece))) for piece in cut]
    first = last = max(range(len(cut)), key=lambda number: (held[number], -number))
    # The part with most of the question is often completed by what follows it.
    while last + 1 < len(cut) and sum(map(len, cut[first : last + 2])) <= HIT_CHARS:
        last += 1
    part = "".join(cut[first : last + 1]).strip()
    before = "… " if first else ""
    after = " …" if last + 1 < len(cut) or len(part) > HIT_CHARS else ""
    return replace(hit, text=f"{before}{part[:HIT_CHARS]}{after}")


def _scale(floor: float, top: float, value: float) -> float:
    """Return 0 below the floor, and from there on a confidence that reaches 1 at the top."""
    if value < floor:
        return 0.0
    return min(1.0, _DOUBTFUL_SHARE + (1.0 - _DOUBTFUL_SHARE) * (value - floor) / (top - floor))


def _names_stranger(question: str, hits: Iterable[Hit]) -> bool:
    # A capital letter also begins months and days, and those are no strangers.
    names = {name for name in _NAME.findall(question) if name.lower() not in _CALENDAR_WORDS}
    asked = {term for name in names for term in list_terms(name)}
    if not asked:
        return False
    for hit in hits:
        asked.difference_update(list_terms(f"{hit.speaker or ''} {hit.text}"))
    return bool(asked)


def _find_best_scores(
    hits: Iterable[Hit], key_of: Callable[[Hit], Hashable | None]
) -> dict[Hashable, float]:
    """Return the best score under each key; hits without a key are left out."""
    best: dict[Hashable, float] = {}
    for hit in hits:
        key = key_of(hit)
        if key is not None:
            best[key] = max(best.get(key, 0.0), _score_for_prompt(hit))
    return best


def _score_for_prompt(hit: Hit) -> float:
    # A prompt is filled by the blend even where words alone made the score: that held less of the
    # evidence, because a question that is a whole sentence is what an embedder can judge.
    return hit.score if hit.blended is None else hit.blended


def _find_day(hit: Hit) -> tuple[str, str | None]:
    """Return the key of the opening that a passage stands under."""
    return write_opening(hit), hit.conversation


def _is_evidence(hit: Hit, question: str) -> bool:
    if hit.source != "conversations":
        return True
    # That the same was asked, or that nothing was known, would fit best of all and answer nothing.
    if is_answer(hit):
        return not says_nothing(hit.text)
    return not asks_again(hit.text, question)


def _measure_overlap(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part & whole) / len(part) if part else 0.0


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts say the same; another number says something else."""
    fewer, more = sorted((len(one), len(other)))
    if not fewer or fewer < _ALIKE * more:
        return False
    shared = len(one & other)
    is_near = shared >= _ALIKE * (fewer + more - shared)
    # Two sentences that differ in a number alone are two facts: 7 o'clock is not 8 o'clock.
    return is_near and not any(map(str.isdecimal, one ^ other))


@lru_cache(maxsize=1024)
def _find_words(text: str) -> frozenset[str]:
    return frozenset(list_terms(text))


NAME_CHARS = 80
SOURCES = {"memory": "memory", "daily": "daily log", "conversations": "conversation"}
GAP = f"{escaping.INDENT}…"


def write_context_lines(hits: Sequence[Hit], *, has_ids: bool = False) -> list[str]:
    """Return passages as items: the messages of a conversation's day are one, others stand alone.

    Between messages that do not follow each other stands an ellipsis. With ids each passage begins
    with the one by which an answer can cite it.
    """
    # Passages are numbered in the order of their rank, but stand in the order of time.
    ids = {find_place(hit): name_passage(at) for at, hit in enumerate(hits)} if has_ids else {}
    ordered = sorted(hits, key=find_place)
    grouped = groupby(ordered, key=lambda hit: (write_opening(hit), hit.conversation, hit.path))
    return [line for _, group in grouped for line in _write_items(_join_parts(group), ids)]


def write_opening(hit: Hit) -> str:
    """Return the opening of a passage, or of all messages of a day: its date and source."""
    where = ", ".join(filter(None, [hit.date, SOURCES.get(hit.source)]))
    return f"- ({where})"


def write_line(hit: Hit, mark: str = "") -> str:
    """Return a passage as a line of an item, a message with its speaker."""
    text = _write_text(hit)
    said = escaping.escape_item(f"{_name_speaker(hit)}: {text}" if hit.speaker else text)
    return f"{escaping.INDENT}{mark}{said}".replace("\n", f"\n{escaping.INDENT}")


def find_place(hit: Hit) -> Place:
    """Return the sort key of a passage in time; what has no date comes first."""
    number = hit.message if hit.message is not None else hit.line
    return (
        hit.date or "",
        hit.source,
        hit.conversation or "",
        str(hit.path),
        number,
        hit.part,
    )


def _join_parts(group: Iterable[Hit]) -> list[Hit]:
    """Return passages, with adjacent parts of one message joined."""
    joined: list[Hit] = []
    for hit in group:
        last = joined[-1] if joined else None
        is_part = last is not None and hit.message is not None and hit.message == last.message
        # With a gap between them, parts would read as if nothing had been said there.
        if last is not None and is_part and hit.part == last.part + 1:
            joined[-1] = replace(hit, text=f"{last.text} {hit.text}", parent=last.parent)
        else:
            joined.append(hit)
    return joined


def _write_items(group: Sequence[Hit], ids: Mapping[Place, str]) -> Iterator[str]:
    if group[0].source != "conversations" or len(group) == 1:
        for hit in group:
            yield _write_item(hit, _write_mark(hit, ids))
    else:
        yield write_opening(group[0])
        for before, hit in zip([None, *group], group, strict=False):
            if before is not None and not _is_next(before, hit):
                yield GAP
            yield write_line(hit, _write_mark(hit, ids))


def _write_mark(hit: Hit, ids: Mapping[Place, str]) -> str:
    return f"[#{ids[find_place(hit)]}] " if ids else ""


def _write_item(hit: Hit, mark: str) -> str:
    where = ", ".join(
        filter(
            None, [hit.date, SOURCES.get(hit.source), _name_speaker(hit) if hit.speaker else None]
        )
    )
    return f"- {mark}{escaping.escape_item(f'({where}) {_write_text(hit)}')}"


def _write_text(hit: Hit) -> str:
    return f"{hit.text} ({hit.note})" if hit.note else hit.text


def _name_speaker(hit: Hit) -> str:
    # A speaker's name is text from outside: with line breaks it could begin a line of its own.
    name = " ".join((hit.speaker or "").split())[:NAME_CHARS]
    return name if hit.trust in TRUSTED else f"{name} ({hit.trust})"


def _is_next(before: Hit, hit: Hit) -> bool:
    """Whether a message, or the next part of a long one, follows another one directly."""
    if hit.message is None:
        return hit.line == before.line + 1
    if hit.message == before.message:
        return hit.part <= before.part + 1
    return hit.parent == before.message
