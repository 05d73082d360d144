"""The contract of `Passages`: found from the moment it is stored, and only by whom it may be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.clocks import Clock
from tests.meanings import FACTS, Ailing, Meanings
from tests.scores import require
from tests.store.contracts.conftest import Backend
from tests.store.contracts.together import do_at_once
from turnleaf.core.changes import Source
from turnleaf.core.keys import Reader, make_own_audience, make_prompt_audience
from turnleaf.core.messages import Message, NewMessage
from turnleaf.core.search.ranking import Hit, Weights
from turnleaf.errors import EmbeddingError, InvalidInput
from turnleaf.store.contracts import Conversations, Passages, Stores

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
ENGLISH = "She keeps the spare key under the third pot. "
CHINESE = "備用鑰匙放在第三個花盆下面。"
EVERYBODY = Reader()


@pytest.fixture
def store(space: Stores) -> Conversations:
    return space.conversations


@pytest.fixture
def index(space: Stores) -> Passages:
    return space.passages


# What is found


def test_what_another_who_opened_it_has_just_stored_is_found_in_english_and_chinese(
    backend: Backend, index: Passages
) -> None:
    other = backend.open()
    assert index.search("zebra") == index.search("斑馬") == []
    other.facts.add("keeps a zebra 一隻斑馬")
    other.daily.append("bought a kettle 水壺")
    other.conversations.add_messages("k", [says("sold the boat 一艘船")])
    for query, source in (
        ("zebra", "memory"),
        ("斑馬", "memory"),
        ("kettle", "daily"),
        ("水壺", "daily"),
        ("BOAT", "conversations"),
        ("船", "conversations"),
    ):
        assert [hit.source for hit in index.search(query)] == [source]


def test_what_is_changed_or_removed_is_no_longer_found_in_its_old_words(
    backend: Backend, space: Stores, index: Passages
) -> None:
    other = backend.open()
    fact = other.facts.add("lives in Lisbon")
    other.daily.append("met Ann", source="tool:a")
    other.conversations.add_messages("k", [says("a zebra")])
    assert all(index.search(query) for query in ("Lisbon", "Ann", "zebra"))
    other.facts.update(fact.id, "lives in Tainan 台南")
    other.daily.erase("tool:a")
    other.conversations.clear("k")
    for query in ("Lisbon", "Ann", "zebra"):
        assert index.search(query, floor=False) == []
    assert list_hit_texts(index.search("台南")) == ["lives in Tainan 台南"]
    other.facts.delete(fact.id)
    assert index.search("Tainan", floor=False) == []
    other.facts.undo()
    assert list_hit_texts(index.search("Tainan")) == ["lives in Tainan 台南"]


def test_a_note_is_found_by_what_it_says_now(
    backend: Backend, space: Stores, index: Passages, clock: Clock
) -> None:
    for text in ("met Ann", "saw 小明"):
        space.daily.append(text)
    assert index.search("Ann")
    (day,) = space.daily.dates()
    entry = f"{clock():%H:%M} met Ann"
    assert backend.open().daily.revise(day, entry, f"{clock():%H:%M} met 安妮")
    assert index.search("Ann", floor=False) == []
    assert [hit.source for hit in index.search("安妮")] == ["daily"]
    assert [hit.source for hit in index.search("小明")] == ["daily"]


def test_a_fact_says_where_it_stands(space: Stores, index: Passages) -> None:
    memory = space.facts.add("使用者喜歡烏龍茶", "Drinks")
    (hit,) = index.search("烏龍茶")
    assert hit.text == "使用者喜歡烏龍茶"
    lines = {one.id: line for one, line in space.facts.list_with_lines()}
    assert (hit.source, hit.line) == ("memory", lines[memory.id])
    assert (hit.heading, hit.id, hit.date) == ("Drinks", memory.id, "2026-03-01")
    assert (hit.conversation, hit.speaker, hit.message) == (None, None, None)
    assert (hit.score, hit.vector) == (hit.bm25, None)
    assert hit.score > 0.7


def test_a_note_says_its_day(space: Stores, index: Passages) -> None:
    space.daily.append("bought a kettle\nand 茶葉")
    (hit,) = index.search("kettle")
    assert hit.text == "12:00 bought a kettle\nand 茶葉"
    assert (hit.source, hit.date, hit.id) == ("daily", "2026-03-01", None)


def test_a_fact_that_left_is_found_among_the_older_ones(space: Stores, index: Passages) -> None:
    fact = space.facts.add("I have a zebra")
    space.facts.retire([fact.id])
    assert [(hit.source, hit.id) for hit in index.search("zebra")] == [("older", fact.id)]
    assert index.search("zebra", source="memory") == []


def test_a_fact_whose_last_day_is_over_is_found_as_an_older_one_before_anything_is_written(
    space: Stores, index: Passages, clock: Clock
) -> None:
    fact = space.facts.add("on holiday in Lisbon 在里斯本度假", until=NOON.date())
    for query in ("Lisbon", "里斯本"):
        assert [hit.source for hit in index.search(query)] == ["memory"]
    clock.pass_time(days=1)
    for query in ("Lisbon", "里斯本"):
        assert [(hit.source, hit.id) for hit in index.search(query)] == [("older", fact.id)]
        assert index.search(query, source="memory") == []
        assert [hit.id for hit in index.search(query, source="older")] == [fact.id]
    space.facts.revive(fact.id, until=NOON.date() + 7 * DAY)
    assert [hit.source for hit in index.search("Lisbon", source="memory")] == ["memory"]


def test_what_waits_and_what_is_only_on_record_is_never_found(
    space: Stores, index: Passages
) -> None:
    space.pending.add("green tea waits")
    fact = space.facts.add("green tea is gone")
    space.facts.delete(fact.id)
    space.schedules.add("is there green tea?", "@daily", zone="UTC")
    space.records.put("tea", "green tea", b"green tea")
    assert index.search("green tea", floor=False) == []


def test_a_message_says_who_said_it_when_and_where(store: Conversations, index: Passages) -> None:
    first, second = store.add_messages("k", [says("which kettle?"), says("鐵壺", 1, "assistant")])
    hit = index.search("鐵壺")[0]
    assert (hit.source, hit.date, hit.audience) == ("conversations", "2026-03-01", "")
    assert (hit.conversation, hit.speaker, hit.trust) == ("k", "assistant", "assistant")
    assert (hit.message, hit.parent, hit.id) == (second, first, str(second))
    assert (hit.time, hit.part, hit.is_shown) == ("2026-03-01T12:01:00.000Z", 0, True)


def says(text: str, minutes: float = 0, role: str = "user", name: str | None = None) -> Message:
    return Message(role, text, NOON + timedelta(minutes=minutes), name=name)


def list_hit_texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


def test_a_speaker_is_searched_by_name_and_not_by_role(
    store: Conversations, index: Passages
) -> None:
    store.add_messages("k", [says("I sold the boat", name="王小明"), says("A pity", 1)])
    store.add_messages("other", [says("the assistant of the user", 99)])
    assert "I sold the boat" in list_hit_texts(index.search("小明"))
    assert list_hit_texts(index.search("user")) == ["the assistant of the user"]


def test_every_part_of_a_long_message_is_found_by_itself(
    store: Conversations, index: Passages
) -> None:
    long = f"{ENGLISH * 40}\n\nAt last came a zebra.\n\n{CHINESE * 60}\n\n最後有一隻海象。"
    store.add_messages("k", [says(long)])
    zebra = index.search("zebra")[0]
    walrus = index.search("海象")[0]
    assert "zebra" in zebra.text
    assert "海象" in walrus.text
    assert max(len(zebra.text), len(walrus.text)) <= 600
    assert zebra.message == walrus.message
    assert 0 < zebra.part < walrus.part
    assert [one.part for one in index.around(zebra)] == [zebra.part - 1, zebra.part + 1]


def test_an_answer_is_found_through_the_question_before_it(
    store: Conversations, index: Passages
) -> None:
    exchange = [says("Which restaurant serves the best ramen?"), says("Number nine.", 1)]
    store.add_messages("k", exchange)
    store.add_messages("other", [says("Is it late?"), says("Yes.", 1)])
    assert list_hit_texts(index.search("ramen restaurant")) == [one.text for one in exchange]


def test_neighbours_are_close_in_time(store: Conversations, index: Passages) -> None:
    store.add_messages("k", [says("best ramen?"), says("Number nine.", 31), says("Sure?", 60)])
    (hit,) = index.search("ramen")
    assert hit.text == "best ramen?"
    assert index.around(hit) == []
    assert list_hit_texts(index.around(index.search("nine")[0], 3, 3)) == ["Sure?"]


def test_what_is_around_comes_in_the_order_of_time(store: Conversations, index: Passages) -> None:
    store.add_messages("k", [says(f"number x{at}", at) for at in range(7)])
    hit = next(hit for hit in index.search("x3") if hit.text == "number x3")
    assert list_hit_texts(index.around(hit, 2, 1)) == ["number x1", "number x2", "number x4"]


def test_words_of_strangers_and_tools_are_nobodys_context(
    store: Conversations, index: Passages
) -> None:
    stranger = NewMessage(says("a walrus", 1), trust="stranger", source="slack:U1")
    store.add_messages("k", [says("hello"), stranger, says("good bye", 2)])
    assert [(hit.text, hit.trust) for hit in index.search("walrus", floor=False)] == [
        ("a walrus", "stranger")
    ]
    assert list_hit_texts(index.around(index.search("hello")[0])) == ["good bye"]


def test_a_direct_message_is_found_only_from_there(store: Conversations, index: Passages) -> None:
    store.add_messages("slack:D1", [says("a secret zebra")], audience=make_own_audience("slack:D1"))
    store.add_messages("cli:x", [says("an open zebra")])
    for reader in (
        None,
        Reader(),
        Reader("cli:x", is_prompt=True),
        Reader("s", make_own_audience("slack:D2")),
    ):
        assert list_hit_texts(index.search("zebra", reader=reader)) == ["an open zebra"]
    mine = Reader("slack:D1", make_own_audience("slack:D1"), is_prompt=True)
    assert sorted(list_hit_texts(index.search("zebra", reader=mine))) == [
        "a secret zebra",
        "an open zebra",
    ]


def test_what_a_schedule_says_is_in_its_own_prompts_alone(
    store: Conversations, index: Passages
) -> None:
    store.add_messages("schedule:1", [says("a daily zebra")])
    assert index.search("zebra", reader=Reader("cli:x", is_prompt=True)) == []
    assert list_hit_texts(index.search("zebra")) == ["a daily zebra"]
    its_own = Reader("schedule:1", make_prompt_audience("schedule:1"), is_prompt=True)
    assert list_hit_texts(index.search("zebra", reader=its_own)) == ["a daily zebra"]


@pytest.mark.parametrize("trust", ["stranger", "tool", "document"])
def test_untrusted_words_are_in_no_prompt_of_another_conversation_until_accepted(
    store: Conversations, index: Passages, trust: str
) -> None:
    store.add_messages("k", [NewMessage(says("an odd zebra"), trust=trust)])
    prompt = Reader("other", is_prompt=True)
    assert index.search("zebra", reader=prompt) == []
    assert [hit.trust for hit in index.search("zebra")] == [trust]
    assert len(index.search("zebra", reader=Reader("k", is_prompt=True))) == 1
    store.accept("k", [NOON])
    assert [hit.trust for hit in index.search("zebra", reader=prompt)] == ["user"]


def test_what_is_hidden_or_not_searched_is_found_by_nobody(
    store: Conversations, index: Passages
) -> None:
    store.add_messages("k", [says("a zebra"), says("hay", 1)])
    store.add_messages("other", [says("another zebra", 2)])
    store.hide("k", [NOON], "change:1")
    assert list_hit_texts(index.search("zebra", floor=False)) == ["another zebra"]
    store.set_searched("other", searched=False)
    assert index.search("zebra", floor=False) == []
    store.show_again("change:1")
    store.set_searched("other", searched=True)
    assert sorted(list_hit_texts(index.search("zebra"))) == ["a zebra", "another zebra", "hay"]


def test_another_version_comes_last_and_is_marked(store: Conversations, index: Passages) -> None:
    first, second = store.add_messages("k", [says("hello"), says("zebra zebra zebra", 1)])
    store.add_messages("k", [says("a zebra, I think, with many words", 2)], after=first)
    shown = [(hit.text, hit.is_shown) for hit in index.search("zebra", floor=False)]
    assert shown[-1] == ("zebra zebra zebra", False)
    assert ("a zebra, I think, with many words", True) in shown
    store.show_version("k", second)
    again = [(hit.text, hit.is_shown) for hit in index.search("zebra", floor=False)]
    assert again[-1] == ("a zebra, I think, with many words", False)


def test_a_conversation_of_which_one_narrows_the_audience_is_found_by_no_other_any_more(
    store: Conversations, index: Passages
) -> None:
    store.add_messages("k", [says("an open zebra")])
    assert len(index.search("zebra")) == 1
    store.add_messages("k", [says("and a walrus", 60)], audience=make_own_audience("me"))
    assert index.search("zebra") == []
    assert list_hit_texts(index.search("zebra", reader=Reader("k", make_own_audience("me")))) == [
        "an open zebra"
    ]


def test_a_message_whose_fact_is_forgotten_is_not_found_until_the_fact_is_back(
    space: Stores, index: Passages
) -> None:
    space.conversations.add_messages("k", [says("my zebra is called 小明"), says("nice", 1)])
    fact = space.facts.add("a zebra", source=Source("zebra", "k", NOON, "user"))
    assert {hit.source for hit in index.search("zebra")} == {"memory", "conversations"}
    space.facts.delete(fact.id)
    assert index.search("zebra", floor=False) == []
    space.facts.undo()
    assert {hit.source for hit in index.search("zebra")} == {"memory", "conversations"}


# What is asked


def test_a_source_narrows_the_search(space: Stores, index: Passages) -> None:
    space.facts.add("tea one")
    left = space.facts.add("tea zero")
    space.facts.retire([left.id])
    space.daily.append("tea two")
    space.conversations.add_messages("k", [says("tea three")])
    kinds = ("memory", "older", "daily", "conversations")
    assert {hit.source for hit in index.search("tea")} == {*kinds}
    for source in kinds:
        assert [hit.source for hit in index.search("tea", source=source)] == [source]
    with pytest.raises(
        InvalidInput, match="the source must be one of memory, older, daily, conversations"
    ):
        index.search("tea", source="elsewhere")


def test_days_narrow_the_search_and_both_ends_belong_to_them(
    space: Stores, index: Passages, clock: Clock
) -> None:
    for _ in range(3):
        space.daily.append(f"tea on {clock.now.date()}")
        clock.pass_time(days=1)
    for since in ("2026-03-02", date(2026, 3, 2), NOON + DAY):
        found = {hit.date for hit in index.search("tea", since=since)}
        assert found == {"2026-03-02", "2026-03-03"}
    assert {hit.date for hit in index.search("tea", until="2026-03-01")} == {"2026-03-01"}
    one = index.search("tea", since="2026-03-02", until="2026-03-02", source="daily")
    assert [hit.date for hit in one] == ["2026-03-02"]
    assert index.search("tea", since="2026-03-02", source="memory") == []
    assert index.search("tea", since="2026-03-02", until="2026-03-01") == []
    with pytest.raises(InvalidInput, match="'yesterday' is not a date"):
        index.search("tea", since="yesterday")


def test_the_limit_is_ten_and_at_most_a_hundred_and_three_hundred_for_a_prompt(
    store: Conversations, index: Passages
) -> None:
    store.add_messages("k", [says(f"tea {number}", number * 60) for number in range(120)])
    assert [len(index.search("tea", limit)) for limit in (1, 100)] == [1, 100]
    assert len(index.search("tea")) == 10
    for limit in (0, -1, 101):
        with pytest.raises(InvalidInput, match="the limit must be between 1 and 100"):
            index.search("tea", limit)
    prompt = Reader("other", is_prompt=True)
    assert len(index.search("tea", 300, reader=prompt)) > 100
    with pytest.raises(InvalidInput, match="the limit must be between 1 and 300"):
        index.search("tea", 301, reader=prompt)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_without_a_model_the_words_decide(space: Stores, index: Passages, mode: str) -> None:
    space.facts.add("green tea")
    assert not index.has_embedder
    assert list_hit_texts(index.search("tea", mode=mode)) == ["green tea"]
    assert index.missing_vectors() == index.embed() == 0
    index.use_embedder(None, Weights())
    assert list_hit_texts(index.search("tea", mode=mode)) == ["green tea"]


def test_an_unknown_mode_is_refused(index: Passages) -> None:
    with pytest.raises(InvalidInput, match="the mode must be one of hybrid, lexical, vector"):
        index.search("tea", mode="guess")


@pytest.mark.parametrize("query", ["", "  ", "。！？", "\0", "\ud800", '"*-:()'])
def test_nothing_asked_is_nothing_found(space: Stores, index: Passages, query: str) -> None:
    space.facts.add("green tea")
    assert index.search(query) == []


@pytest.mark.parametrize(
    "query", ["tea\0", "tea \ud800", '"tea* OR (-x', "tea' --", "tea " * 20_000]
)
def test_any_text_can_be_asked(space: Stores, index: Passages, query: str) -> None:
    space.facts.add("green tea")
    assert list_hit_texts(index.search(query)) == ["green tea"]


@pytest.mark.parametrize("text", ["a\0zebra", "\ud800 zebra", "zebra " * 30_000, "<!-- zebra -->"])
def test_any_text_that_was_said_is_found(store: Conversations, index: Passages, text: str) -> None:
    store.add_messages("k", [says(text)])
    assert index.search("zebra")


def test_the_best_comes_first(space: Stores, index: Passages) -> None:
    for content in ("coffee", "tea with milk and much more beside it", "tea tea milk"):
        space.facts.add(content)
    hits = index.search("tea milk")
    assert hits[0].text == "tea tea milk"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0.0 <= hit.score <= 1.0 for hit in hits)


def test_what_says_the_same_is_given_once_above_the_floor(
    store: Conversations, index: Passages
) -> None:
    store.add_messages("a", [says("green tea")])
    store.add_messages("b", [says("green tea", 60)])
    assert list_hit_texts(index.search("tea")) == ["green tea"]
    assert list_hit_texts(index.search("tea", floor=False)) == ["green tea"] * 2


def test_what_hardly_fits_is_given_only_without_the_floor(space: Stores, index: Passages) -> None:
    for content in ("zebra yak xerus walrus vole umbrella", "the umbrella", "cat"):
        space.facts.add(content)
    query = "zebra yak xerus walrus vole urchin tapir skunk umbrella"
    assert list_hit_texts(index.search(query)) == ["zebra yak xerus walrus vole umbrella"]
    assert list_hit_texts(index.search(query, floor=False))[1:] == ["the umbrella"]


def test_the_same_question_has_the_same_answer_for_everybody(
    backend: Backend, space: Stores, index: Passages
) -> None:
    for number in range(20):
        space.facts.add(f"tea 茶 {number % 7} {number}")
        space.conversations.add_messages("k", [says(f"tea 茶 {number % 5}", number)])
    found = index.search("tea 茶 3", 100, floor=False)
    assert len(found) == 40
    assert backend.open().passages.search("tea 茶 3", 100, floor=False) == found
    index.rebuild()
    assert index.search("tea 茶 3", 100, floor=False) == found


# Meanings


def test_a_meaning_is_found_without_its_words_once_there_are_vectors(
    space: Stores, index: Passages
) -> None:
    for fact in FACTS:
        space.facts.add(fact)
    index.use_embedder(Meanings(), Weights())
    assert index.has_embedder
    assert index.search("beverage") == []
    told: list[tuple[int, int]] = []
    assert index.missing_vectors() == len(FACTS)
    assert index.embed(lambda done, of: told.append((done, of))) == len(FACTS)
    assert told == [(len(FACTS), len(FACTS))]
    assert (index.missing_vectors(), index.embed()) == (0, 0)
    for query, fact in (("beverage", FACTS[0]), ("animal", FACTS[1]), ("飲料", FACTS[3])):
        assert fact in list_hit_texts(index.search(query))
        assert index.search(query, mode="lexical") == []
        hit = index.search(query, mode="vector")[0]
        assert (hit.bm25, hit.score) == (None, hit.vector)
    assert FACTS[2] not in list_hit_texts(index.search("beverage"))


class Vague(Meanings):
    """A model to which a greeting and a question are as near to a cat as a cat is."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return super().embed(["my cat" if text in {"hello", "謝謝"} else text for text in texts])


