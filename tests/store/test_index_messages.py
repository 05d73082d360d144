"""Messages in the index: found from the moment they are stored, and only by whom they may be."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.meanings import Meanings
from tests.strategies import brief
from turnleaf.core.keys import Reader
from turnleaf.core.messages import Cursor, Feed, FeedMessage, Message
from turnleaf.core.search.ranking import PROMPT_LIMIT, Hit, Weights
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.index.index import Index
from turnleaf.store.passage_search import CANDIDATES

FORK = multiprocessing.get_context("fork")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ENGLISH = "She keeps the spare key under the third pot. "
CHINESE = "備用鑰匙放在第三個花盆下面。"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ConversationStore]:
    store = ConversationStore(tmp_path / "c" / "conversations.db")
    yield store
    store.close()


@pytest.fixture
def index(tmp_path: Path, store: ConversationStore) -> Iterator[Index]:
    index = Index(tmp_path / "index.db", [store])
    yield index
    index.close()


def says(text: str, minutes: float = 0, role: str = "user", name: str | None = None) -> Message:
    return Message(role, text, NOON + timedelta(minutes=minutes), name=name)


def list_texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


# What is found.


class Talkative:
    """A store in which somebody says something more whenever it is asked what is new."""

    def __init__(self, store: ConversationStore, most: int) -> None:
        self.location = store.location
        self.older = store.older
        self._store = store
        self._left = most

    def changes_since(self, cursor: Cursor | None, limit: int) -> Feed:
        feed = self._store.changes_since(cursor, limit)
        self._left -= 1
        assert self._left >= 0, "it is asked again and again"
        self._store.add_messages("k", [says("and the kettle")])
        return feed


def test_a_search_does_not_chase_what_is_said_while_it_takes_in(
    store: ConversationStore, tmp_path: Path
) -> None:
    store.add_messages("k", [says("the first kettle")])
    index = Index(tmp_path / "index.db", [Talkative(store, most=4)])
    assert "the first kettle" in list_texts(index.search("kettle"))
    assert "and the kettle" in list_texts(index.search("kettle"))
    index.close()


@pytest.mark.parametrize("name", ["conversations.db", "conversations.json"])
def test_a_message_says_in_which_file_and_where_in_it_it_is(tmp_path: Path, name: str) -> None:
    store = ConversationStore(tmp_path / "c" / name)
    store.add_messages("k", [says("which kettle?"), says("鐵壺", 1, "assistant")])
    hit = Index(tmp_path / "index.db", [store]).search("鐵壺")[0]
    assert (hit.source, hit.path, hit.date) == ("conversations", store.location, "2026-03-01")
    assert (hit.conversation, hit.speaker, hit.trust) == ("k", "assistant", "assistant")
    assert (hit.message, hit.parent, hit.id, hit.line) == (2, 1, "2", 2)
    assert (hit.time, hit.part, hit.is_shown) == ("2026-03-01T12:01:00.000Z", 0, True)


def test_what_is_said_is_found_at_once_in_another_process(
    store: ConversationStore, index: Index
) -> None:
    assert index.search("zebra") == []
    process = FORK.Process(
        target=lambda: ConversationStore(store.location).add_messages("k", [says("一隻斑馬 zebra")])
    )
    process.start()
    process.join(60)
    assert list_texts(index.search("斑馬")) == ["一隻斑馬 zebra"]


def test_only_what_is_new_is_taken_in_with_the_message_before_it(
    store: ConversationStore, index: Index
) -> None:
    store.add_messages("k", [says(f"number {at}", at) for at in range(50)])
    assert index.sync() == 50
    assert index.sync() == 0
    store.add_messages("k", [says("a zebra", 50)])
    assert index.sync() == 1
    assert list_texts(index.search("zebra")) == ["a zebra", "number 49"]


# However it came about.


def say(store: ConversationStore, key: str, count: int, minutes: int) -> None:
    store.add_messages(key, [says(f"tea 茶 {minutes} {at}", minutes + at) for at in range(count)])


keys = st.sampled_from(["k", "slack:C1", "schedule:2"])
deeds: st.SearchStrategy[Callable[[ConversationStore], object]] = st.one_of(
    st.builds(
        lambda key, count, minutes: lambda store: say(store, key, count, minutes),
        keys,
        st.integers(1, 4),
        st.integers(0, 200),
    ),
    st.builds(lambda key: lambda store: store.clear(key), keys),
    st.builds(
        lambda key, at: lambda store: store.hide(key, [NOON + timedelta(minutes=at)], "r"),
        keys,
        st.integers(0, 20),
    ),
    st.just(lambda store: store.show_again("r")),
    st.builds(
        lambda key, place: (
            lambda store: [
                store.add_messages(key, [says("tea again 茶")], after=one.id)
                for one in store.messages(key)[place : place + 1]
            ]
        ),
        keys,
        st.integers(0, 5),
    ),
    st.builds(
        lambda key, is_on: (
            lambda store: [store.set_searched(key, searched=is_on) for _ in store.messages(key)[:1]]
        ),
        keys,
        st.booleans(),
    ),
)


@brief
@given(st.lists(st.tuples(deeds, st.booleans()), min_size=1, max_size=10))
def test_whatever_happens_the_answers_are_those_of_a_new_index(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[Callable[[ConversationStore], object], bool]],
) -> None:
    folder = tmp_path_factory.mktemp("place")
    store = ConversationStore(folder / "c" / "conversations.db")
    store.init()
    index = Index(folder / "index.db", [store], Meanings())
    for deed, is_synced in steps:
        deed(store)
        if is_synced:
            index.embed()
    index.embed()
    new = Index(folder / "new.db", [store], Meanings())
    new.embed()
    for query in ("tea", "茶 3", "tea again"):
        found = index.search(query, 100, floor=False)
        assert found == new.search(query, 100, floor=False)
        for hit in found[:5]:
            assert index.around(hit, 2, 2) == new.around(hit, 2, 2)
    index.close()
    new.close()
    store.close()


def test_a_database_that_was_replaced_is_taken_in_anew(
    tmp_path: Path, store: ConversationStore, index: Index
) -> None:
    store.add_messages("k", [says("an old zebra"), says("more", 1)])
    assert len(index.search("zebra", floor=False)) == 2
    other = ConversationStore(tmp_path / "other" / "conversations.db")
    other.add_messages("k", [says("a new zebra")])
    other.close()
    store.close()
    for path in store.location.parent.iterdir():
        path.unlink()
    other.location.rename(store.location)
    assert list_texts(index.search("zebra")) == ["a new zebra"]


def test_a_database_that_is_gone_is_not_found(store: ConversationStore, index: Index) -> None:
    store.add_messages("k", [says("an old zebra")])
    assert index.search("zebra")
    store.close()
    for path in store.location.parent.iterdir():
        path.unlink()
    assert index.search("zebra") == []


def test_a_new_build_finds_the_vectors_again(tmp_path: Path, store: ConversationStore) -> None:
    model = Meanings()
    index = Index(tmp_path / "index.db", [store], model)
    store.add_messages("k", [says("I enjoy green tea"), says("my cat is asleep", 1)])
    index.embed()
    asked = len(model.asked)
    before = index.search("beverage", floor=False)
    index.rebuild()
    assert index.search("beverage", floor=False) == before
    assert index.embed() == 0
    assert len(model.asked) == asked + 2, "only the questions"


def test_a_part_of_a_long_message_is_embedded_without_the_parts_beside_it(
    tmp_path: Path, store: ConversationStore
) -> None:
    model = Meanings()
    index = Index(tmp_path / "index.db", [store], model)
    index.embed()
    paragraphs = [f"{number}: {ENGLISH * 8}".strip() for number in range(6)]
    store.add_messages("k", [says("before"), says("\n\n".join(paragraphs), 1), says("after", 2)])
    index.embed()
    assert {*paragraphs[1:-1]} <= {*model.asked}
    assert any(text.startswith("before\n0:") for text in model.asked)


def test_an_answer_that_says_nothing_is_no_part_of_what_a_message_means(
    tmp_path: Path, store: ConversationStore
) -> None:
    model = Meanings()
    index = Index(tmp_path / "index.db", [store], model)
    index.embed()
    nothing = "I remember nothing about that.\n\n(No model is set up.)"
    store.add_messages("a", [says("The dog next door barks"), says("Oh!", role="assistant")])
    store.add_messages("b", [says("隔壁的狗整晚叫"), says(nothing, role="assistant")])
    index.embed()
    assert "The dog next door barks\nOh!" in model.asked
    assert "隔壁的狗整晚叫" in model.asked


@pytest.mark.parametrize("has_meaning", [False, True])
def test_what_stands_in_many_messages_leaves_room_for_other_candidates(
    tmp_path: Path, store: ConversationStore, *, has_meaning: bool
) -> None:
    quoted = [f"The tea of shop {number} is good tea, as all tea is. " * 3 for number in range(5)]
    plain = f"Something else was said at length, for a while. {ENGLISH * 5}"
    for number in range(2 * CANDIDATES // len(quoted)):
        text = "\n\n".join([*quoted, plain * 2, f"Note {number}: nothing."])
        store.add_messages(f"cli:{number}", [says(text)])
    rare = "Somebody once drank tea from a samovar, which took a whole afternoon in the garden."
    store.add_messages("cli:rare", [says(f"{plain * 2}\n\n{rare}\n\n{plain * 2}")])
    with closing(Index(tmp_path / "q.db", [store], Meanings() if has_meaning else None)) as index:
        index.embed()
        hits = index.search("tea", PROMPT_LIMIT, floor=False, reader=Reader(is_prompt=True))
    assert rare in list_texts(hits)
    assert {text.strip() for text in quoted} <= {*list_texts(hits)}


def test_what_was_said_last_gets_its_vector_first(tmp_path: Path, store: ConversationStore) -> None:
    index = Index(tmp_path / "index.db", [store], Meanings())
    index.embed()
    store.add_messages("k", [says(f"fact {at}", 60 * at) for at in range(200)])
    store.add_messages("k", [says("I enjoy green tea", 60 * 300)])
    model = Meanings()
    index.use_embedder(model, Weights())
    with pytest.raises(KeyboardInterrupt):
        index.embed(_stop)
    assert "I enjoy green tea" in model.asked
    assert "fact 0" not in model.asked


def _stop(_done: int, _all: int) -> None:
    raise KeyboardInterrupt


# A feed of another kind.


@dataclass
class MemoryFeed:
    """Messages in memory that say what changed, as any database may."""

    location: Path
    older: tuple[Path, ...] = ()
    database: str = "one"
    messages: list[FeedMessage] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)

    def say(self, text: str) -> None:
        at = len(self.messages) + 1
        one = FeedMessage(at, "k", says(text, at), "user", None, at - 1 or None, "", is_shown=True)
        self.messages.append(one)

    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        start = cursor or Cursor()
        found = self.messages[start.message :][: min(limit, 3)]
        gone = tuple(self.gone[start.change :])
        at = Cursor(start.message + len(found), len(self.gone))
        is_last = at.message == len(self.messages)
        return Feed(self.database, at, tuple(found), gone, is_last)


def test_any_feed_can_be_followed(tmp_path: Path) -> None:
    feed = MemoryFeed(tmp_path / "feed")
    feed.location.touch()
    index = Index(tmp_path / "index.db", [feed])
    for at in range(10):
        feed.say(f"zebra {at}")
    assert len(index.search("zebra", 100)) == 10
    feed.gone.append(4)
    assert len(index.search("zebra", 100)) == 9
    feed.database, feed.gone = "two", []
    feed.messages = feed.messages[:2]
    assert len(index.search("zebra", 100)) == 2


# Kills.


def test_killed_while_messages_are_taken_in_it_goes_on(
    tmp_path: Path, store: ConversationStore
) -> None:
    for key in range(5):
        store.add_messages(f"k{key}", [says(f"tea {key} {at}", at) for at in range(40)])
    store.close()
    right = list_texts(Index(tmp_path / "right.db", [store]).search("tea", 100, floor=False))

    def work(step: int) -> None:
        calls = iter(range(200 * step))
        index = Index(tmp_path / "index.db", [ConversationStore(store.location)])
        sys.setprofile(
            lambda *_: os.kill(os.getpid(), signal.SIGKILL) if next(calls, None) is None else None
        )
        index.sync()

    for step in range(1, 60, 6):
        process = FORK.Process(target=work, args=(step,))
        process.start()
        process.join(60)
    index = Index(tmp_path / "index.db", [store])
    assert list_texts(index.search("tea", 100, floor=False)) == right
    assert index.sync() == 0
