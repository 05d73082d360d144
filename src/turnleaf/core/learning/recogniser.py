"""What a message states about its writer: subjects, slots and values, or nothing.

Text passes gates first: what is pasted, quoted, asked, supposed or told of others states nothing.
Then each clause is compared with the rules of its language, which look at its beginning. A value
ends where its type says, and what follows it must be able to follow it: no fact is half a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from turnleaf.core.languages.language import (
    OTHER,
    OTHER_WHOSE,
    SELF,
    SELF_WHOSE,
    find_languages,
    find_reader,
    get_language,
)
from turnleaf.core.learning.own_words import (
    HIDDEN,
    cut_sentences,
    hide_quotations,
    normalize_spelling,
)
from turnleaf.core.learning.slots import (
    NAMING,
    SOME_TIME,
    USER,
    Bearer,
    Correction,
    Statement,
    Utterance,
    Withdrawal,
    find_subjects,
    make_value_key,
    slots,
)
from turnleaf.core.loading import make_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from turnleaf.core.languages.language import Language, Rule
    from turnleaf.core.learning.own_words import Sentence
    from turnleaf.core.learning.slots import Names

# `re` holds the interpreter while it matches, and a slow match stops a whole server: no rule sees
# more than one clause of this length.
MAX_CLAUSE_CHARS = 240
MAX_FACT_CHARS = 2_000
"""The length of a stored fact that is still read; a longer one is a text."""
_FILE = "statements.toml"
_OPENING_CHARS = 120
_MAX_OPENINGS = 6
_MAX_ABOUT_AGE = 1
_MAX_MENTIONS = 5
_MAX_NAME_CHARS = 60
_LEADING_CHARS = 12
_FOLLOWING_CHARS = 40
_BEING = f"{SELF} am"
_INTRODUCTION_CHARS = 40
"""As much of what stands before a clause may introduce whom it is of."""
_ELIDED = (("elided_being", _BEING), ("elided", SELF))
"""How clauses are made that leave out who they are about, and what they leave out."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whom a clause is about, and how many characters of it say so.

    `name` is where a name stands that it tells, `known_as` the known name that it uses, and
    `name_slot` the slot that this name is known in.
    """

    mark: str
    key: str
    text: str
    chars: int
    name: tuple[int, int] | None = None
    known_as: str = ""
    name_slot: str = "name"
    is_guess: bool = False
    """Whether the user is only supposed, though somebody else may be meant."""


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause of a message without what leads to it, its subject marked."""

    text: str
    start: int
    end: int
    marked: str
    subject: _Subject
    quote_start: int
    names: Names

    def place(self, index: int) -> int:
        """Return where a character of the marked clause stands in the message."""
        return self.start + index - len(self.subject.mark) + self.subject.chars


def read_message(text: str, names: Names | None = None) -> list[Utterance]:
    """Return what a user's message states, corrects and withdraws, in order.

    `names` are those of people, pets and things that are known already.
    """
    plain = _skip_false_starts(hide_quotations(text))
    for language in map(get_language, find_languages(_FILE)):
        if language.gates.message.search(plain):
            return []
        if writing := language.gates.writing.search(plain):
            plain = plain[: writing.start()]
    return [*_Reader(text, plain, names=dict(names or {})).read()]


@lru_cache(maxsize=4096)
def read_fact(content: str) -> tuple[Statement, ...]:
    """Return what a stored fact states, in the user's words or somebody else's."""
    # To compare a whole text with each statement would take long, and it is no single fact anyway.
    if len(content) > MAX_FACT_CHARS:
        return ()
    plain = _retell(content)
    # What was retold has lost its letters; all else keeps those that it is written in.
    text = content if plain == normalize_spelling(content) else plain
    found = _Reader(text, plain, is_gated=False).read()
    return tuple(one for one in found if isinstance(one, Statement))


def states_only(content: str, statement: Statement) -> bool:
    """Whether a stored fact says nothing beyond a statement that was read in it."""
    said = _DATE_NOTE.sub("", _retell(content))
    remark = get_language(statement.language).speech("remark")
    is_all = len(said) - statement.end <= _MAX_REST or remark.fullmatch(said, statement.end)
    return len(read_fact(content)) == 1 and bool(is_all)


@lru_cache(maxsize=4096)
def _retell(content: str) -> str:
    """Return a fact in the first person, where it is written about "the user"."""
    plain = normalize_spelling(content)
    language = find_reader(content, _FILE)
    for told, said in language.retellings if language else ():
        plain = told.sub(said, plain, count=1)
    return plain