def test_small_talk_is_found_by_its_words_alone(space: Stores, index: Passages) -> None:
    for fact in FACTS:
        space.facts.add(fact)
    for number, said in enumerate(("hello", "謝謝")):
        space.conversations.add_messages(f"k{number}", [says(said)])
    index.use_embedder(Vague(), Weights())
    index.embed()
    assert list_hit_texts(index.search("cat"))[0] == FACTS[1]
    assert {"hello", "謝謝"}.isdisjoint(list_hit_texts(index.search("cat")))
    assert {"hello", "謝謝"} <= {*list_hit_texts(index.search("cat", floor=False))}
    assert list_hit_texts(index.search("hello"))[0] == "hello"
    assert list_hit_texts(index.search("謝謝"))[0] == "謝謝"


def test_the_score_is_the_weighted_sum_of_both_sides(space: Stores, index: Passages) -> None:
    for fact in FACTS:
        space.facts.add(fact)
    index.use_embedder(Meanings(), Weights())
    index.embed()
    hits = index.search("green beverage for my cat", floor=False)
    assert hits == sorted(hits, key=lambda hit: -hit.score)
    for hit in hits:
        assert hit.score == pytest.approx(0.7 * require(hit.vector) + 0.3 * require(hit.bm25))


def test_vectors_that_one_has_made_are_there_for_another(
    backend: Backend, space: Stores, index: Passages
) -> None:
    for fact in FACTS:
        space.facts.add(fact)
    index.use_embedder(Meanings(), Weights())
    index.embed()
    other = backend.open().passages
    assert not other.has_embedder
    assert other.missing_vectors() == 0
    other.use_embedder(Meanings(), Weights())
    assert other.missing_vectors() == 0
    assert FACTS[0] in list_hit_texts(other.search("beverage"))
    other.use_embedder(None, Weights())
    assert other.search("beverage") == []


