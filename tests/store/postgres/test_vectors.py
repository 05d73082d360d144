"""The vectors of a space: compared exactly or by its own index, and those of another model."""

from __future__ import annotations

import logging
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.meanings import FACTS, Ailing, Meanings
from tests.postgres import OWNER, empty_database, make_admin
from tests.store.postgres.explaining import explain
from turnleaf.core.messages import Message
from turnleaf.core.search.ranking import Weights
from turnleaf.core.search.vectors import PAIRS, pack
from turnleaf.settings import find_beside_database
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.postgres.indexing import write_vector
from turnleaf.store.postgres.schema import tune
from turnleaf.store.postgres.stores import PostgresStores

LARGE = 3000
SMALL = 30
DIMENSION = 16
QUERIES = 20
THRESHOLD = 1000


@dataclass
class SeededModel:
    """A model to which every text means something by chance, and the pairs that it must know."""

    name: str = "seeded"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        alike = {other: one for pairs in PAIRS.values() for one, other in pairs}
        return [mean(alike.get(text, text)) for text in texts]


def mean(text: str) -> bytes:
    """Return the vector of a text, made from the text alone."""
    chance = random.Random(text)
    return pack([chance.gauss(0, 1) for _ in range(DIMENSION)])


@pytest.fixture
def address() -> str:
    empty = empty_database()
    tune(find_owner(empty))
    return empty


def open_space(address: str, name: str) -> PostgresStores:
    return PostgresStores(find_beside_database(address).of_space(name), now=local_now)


def find_owner(address: str) -> str:
    return address.replace("turnleaf_server@", f"{OWNER}@")


def fill(address: str, name: str, count: int) -> None:
    """Fill a space with passages and vectors, as long use would."""
    with open_space(address, name) as space:
        space.passages.use_embedder(SeededModel(), Weights())
        space.facts.add(f"{name} 0")
        space.passages.embed()
    vectors = [write_vector(mean(f"{name} {number}")) for number in range(1, count)]
    quoted = ", ".join(f"({number}, '{one}')" for number, one in enumerate(vectors, 2))
    make_admin(address)(
        f"""
        INSERT INTO turnleaf.passages (space, id, place, kind, shape, fingerprint, meaning, body,
            terms, line, part, trust, audience, is_shown, date)
        SELECT '{name}', n, 'daily/2026-01-01.md', 'daily', '', decode(md5('{name}' || n), 'hex'),
            decode(md5('{name}' || n), 'hex'), json_build_object('text', '{name} ' || n - 1,
            'heading', NULL, 'speaker', NULL, 'id', NULL, 'parent', NULL, 'earlier', 0, 'later', 0),
            2, n, 0, 'user', '', true, '2026-01-0' || 1 + n % 9
        FROM generate_series(2, {count}) n;
        INSERT INTO turnleaf.vectors (space, embedder, meaning, part, vector)
        SELECT '{name}', id, decode(md5('{name}' || n), 'hex'), 0, one::vector
        FROM (VALUES {quoted}) AS given (n, one), turnleaf.embedders WHERE space = '{name}';
        UPDATE turnleaf.indexes SET passages = {count}, last_passage = {count}
        WHERE space = '{name}';
        ANALYZE turnleaf.vectors, turnleaf.passages
        """  # noqa: S608 - of this test's own
    )


def find_nearest(name: str, count: int, query: str, most: int = 10) -> list[str]:
    """Return what is nearest, from the vectors themselves."""
    asked = struct.unpack(f"<{DIMENSION}f", mean(query))

    def compare(text: str) -> float:
        return sum(map(float.__mul__, asked, struct.unpack(f"<{DIMENSION}f", mean(text))))

    return sorted((f"{name} {one}" for one in range(count)), key=compare, reverse=True)[:most]


def search(space: PostgresStores, query: str, day: str | None = None) -> list[str]:
    hits = space.passages.search(query, 10, mode="vector", floor=False, since=day, until=day)
    return [one.text for one in hits]