_MAX_REST = 3
_DATE_NOTE = make_pattern(r" ?[(\uff08](?:[A-Z][a-z]{2,8} ?)?(?:\d{4}(?:-\d\d)?)?[)\uff09]\Z")


@dataclass(slots=True)
class _Reader:
    """A message as it is read, with whom it spoke of last and who the last clause was about."""

    text: str
    plain: str
    is_gated: bool = True
    about: _Subject | None = None
    about_age: int = 0
    last: _Subject | None = None
    is_last_read: bool = False
    is_last_carried: bool = False
    """Whether `last` is of the sentence before."""
    topic: _Subject | None = None
    """What "it" means: something that somebody has, such as a number that has changed."""
    topic_age: int = 0
    is_beginning: bool = True
    is_of_user: bool = False
    """Whether the last thing said was about the user."""
    person: _Subject | None = None
    """The other person whom the sentence before was about, if there is only one."""
    is_of_others: bool = False
    """Whether a sentence without a subject may be about somebody else: they were spoken of."""
    told: Statement | None = None
    """The last statement, to which a later clause may add something."""
    told_age: int = 0
    stated: set[tuple[str, str]] = field(default_factory=set)
    """The slots and subjects that the message has given a value."""
    names: dict[str, Bearer] = field(default_factory=dict)

    def read(self) -> Iterator[Utterance]:
        """Read every sentence that is in a language whose patterns we have."""
        for sentence in cut_sentences(self.plain):
            # Two sentences on, "she" may be somebody else.
            self.about_age += 1
            self.about = self.about if self.about_age <= _MAX_ABOUT_AGE else None
            self.topic_age += 1
            self.topic = self.topic if self.topic_age <= _MAX_ABOUT_AGE else None
            self.told_age += 1
            self.told = self.told if self.told_age <= _MAX_ABOUT_AGE else None
            said = self.plain[sentence.start : sentence.end]
            # By the message itself: the plain text is Simplified, whatever its writer used.
            language = find_reader(self.text[sentence.start : sentence.end], _FILE)
            if language is None:
                continue
            # A question, a supposition or a story states nothing, whatever its clauses look like.
            if self.is_gated and language.gates.sentence.search(said):
                self.last = None
            else:
                yield from self._read_sentence(sentence, language)
            self._note_people(sentence, language)
            if language.speech("insider").match(self.plain, sentence.start, sentence.end):
                self.is_of_user = True

    def _note_people(self, sentence: Sentence, language: Language) -> None:
        """Note whom a sentence was about, as the next one may leave that out."""
        said = self.plain, sentence.start, sentence.end
        met = {found[0].lower() for found in language.speech("someone").finditer(*said)}
        # Once others were spoken of, a clause without a subject may be about them.
        if (self.about is not None and not self.about_age) or met:
            self.is_of_others = True
        elif language.speech("own").search(*said):
            self.is_of_others = False
        is_other = self.last is not None and self.last.key != USER
        self.person = self.last if is_other and len(met) <= 1 else None

    def _read_sentence(self, sentence: Sentence, language: Language) -> Iterator[Utterance]:
        said = self.plain, sentence.start, sentence.end
        # "Allergic to nuts, so I could not eat it" is not about whom the last sentence was about.
        self.last = None if language.speech("own").search(*said) else self.person
        self.is_last_carried = self.last is not None
        if not sentence.asks and (meant := self._find_correction(sentence, language)):
            yield meant
            if isinstance(meant, Correction):
                return
            # What was meant instead may follow: "just kidding, it's a cat".
            sentence = replace(sentence, start=meant.end)
        is_correcting = language.speech("wrong").search(self.plain, 0, sentence.end) is not None
        stated: list[Statement] = []
        changed: list[Correction] = []
        for start, end in self._find_clauses(sentence, language):
            is_beginning = self.is_beginning
            self.is_beginning = is_beginning and self._is_only_opening(start, end, language)
            # A clause with something quoted or pasted in it is not the user's own.
            if end - start > MAX_CLAUSE_CHARS or HIDDEN in self.plain[start:end]:
                continue
            if start > sentence.start and (meant := self._find_contrast(start, sentence, language)):
                yield from stated
                yield meant
                return
            if stated and (instead := language.speech("instead").match(self.plain, start, end)):
                old = self.text[instead.start("old") : instead.end("old")].strip()
                stated[-1] = replace(stated[-1], instead_of=old, end=end)
                continue
            if self.is_gated and language.gates.clause.search(self.plain, start, end):
                self._note_topic(start, end, language)
                continue
            read = [*self._read_clause(start, end, language, is_beginning=is_beginning)]
            stated += [one for one in read if not self._is_settled(one)]
            changed += () if read else self._find_change(start, end, language)
        stated += self._find_supposed(sentence, stated, language)
        yield from (replace(one, is_correction=True) if is_correcting else one for one in stated)
        yield from changed

    def _find_supposed(
        self, sentence: Sentence, stated: Sequence[Statement], language: Language
    ) -> Iterator[Statement]:
        """Yield what a sentence implies, also a question: who speaks of "my wife" is married."""
        if any("~subject" in slots()[one.slot].ends for one in stated):
            return
        told = {(one.slot, one.subject, make_value_key(one.value)) for one in stated}
        mine = language.speech("mine").finditer(self.plain, sentence.start, sentence.end)
        # Each mention is tried against many rules, and a text may repeat "my" a thousand times.
        for found in [*mine][:_MAX_MENTIONS]:
            start, end = found.start(), min(sentence.end, found.start() + MAX_CLAUSE_CHARS)
            if HIDDEN in self.plain[start:end]:
                continue
            for one in self._read_mention(start, end, sentence, language):
                if (one.slot, one.subject, make_value_key(one.value)) not in told:
                    self._note([one], language)
                    yield one

    def _read_mention(
        self, start: int, end: int, sentence: Sentence, language: Language
    ) -> list[Statement]:
        if other := language.speech("other").match(self.plain, start, end):
            subject = _describe_other(other, start, language)
            clause = self._mark(start, end, subject)
            named = [*_find_name(clause, language, self.text)]
            return named or self._suppose_kin(subject, start, sentence, language)
        whose = language.speech("user_whose").match(self.plain, start, end)
        chars = whose.end() - start if whose else 0
        clause = self._mark(start, end, _Subject(SELF_WHOSE, USER, "", chars))
        # Who once had a car has none; who speaks as a nurse is one, whatever else is over.
        if whose and language.speech("bygone").search(self.plain, sentence.start, sentence.end):
            return []
        rules = (rule for words in language.slots.values() for rule in words.supposed)
        return next(filter(None, (_apply(one, clause, language, self.text) for one in rules)), [])

    def _suppose_kin(
        self, subject: _Subject, start: int, sentence: Sentence, language: Language
    ) -> list[Statement]:
        """Return the statement that somebody exists, from a mention: "with my boyfriend"."""
        slot, value = language.kin.get(subject.key, ("", ""))
        is_gone = language.speech("kin_gone").search(self.plain, sentence.start, sentence.end)
        is_told = any(subject.key == whose for _, whose in self.stated)
        if not self.is_gated or not slot or is_gone or is_told:
            return []
        end = start + subject.chars
        return [Statement(slot, value.format(subject.text), language.name, start=start, end=end)]

    def _is_settled(self, statement: Statement) -> bool:
        """Whether a statement only ends a value whose new one was just stated."""
        attribute = statement.slot, statement.subject
        if statement.is_over:
            return not statement.value and attribute in self.stated
        self.stated.add(attribute)
        return False

    def _find_clauses(self, sentence: Sentence, language: Language) -> list[tuple[int, int]]:
        """Return the places of the clauses to read, up to what somebody else said."""
        places = _cut_clauses(self.plain, sentence, language)
        # The last clause of a question asks, and a fact learned from a question is wrong.
        if sentence.asks:
            places = [*places[:-1], *self._find_wish(places[-1], language)]
        if not self.is_gated:
            return places
        reported = language.gates.reported.search(self.plain, sentence.start, sentence.end)
        return [place for place in places if not reported or place[1] <= reported.start()]

    def _is_only_opening(self, start: int, end: int, language: Language) -> bool:
        """Whether a clause only opens a message: "quick update,"."""
        return _skip_opening(self.plain, start, end, language) >= end

    def _find_wish(self, place: tuple[int, int], language: Language) -> list[tuple[int, int]]:
        """Return the place of the wish in a question: "could you *call me Al*?"."""
        start = _skip_opening(self.plain, *place, language)
        wish = language.speech("wish").match(self.plain, start, place[1])
        return [(wish.end(), place[1])] if wish else []

    def _read_clause(
        self, start: int, end: int, language: Language, *, is_beginning: bool
    ) -> Iterator[Statement]:
        opened = _skip_opening(self.plain, start, end, language)
        before = self.last
        ways = {"bare" if self.is_last_read else "bare_deed"} if not self.is_last_carried else set()
        if before and before.key != USER:
            ways.add("continued")
        if not any(language.speech(way).match(self.plain, opened, end) for way in ways):
            before = None
        self.last, self.is_last_read, self.is_last_carried = None, False, False
        for clause in self._mark_subjects(opened, end, before, language, is_beginning=is_beginning):
            found = [*_list_statements(clause, language, self.text)]
            self.last = self.last or (clause.subject if clause.subject.mark else None)
            if clause.subject.key != USER:
                self.about, self.about_age = clause.subject, 0
                self.is_of_user = False
            if found:
                is_of_clause = found[0].subject == clause.subject.key
                self.last = clause.subject if is_of_clause else None
                self.is_last_read = True
                self.is_of_user = found[0].subject == USER
                self._note(found, language)
                yield from found
                break
        else:
            self._note_mention(opened, end, language)
            yield from self._read_sequel(opened, end, language)
        self._note_topic(opened, end, language)
        met = [*language.speech("mention").finditer(self.plain, opened, end)]
        if len(met) == 1 and self.about_age:
            # Who is the only person that it tells of is "he" or "she" after it.
            self.about, self.about_age = _describe_other(met[0], opened, language), 0

    def _note_topic(self, start: int, end: int, language: Language) -> None:
        """Note what "it" means after a clause."""
        for found in language.speech("topic").finditer(self.plain, start, end):
            owner = self.last if self.last and self.last.key != USER else None
            mark = (OTHER_WHOSE if owner else SELF_WHOSE) + found["topic"]
            self.topic = replace(owner or _Subject("", USER, "", 0), mark=mark, name=None)
            self.topic_age = 0

    def _note_mention(self, start: int, end: int, language: Language) -> None:
        """Note whom a clause mentions that states nothing, as the next one may leave that out."""
        if language.speech("chain").match(self.plain, start, end):
            self.is_of_user = True
        if mention := language.speech("mention").search(self.plain, start, end):
            self.about, self.about_age = _describe_other(mention, start, language), 0

    def _read_sequel(self, start: int, end: int, language: Language) -> list[Statement]:
        """Return what a clause adds to the last statement, such as a new value after the old."""
        topic = self.told
        if topic is None or topic.language != language.name:
            return []
        mark = SELF if topic.subject == USER else OTHER
        clause = self._mark(start, end, _Subject(mark, topic.subject, topic.subject_text, 0))
        for words in language.slots.values():
            for rule in words.then.get(topic.slot, ()):
                if found := _apply(rule, clause, language, self.text):
                    found = [_copy_kind(one, topic) for one in found]
                    self._note(found, language)
                    return found
        return []

    def _note(self, found: list[Statement], language: Language) -> None:
        """Note whom statements name, and whom "his" and "her" will mean after them."""
        for one in found:
            if one.slot == "name" and one.subject != USER and one.value:
                name = normalize_spelling(one.value).lower()
                self.names[name] = Bearer(one.subject, one.subject_text)
        first = found[0]
        self.told, self.told_age = found[-1], 0
        met = slots()[first.slot].introduces
        is_near = first.subject == USER or first.subject in find_subjects("partners")
        if met and is_near and not first.is_over:
            is_told = (
                met == "~value" or normalize_spelling(first.value).lower() in language.relations
            )
            key, text = describe_kin(first.value, language) if is_told else (met, met)
            self.about, self.about_age = _Subject(OTHER, key, text, 0), 0

    def _find_correction(
        self, sentence: Sentence, language: Language
    ) -> Correction | Withdrawal | None:
        start, end = sentence.start, min(sentence.end, sentence.start + MAX_CLAUSE_CHARS)
        while start < end and self.plain[start] == " ":
            start += 1
        if taken_back := language.withdrawal.match(self.plain, start, end):
            return Withdrawal(language.name, start, taken_back.end())
        return self._match_correction(start, end, language, language.corrections)

    def _find_contrast(
        self, start: int, sentence: Sentence, language: Language
    ) -> Correction | None:
        """Return a correction inside a sentence, which must name what was wrong."""
        if sentence.asks:
            return None
        end = min(sentence.end, start + MAX_CLAUSE_CHARS)
        meant = self._match_correction(start, end, language, language.corrections)
        return meant if meant and meant.old else None

    def _find_change(self, start: int, end: int, language: Language) -> list[Correction]:
        """Return the corrections in a clause that replaces one thing by another: from A to B."""
        opened = _skip_opening(self.plain, start, end, language)
        found = self._match_correction(opened, end, language, language.changes)
        return [found] if found else []

    def _match_correction(
        self, start: int, end: int, language: Language, rules: Sequence[Rule]
    ) -> Correction | None:
        said = self.plain[start:end]
        for rule in rules:
            found = rule.regex.match(said)
            places = _find_value_places(rule, found, said, language) if found else None
            if places and "new" in places:
                new, old = (
                    self.text[start + at : start + to] if at < to else ""
                    for at, to in (places["new"][0], places.get("old", [(0, 0)])[0])
                )
                return Correction(new, old, language.name, start, end)
        return None

    def _mark_subjects(
        self, start: int, end: int, last: _Subject | None, language: Language, *, is_beginning: bool
    ) -> Iterator[_Clause]:
        """Yield the clause with its subject marked, once for each way to read it."""
        # Who was just introduced is who an age after it is of: "I have a son, five years old."
        near = max(0, start - _INTRODUCTION_CHARS)
        introduced = language.speech("introduction").search(self.plain, near, start)
        is_near = self.about is not None and not self.about_age and not self.is_of_user
        is_guess = self.is_of_others or is_near
        if (is_beginning or self.is_of_user) and not introduced:
            for name, mark in _ELIDED:
                if language.speech(name).match(self.plain, start, end):
                    letter = self.plain[start]
                    space = " " if letter.isascii() and letter.isalpha() else ""
                    is_own = language.speech("own_form").match(self.plain, start, end) is not None
                    user = _Subject(mark + space, USER, "", 0, is_guess=is_guess and not is_own)
                    yield self._mark(start, end, user)
        if language.speech("outsider").match(self.plain, start, end):
            self.is_of_user = False
        for subject in self._find_subjects(start, end, last, language, is_guess=is_guess):
            yield self._mark(start, end, subject)

    def _mark(self, start: int, end: int, subject: _Subject) -> _Clause:
        marked = subject.mark + self.plain[start + subject.chars : end]
        return _Clause(self.plain, start, end, marked, subject, start, self.names)

    def _find_subjects(
        self,
        start: int,
        end: int,
        last: _Subject | None,
        language: Language,
        *,
        is_guess: bool,
    ) -> Iterator[_Subject]:
        plain, about = self.plain, self.about
        if other := language.speech("other").match(plain, start, end):
            yield _describe_other(other, start, language)
        yield from self._find_known(start, end)
        if whose := language.speech("user_whose").match(plain, start, end):
            yield _Subject(SELF_WHOSE, USER, "", whose.end() - start)
        if user := language.speech("user").match(plain, start, end):
            yield _Subject(SELF, USER, "", user.end() - start)
        if about and (pronoun := language.speech("pronoun").match(plain, start, end)):
            yield replace(about, mark=OTHER, chars=pronoun.end() - start, name=None)
        if about and (pronoun := language.speech("pronoun_whose").match(plain, start, end)):
            yield replace(about, mark=OTHER_WHOSE, chars=pronoun.end() - start, name=None)
        if self.topic and (it := language.speech("it").match(plain, start, end)):
            yield replace(self.topic, chars=it.end() - start)
        if last:
            yield from _leave_out(last, " " if plain[start].isascii() else "", language)
        yield _Subject("", USER, "", 0, is_guess=is_guess)

    def _find_known(self, start: int, end: int) -> Iterator[_Subject]:
        """Yield the known person or pet whose name a clause begins with, also as an owner."""
        said = self.plain[start : min(end, start + _MAX_NAME_CHARS)].lower()
        for name, (key, text, slot) in self.names.items():
            rest = said[len(name) :]
            if slot != "name" or not said.startswith(name):
                continue
            # "Al" does not begin "also". Chinese has no edges, so there a name may go on at once.
            if not (name[-1].isascii() and rest[:1].isalnum()):
                known_as = self.text[start : start + len(name)]
                yield _Subject(OTHER, key, text, len(name), known_as=known_as)
                if rest.startswith("'s "):
                    yield _Subject(OTHER_WHOSE, key, text, len(name) + 3, known_as=known_as)
                return