def test_only_texts_that_are_new_are_embedded(space: Stores, index: Passages) -> None:
    for fact in FACTS:
        space.facts.add(fact)
    model = Meanings()
    index.use_embedder(model, Weights())
    index.embed()
    before = len(model.asked)
    gone = space.facts.add("my dog barks")
    space.facts.delete(gone.id)
    space.facts.add("a new dog")
    assert index.missing_vectors() == 1
    assert index.embed(seconds=0.0) == 1
    assert index.missing_vectors() == 0
    assert model.asked[before:] == ["a new dog"]


def test_meanings_are_kept_from_those_who_may_not_find_them(
    store: Conversations, index: Passages
) -> None:
    index.use_embedder(Meanings(), Weights())
    store.add_messages(
        "slack:D1", [says("I enjoy green tea")], audience=make_own_audience("slack:D1")
    )
    store.add_messages("cli:x", [says("coffee is fine")])
    index.embed()
    assert list_hit_texts(index.search("beverage")) == ["coffee is fine"]
    assert (
        len(index.search("beverage", reader=Reader("slack:D1", make_own_audience("slack:D1")))) == 2
    )


def test_a_model_that_fails_leaves_the_words(space: Stores, index: Passages) -> None:
    space.facts.add("green tea")
    index.use_embedder(Ailing(calls_left=0), Weights())
    with pytest.raises(EmbeddingError, match="the model is away"):
        index.embed()
    assert list_hit_texts(index.search("tea")) == ["green tea"]
    index.use_embedder(Ailing(calls_left=2), Weights())
    assert index.embed() == 1
    assert list_hit_texts(index.search("tea")) == ["green tea"]