def test_a_large_space_is_searched_by_an_index_of_its_own_and_a_small_one_exactly(
    address: str,
) -> None:
    fill(address, "large", LARGE)
    for number in range(5):
        fill(address, f"small{number}", SMALL)
    owner = find_owner(address)
    (planned,) = tune(owner, passages=THRESHOLD, dry_run=True)
    assert "large" not in planned
    with explain(address) as plans, open_space(address, "large") as large:
        large.passages.use_embedder(SeededModel(), Weights())
        wanted = find_nearest("large", LARGE, "query 0")
        assert search(large, "query 0") == wanted
    assert not [one for one in plans.indexes if one.startswith("vectors_near")]

    assert tune(owner, passages=THRESHOLD) == [planned]
    assert tune(owner, passages=THRESHOLD) == []
    with explain(address) as plans, open_space(address, "large") as large:
        large.passages.use_embedder(SeededModel(), Weights())
        found = 0
        for number in range(QUERIES):
            wanted = find_nearest("large", LARGE, f"query {number}")
            found += len({*wanted} & {*search(large, f"query {number}")})
        assert found >= 0.95 * 10 * QUERIES
        assert [one for one in plans.indexes if one.startswith("vectors_near")]
        # A filter leaves few: they are compared, however far they are down in the index.
        of_day = [one for one in range(1, LARGE) if (one + 1) % 9 == 0]
        ranked = find_nearest("large", LARGE, "query 0", LARGE)
        wanted = [one for one in ranked if int(one.split()[1]) in of_day][:10]
        assert search(large, "query 0", "2026-01-01") == wanted
    with explain(address) as plans, open_space(address, "small3") as small:
        small.passages.use_embedder(SeededModel(), Weights())
        for number in range(QUERIES):
            query = f"query {number}"
            assert search(small, query) == find_nearest("small3", SMALL, query)
    assert not [one for one in plans.indexes if one.startswith("vectors_near")]


def test_what_is_said_after_the_index_was_made_is_found_by_it(address: str) -> None:
    fill(address, "large", THRESHOLD)
    tune(find_owner(address), passages=THRESHOLD)
    with open_space(address, "large") as large:
        large.passages.use_embedder(SeededModel(), Weights())
        large.facts.add("query 1")
        large.passages.embed()
        assert search(large, "query 1")[0] == "query 1"
        # That of another length is no part of it, and can be added nevertheless.
        large.passages.use_embedder(Meanings(), Weights())
        assert large.passages.embed()


def test_an_index_that_is_not_needed_or_not_finished_is_dropped(address: str) -> None:
    fill(address, "large", THRESHOLD)
    owner, admin = find_owner(address), make_admin(address)
    (made,) = tune(owner, passages=THRESHOLD)
    name = made.split('"')[1]
    which = f"indexrelid = 'turnleaf.{name}'::regclass"
    admin(f"UPDATE pg_index SET indisvalid = false WHERE {which}")  # noqa: S608
    dropped, again = tune(owner, passages=THRESHOLD)
    assert (dropped, again) == (f'DROP INDEX CONCURRENTLY turnleaf."{name}"', made)
    with open_space(address, "large") as large:
        large.erase_space()
    # Until then it is empty, and nothing in it tells whose it was.
    ((left,),) = admin(f"SELECT indexdef FROM pg_indexes WHERE indexname = '{name}'")  # noqa: S608
    assert "large" not in str(left)
    assert tune(owner, passages=THRESHOLD) == [dropped]


def test_a_large_space_without_an_index_is_a_warning_that_says_what_to_run(address: str) -> None:
    fill(address, "large", SMALL)
    make_admin(address)("UPDATE turnleaf.indexes SET passages = 20000 WHERE space = 'large'")
    with open_space(address, "large") as large:
        (found,) = [one for one in large.examine().findings if "vector index" in one.message]
        assert found.level == "warning"
        assert "turnleaf db tune" in found.message
        tune(find_owner(address))
        assert large.examine().findings == ()


# Another model.


def count_vectors(address: str) -> dict[Any, Any]:
    rows: list[Any] = make_admin(address)(
        "SELECT name, count(*) FROM turnleaf.vectors JOIN turnleaf.embedders "
        "ON embedders.space = vectors.space AND id = embedder GROUP BY 1"
    )
    return dict(rows)