def _leave_out(last: _Subject, space: str, language: Language) -> Iterator[_Subject]:
    """Yield the last subject as one that a clause leaves out, once for each way to read it."""
    if last.key == USER:
        yield replace(last, mark=SELF + space, chars=0, name=None)
        return
    marks = (f"{OTHER}{left_out}{space}" for left_out in ("", *language.left_out))
    for mark in (*marks, OTHER_WHOSE):
        yield replace(last, mark=mark, chars=0, name=None)


def _copy_kind(statement: Statement, topic: Statement) -> Statement:
    """Return a statement with the kind of the one before it, if it has none of its own."""
    if statement.kind or statement.slot != topic.slot:
        return statement
    return replace(statement, kind=topic.kind, kind_text=topic.kind_text)


def _skip_false_starts(plain: str) -> str:
    """Return a text with false starts blanked: "Dominic, sorry, Damian"."""
    for language in map(get_language, find_languages(_FILE)):
        pattern = language.speech("false_start")
        # Blanked rather than cut out: a place in the plain text is a place in the message.
        plain = pattern.sub(lambda start: " " * len(start[0]), plain)
    return plain


def _cut_clauses(plain: str, sentence: Sentence, language: Language) -> list[tuple[int, int]]:
    """Return the places of a sentence's clauses."""
    places: list[tuple[int, int]] = []
    start = sentence.start
    for gap in language.speech("split").finditer(plain, sentence.start, sentence.end):
        if plain[start : gap.start()].strip():
            places.append((start, gap.start()))
        start = gap.end()
    if plain[start : sentence.end].strip():
        places.append((start, sentence.end))
    return places