# By day


def test_what_was_said_on_some_days_is_listed_newest_kept_and_oldest_first(
    store: Conversations, index: Passages
) -> None:
    for day in range(4):
        store.add_messages(
            "k", [says(f"day {day} one", day * 1440), says(f"day {day} two", day * 1440 + 1)]
        )

    def list_texts(first: int, last: int, limit: int) -> list[str]:
        begin, end = (date(2026, 3, 1 + number) for number in (first, last))
        found = index.list_between(begin, end, limit, source="conversations", reader=EVERYBODY)
        return list_hit_texts(found)

    assert list_texts(1, 2, 10) == ["day 1 one", "day 1 two", "day 2 one", "day 2 two"]
    assert list_texts(1, 2, 3) == ["day 1 two", "day 2 one", "day 2 two"]
    assert list_texts(3, 3, 10) == ["day 3 one", "day 3 two"]
    assert list_texts(10, 20, 10) == list_texts(2, 1, 10) == []


def test_a_list_of_days_has_one_source_and_only_what_the_reader_may_find_and_is_shown(
    space: Stores, index: Passages
) -> None:
    space.daily.append("noted")
    store = space.conversations
    (asked, _) = store.add_messages("k", [says("asked"), says("answered", 1)])
    store.add_messages("k", [says("answered otherwise", 2)], after=asked)
    store.add_messages("slack:D1", [says("a secret")])
    store.add_messages("off", [says("off")])
    store.set_searched("off", searched=False)
    store.add_messages("t", [NewMessage(says("a stranger's", 3), trust="stranger")])

    def list_texts(source: str, reader: Reader) -> list[str]:
        day = NOON.date()
        return sorted(
            list_hit_texts(index.list_between(day, day, 10, source=source, reader=reader))
        )

    assert list_texts("daily", EVERYBODY) == ["12:00 noted"]
    everyone = ["a stranger's", "answered otherwise", "asked"]
    assert list_texts("conversations", EVERYBODY) == everyone
    mine = Reader("slack:D1", make_own_audience("slack:D1"))
    assert list_texts("conversations", mine) == sorted([*everyone, "a secret"])
    prompt = Reader("other", is_prompt=True)
    assert list_texts("conversations", prompt) == ["answered otherwise", "asked"]