def remember(space: PostgresStores) -> None:
    begin = local_now() - timedelta(days=30)
    notes = [Message("user", f"note {n}", begin + timedelta(hours=n)) for n in range(100)]
    space.conversations.add_messages("cli:1", notes)
    for fact in FACTS:
        space.facts.add(fact)


def find_drinks(space: PostgresStores) -> bool:
    return FACTS[0] in [one.text for one in space.passages.search("beverage")]


def test_the_old_vectors_answer_until_another_model_has_made_all_of_its_own(address: str) -> None:
    texts = 100 + len(FACTS)
    with open_space(address, "anna") as anna:
        remember(anna)
        old = Meanings()
        anna.passages.use_embedder(old, Weights())
        assert anna.passages.embed() == texts
        new = Meanings("another", dimension=48)
        anna.passages.use_embedder(new, Weights())
        assert anna.passages.missing_vectors() == texts
        assert anna.passages.embed(seconds=0.0) == 64
        assert count_vectors(address) == {"meanings": texts, "another": 64}
        old.asked.clear()
        assert find_drinks(anna)
        assert old.asked == ["beverage"]
        anna.facts.add("my dog barks")
        assert find_drinks(anna)
        assert old.asked[1:] == ["beverage", "my dog barks"]
        assert anna.passages.missing_vectors() == texts - 64 + 1
        anna.passages.embed()
        assert count_vectors(address) == {"another": texts + 1}
        old.asked.clear()
        assert find_drinks(anna)
        assert old.asked == []
        assert new.asked[-1] == "beverage"
        assert anna.passages.missing_vectors() == 0


def test_a_change_of_the_model_that_is_taken_back_leaves_all_as_it_was(address: str) -> None:
    with open_space(address, "anna") as anna:
        remember(anna)
        old = Meanings()
        anna.passages.use_embedder(old, Weights())
        anna.passages.embed()
        before = count_vectors(address)
        anna.passages.use_embedder(Meanings("another", dimension=48), Weights())
        anna.passages.embed(seconds=0.0)
        anna.facts.add("my dog barks")
        old.asked.clear()
        anna.passages.use_embedder(old, Weights())
        assert anna.passages.embed() == 1
        assert old.asked == ["my dog barks"]
        assert count_vectors(address) == {"meanings": before["meanings"] + 1}
        assert find_drinks(anna)


def test_a_server_with_the_old_model_goes_on_until_another_has_replaced_it(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with open_space(address, "anna") as before, open_space(address, "anna") as after:
        remember(before)
        old = Meanings()
        before.passages.use_embedder(old, Weights())
        before.passages.embed()
        after.passages.use_embedder(Meanings("another"), Weights())
        after.passages.embed(seconds=0.0)
        before.facts.add("my dog barks")
        assert before.passages.embed() == 1
        assert set(count_vectors(address)) == {"meanings", "another"}
        assert find_drinks(before)
        after.passages.embed()
        assert find_drinks(after)
        old.asked.clear()
        with caplog.at_level(logging.WARNING, "turnleaf"):
            for _ in range(2):
                # It does not begin anew, which the other would undo in its turn.
                assert before.passages.embed() == 0
        assert set(count_vectors(address)) == {"another"}
        assert old.asked == []
        assert len([one for one in caplog.messages if "let every server use" in one]) == 1


def test_a_model_that_fails_half_way_leaves_the_old_one_at_work(address: str) -> None:
    with open_space(address, "anna") as anna:
        remember(anna)
        anna.passages.use_embedder(Meanings(), Weights())
        anna.passages.embed()
        anna.passages.use_embedder(Ailing("ailing", calls_left=2), Weights())
        with pytest.raises(Exception, match="the model is away"):
            anna.passages.embed()
        assert find_drinks(anna)


def test_a_space_that_was_erased_is_embedded_anew(address: str) -> None:
    with open_space(address, "anna") as anna:
        anna.passages.use_embedder(Meanings(), Weights())
        for _ in range(2):
            remember(anna)
            assert anna.passages.embed()
            assert find_drinks(anna)
            anna.erase_space()
            assert count_vectors(address) == {}