def _skip_opening(plain: str, start: int, end: int, language: Language) -> int:
    """Return where a clause begins after an opening such as "by the way"."""
    opening = language.speech("opening")
    for _ in range(_MAX_OPENINGS):
        while start < end and plain[start] in " ,.:;~-":
            start += 1
        found = opening.match(plain, start, min(end, start + _OPENING_CHARS))
        if not found or found.end() == start:
            break
        start = found.end()
    return start


def _describe_other(found: re.Match[str], start: int, language: Language) -> _Subject:
    groups = found.groupdict()
    word = found["relation"].lower()
    relation = language.relations[word]
    which = (groups.get("which") or "").strip().lower()
    # The new boss is the boss; a new dog may be one more.
    which = "" if which == "new" and relation not in find_subjects("pets") else which
    key = f"{which} {relation}".strip()
    shown = language.display[word]
    mark = OTHER_WHOSE if groups.get("whose") else OTHER
    name = found.span("name") if groups.get("name") else None
    joined = f"{which} {shown}" if which and which.isascii() else f"{which}{shown}"
    called = (groups.get("name") or "").lower()
    return _Subject(mark, key, joined, found.end() - start, name, called)


def _list_statements(clause: _Clause, language: Language, text: str) -> Iterator[Statement]:
    """Yield the name of a clause's subject, and what the first rule that fits reads in it."""
    yield from _find_name(clause, language, text)
    yield from _find_first_statement(clause, language, text)