def test_what_is_listed_was_not_compared_with_anything(
    store: Conversations, index: Passages
) -> None:
    store.add_messages("k", [says("asked")])
    day = NOON.date()
    (hit,) = index.list_between(day, day, 10, source="conversations", reader=EVERYBODY)
    assert not hit.is_judged
    assert (hit.score, hit.bm25, hit.vector) == (0.0, None, None)


# Around


def test_around_what_is_no_message_or_is_gone_there_is_nothing(
    space: Stores, index: Passages
) -> None:
    space.facts.add("a zebra")
    (fact,) = index.search("zebra")
    assert index.around(fact) == []
    space.conversations.add_messages("k", [says("a walrus"), says("yes", 1)])
    walrus = next(hit for hit in index.search("walrus") if hit.text == "a walrus")
    assert list_hit_texts(index.around(walrus)) == ["yes"]
    assert index.around(walrus, 0, 0) == []
    space.conversations.clear("k")
    assert index.around(walrus) == []


# Keeping up


def test_taking_in_says_how_many_passages_are_new(
    backend: Backend, space: Stores, index: Passages
) -> None:
    assert index.sync() == 0
    space.conversations.add_messages("k", [says(f"number {at}", at) for at in range(5)])
    assert index.sync() == 5
    assert index.sync() == 0
    space.facts.add("a zebra")
    space.daily.append("a walrus")
    assert index.sync() == 2
    assert index.rebuild() == 7
    assert index.sync() == 0
    assert str(index.location)