def _find_name(clause: _Clause, language: Language, text: str) -> Iterator[Statement]:
    """Yield the name that stands beside the subject of a clause: my dog *Rex*."""
    if clause.subject.name:
        start, end = clause.subject.name
        yield Statement(
            "name", text[start:end], language.name, clause.subject.key,
            subject_text=clause.subject.text, start=clause.quote_start, end=end,
        )  # fmt: skip


def _find_first_statement(clause: _Clause, language: Language, text: str) -> list[Statement]:
    lowered = clause.marked.lower()
    for words in language.slots.values():
        # To look for a word is much cheaper than to try a pattern, and most clauses have no cue.
        if words.cues and not any(cue in lowered for cue in words.cues):
            continue
        is_passing = words.unless is not None and words.unless.search(clause.marked) is not None
        for rule in words.rules:
            if is_passing and not rule.is_over:
                continue
            if statements := _apply(rule, clause, language, text):
                return statements
    return []


def _apply(rule: Rule, clause: _Clause, language: Language, text: str) -> list[Statement]:
    """Return what a rule reads in a clause, and what the words after the match add."""
    found = rule.regex.match(clause.marked)
    places = _find_value_places(rule, found, clause.marked, language) if found else None
    if not found or places is None:
        return []
    turned = _turn_to_person(rule, clause, places, language)
    if turned is None or (turned.subject.key != USER and not slots()[rule.slot].others):
        return []
    clause = turned
    if clause.subject.is_guess and slots()[rule.slot].others:
        # An allergy of the wrong person is worse than none, so a guess needs a word for the
        # speaker.
        own = language.speech("own").search(clause.text, clause.start, clause.end)
        if own is None:
            return []
    # The pattern of an open part goes to the end of the clause; its type may end it sooner.
    last = max((end for many in places.values() for _, end in many), default=0)
    tail = last if rule.open_part else found.end()
    following = _continue(rule, clause, language, text, places, tail)
    # A value after which the sentence goes on in another way would be half a thought.
    if not following and not language.speech("tail").match(clause.marked, tail):
        return []
    return [*_make_statements(rule, clause, language, text, places, tail), *following]


def _turn_to_person(
    rule: Rule, clause: _Clause, places: dict[str, list[tuple[int, int]]], language: Language
) -> _Clause | None:
    """Return a clause with the person that it is about as its subject; None if unknown."""
    if "who" not in places:
        return clause
    start, end = places["who"][0]
    person = _find_person(clause.marked[start:end], clause.names, language)
    # A name that is not known is nobody: strangers, brands and places never become people.
    group = find_subjects(rule.types["who"])
    if person is None or (group and person.key not in group):
        return None
    if not slots()[rule.slot].others:
        return clause
    mark, chars = clause.subject.mark, clause.subject.chars
    return replace(clause, subject=replace(person, mark=mark, chars=chars))


def _find_person(said: str, names: Names, language: Language) -> _Subject | None:
    plain = said.lower()
    if plain in names:
        key, text, slot = names[plain]
        return _Subject(OTHER, key, text, 0, known_as=said, name_slot=slot)
    if other := language.speech("other").fullmatch(plain):
        return _describe_other(other, 0, language)
    word = plain.partition(" ")[2]
    if not plain.startswith(("my ", "our ", "the ")):
        return None
    # A name may stand beside it: my cat Smudge.
    known = next((one for one in (word, word.rpartition(" ")[0]) if one in language.relations), "")
    return _Subject(OTHER, language.relations[known], language.display[known], 0) if known else None