def test_a_closed_index_opens_again_by_itself(space: Stores, index: Passages) -> None:
    space.facts.add("a zebra")
    assert index.search("zebra")
    index.close()
    index.close()
    assert list_hit_texts(index.search("zebra")) == ["a zebra"]


def test_who_search_and_store_at_once_find_all_in_the_end(
    backend: Backend, index: Passages
) -> None:
    def work(given: tuple[Stores, str]) -> None:
        opened, name = given
        for number in range(5):
            opened.conversations.add_messages(name, [says(f"tea {name} {number}", number)])
            opened.passages.search("tea")

    do_at_once(work, [(backend.open(), name) for name in "abc"])
    assert len(index.search("tea", 100, floor=False)) == 15


# Erasing


def test_what_leaves_the_stores_while_erasing_is_found_by_nobody_after(
    backend: Backend, space: Stores, index: Passages
) -> None:
    other = backend.open()
    fact = space.facts.add("a zebra lives here")
    space.facts.add("tea")
    space.conversations.add_messages("k", [says("a zebra")])
    assert len(other.passages.search("zebra", floor=False)) == 2
    with index.erasing():
        space.facts.delete(fact.id)
        space.conversations.clear("k")
    assert index.search("zebra", floor=False) == []
    assert other.passages.search("zebra", floor=False) == []
    assert list_hit_texts(other.passages.search("tea")) == ["tea"]