def _find_value_places(
    rule: Rule, found: re.Match[str], said: str, language: Language
) -> dict[str, list[tuple[int, int]]] | None:
    """Return the places of a rule's values; None when one is not of its type."""
    places: dict[str, list[tuple[int, int]]] = {}
    for part, name in rule.types.items():
        start, end = found.span(part)
        if start < 0:
            continue
        kind = language.values[name]
        find = kind.find if part == rule.open_part else kind.find_all
        many = find(said, start, end)
        if not many:
            return None
        places[part] = many
    return places


def _make_statements(
    rule: Rule,
    clause: _Clause,
    language: Language,
    text: str,
    places: dict[str, list[tuple[int, int]]],
    tail: int,
) -> Iterator[Statement]:
    def read_place(place: tuple[int, int]) -> str:
        # The mark stands in for the subject, so what is in it has no place in the message.
        if place[1] <= len(clause.subject.mark):
            return clause.marked[slice(*place)]
        words = text[clause.place(place[0]) : clause.place(place[1])]
        # The capital of "Training for a race" is only that of the sentence.
        is_implied = not clause.subject.chars and clause.subject.mark.startswith((_BEING, OTHER))
        is_first = is_implied and clause.place(place[0]) == clause.start
        return words[:1].lower() + words[1:] if is_first else words

    subject, subject_text = clause.subject.key, clause.subject.text
    if thing := read_place(places["thing"][0]) if "thing" in places else rule.subject:
        subject, subject_text = _name_thing(thing, language)
    kind = _fill(rule.kind, read_place(places["kind"][0])) if "kind" in places else rule.kind
    slot, name = rule.slot, clause.subject.known_as
    old = read_place(places["old"][0]) if "old" in places else ""
    if "who" in places and slot in NAMING:
        slot, old = clause.subject.name_slot, name
    is_of_one = bool(name) and "~subject" in slots()[slot].ends
    is_renamed = rule.is_over and slot in NAMING
    if is_of_one and not subject_text.isascii():
        subject_text += name
    bearer = name if is_of_one or is_renamed else ""
    is_only_old = "old" in places and "value" not in places
    when = read_place(places["when"][0]) if "when" in places else _find_when(rule, clause, language)
    for place in places["old"] if is_only_old else places.get("value", [(0, 0)]):
        yield Statement(
            slot,
            _fill(rule.value, read_place(place)) if place != (0, 0) else rule.value or bearer,
            language.name,
            subject,
            make_value_key(kind) if kind else "",
            subject_text,
            kind,
            when,
            is_over=rule.is_over or is_only_old,
            is_weak=rule.is_weak,
            is_correction=rule.is_change,
            instead_of="" if is_only_old else old,
            is_owned="thing" in places
            and _is_owned(clause.marked[: places["thing"][0][0]], language),
            start=clause.quote_start,
            end=clause.place(tail),
        )