def test_erasing_before_anything_was_searched_and_of_nothing_does_no_harm(
    space: Stores, index: Passages
) -> None:
    with index.erasing():
        pass
    space.facts.add("tea")
    with index.erasing():
        pass
    index.scrub()
    assert list_hit_texts(index.search("tea")) == ["tea"]


def test_an_error_while_erasing_is_not_swallowed_and_the_index_goes_on(
    space: Stores, index: Passages
) -> None:
    space.facts.add("tea")
    index.sync()
    with pytest.raises(InvalidInput, match="empty"), index.erasing():
        space.facts.add("")
    assert list_hit_texts(index.search("tea")) == ["tea"]


def test_what_has_expired_is_not_found(space: Stores, index: Passages, clock: Clock) -> None:
    space.config.change({"conversationKeepDays": 30})
    assert space.settings.conversation_keep_days == 30
    space.conversations.add_messages("k", [says("a zebra")])
    assert index.search("zebra")
    clock.pass_time(days=31)
    space.conversations.cleanup()
    assert index.search("zebra") == []
    index.scrub()
    assert index.search("zebra") == []


def test_what_was_said_or_noted_on_a_day_is_found_by_that_day(
    space: Stores, index: Passages
) -> None:
    space.daily.append("bought a kettle")
    space.conversations.add_messages("k", [says("a zebra")])
    assert {hit.source for hit in index.search("March 1")} == {"daily", "conversations"}


def test_without_a_model_nothing_is_found_by_meaning_alone(space: Stores, index: Passages) -> None:
    space.facts.add("green tea")
    assert index.search("tea", mode="vector") == []