def _is_owned(before: str, language: Language) -> bool:
    """Whether the words before a thing say that it is the user's."""
    return (
        before.rstrip().endswith(SELF_WHOSE) or language.speech("owning").search(before) is not None
    )


def _find_when(rule: Rule, clause: _Clause, language: Language) -> str:
    """Return the words that say when an event was, if it was not just now.

    "Since I lost my job" says that it was, and not when; so does "in the spring", which we do
    not work out.
    """
    if not slots()[rule.slot].is_event:
        return ""
    before = max(0, clause.start - _LEADING_CHARS)
    leading = clause.text[before : clause.start]
    if language.speech("undated").search(leading):
        return SOME_TIME
    when = language.speech("when")
    if found := when.search(clause.marked) or when.search(leading):
        return found[0]
    around = normalize_spelling(clause.text[before : clause.end + _FOLLOWING_CHARS])
    return SOME_TIME if language.speech("some_time").search(around) else ""


def _fill(template: str, said: str) -> str:
    """Return a value, with the words that a rule puts around it, if any."""
    return template.format(said) if "{}" in template else said


def _name_thing(word: str, language: Language) -> tuple[str, str]:
    """Return the key and the name of a person or thing: "the lamp in my office" is one thing."""
    known = normalize_spelling(word).lower()
    if known in language.relations:
        return language.relations[known], language.display[known]
    placed = language.speech("placed_thing").fullmatch(word)
    name = f"{placed['where']} {placed['what']}" if placed else word
    return make_value_key(name.replace("-", " ")), name


def _continue(
    rule: Rule,
    clause: _Clause,
    language: Language,
    text: str,
    places: dict[str, list[tuple[int, int]]],
    tail: int,
) -> list[Statement]:
    """Return what the words after a statement add: a dog *named Rex*, a nurse *at Mercy*."""
    if rule.is_over:
        return []
    while clause.marked[tail : tail + 1] in {" ", ",", ":"}:
        tail += 1
    rest = _cut_rest(clause, tail)
    for words in language.slots.values():
        for one in words.after.get(rule.slot, ()):
            if statements := _apply(one, rest, language, text):
                return statements
        for one in words.after_value.get(rule.slot, ()):
            about = replace(rest, subject=_describe_value(clause, places, language, text, rest))
            if statements := _apply(one, about, language, text):
                return statements
    return []


def _cut_rest(clause: _Clause, tail: int) -> _Clause:
    start = clause.place(tail)
    subject = replace(clause.subject, mark="", chars=0, name=None)
    return replace(clause, start=start, marked=clause.marked[tail:], subject=subject)


def _describe_value(
    clause: _Clause,
    places: dict[str, list[tuple[int, int]]],
    language: Language,
    text: str,
    rest: _Clause,
) -> _Subject:
    """Return the value as a subject: the dog for "a golden retriever"."""
    start, end = places["value"][-1]
    key, shown = describe_kin(text[clause.place(start) : clause.place(end)], language)
    return replace(rest.subject, key=key, text=shown)


def describe_kin(value: str, language: Language) -> tuple[str, str]:
    """Return the key of the person or pet that a value names, and the word for it."""
    word = normalize_spelling(value).lower()
    last = word.split()[-1]
    # Chinese has no spaces: any end of the value may be the word for somebody.
    ends = () if word.isascii() else (word[start:] for start in range(1, len(word)))
    words = (word, last.removesuffix("s"), last, *ends)
    known = next((one for one in words if one in language.relations), None)
    if known:
        return language.relations[known], language.display[known]
    bare = value.rsplit(maxsplit=1)[-1].removesuffix("s") if value.isascii() else value
    return make_value_key(bare), bare
