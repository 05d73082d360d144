"""How PostgreSQL reads the tables: for the serving role, under row-level security, by an index."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from urllib.parse import quote

import pytest

from tests.decisions import decide
from tests.meanings import Meanings
from tests.postgres import empty_database, list_tables, make_admin, share_database
from tests.store.postgres.explaining import Plans, explain
from turnleaf.access_tokens import Tokens
from turnleaf.core.changes import Source
from turnleaf.core.keys import Reader, make_own_audience
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.core.search.ranking import Weights
from turnleaf.settings import find_beside_database
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.postgres.stores import PostgresStores

KEY = "cli:1"
NOT_GROWING = {"migrations", "pg_index", "settings"}
READ_OVER_ALL_SPACES = {"work"}
ROWS = 4000
SPACES = 100
# Each with ROWS rows in SPACES spaces; of some, a space has one row of a kind.
FILLED = {
    "answer_claims (space, message, token, ends_at)": "n, 'a', '2999-01-01'",
    "books (space, kind, text, older, written_at, last_number)": "n, '', '', now(), 1",
    "changes (space, kind, n, body)": "'facts', n, '{}'",
    "embedders (space, id, name, dimension, scripts, mean, deviation, is_serving)": (
        "n, 'a', 2, '', 0, 0, true"
    ),
    "conversations (space, key, created_at, updated_at, audience)": "n, now(), now(), ''",
    "counters (space, kind, n)": "'of ' || n, 1",
    "forgotten_facts (space, fact)": "n",
    "hidden_messages (space, reason, message)": "'a', n",
    "indexed_places (space, place, version)": "n, ''",
    "learning_marks (space, section, id, body)": "'a', n, '{}'",
    "learning_outbox (space, id, place, body)": "n, n, '{}'",
    "learning_queue (space, id, body)": "n, '{}'",
    "messages (space, id, key, parent, role, said_at, body, status, trust, change)": (
        "n, 'cli:' || n % 7, 0, 'user', now(), '{}', 'complete', 'user', n"
    ),
    "notes (space, day, id, text, change)": "'2026-01-01', n, '', n",
    "passages (space, id, place, kind, shape, fingerprint, meaning, body, terms, line, part, "
    "trust, audience, is_shown)": (
        "n, 'conversations', 'conversations', '', '', decode(md5(n::text), 'hex'), '{}', 5, 1, 0, "
        "'user', '', true"
    ),
    "records (space, collection, key, value, version)": "'a', n, '', n",
    "removed_messages (space, id, change)": "n, n",
    "schedule_results (space, id, body)": "n, '{}'",
    "schedules (space, id, place, body)": "n, 1, '{}'",
    "terms (space, term, passage, own, around, length)": "'tea' || n % 7, n, 1, 0, 5",
    "unembedded (space, embedder, passage)": "1, n",
    "vectors (space, embedder, meaning, part, vector)": (
        "1, decode(md5(n::text), 'hex'), 0, '[1,0]'"
    ),
    "work (space, kind, due)": "n, '2999-01-01'",
    "writes (space, id)": "n",
}
ONE_FOR_EACH_SPACE = {"feeds (space)", "indexes (space)"}


@pytest.fixture(scope="module")
def plans() -> Iterator[Plans]:
    """Every statement of a day's work of one space among many, as PostgreSQL planned it."""
    address = empty_database()
    admin = make_admin(address)
    admin(
        "".join(
            f"INSERT INTO turnleaf.{table} SELECT 'other' || n % {SPACES}, {values} "  # noqa: S608
            f"FROM generate_series(1, {ROWS}) n; "
            for table, values in FILLED.items()
        )
        + "".join(
            f"INSERT INTO turnleaf.{table} SELECT 'other' || n FROM generate_series(1, {ROWS}) n; "  # noqa: S608
            for table in ONE_FOR_EACH_SPACE
        )
    )
    with open_space(address) as space:
        fill(space)
    admin("ANALYZE")
    with explain(address) as found, open_space(address) as space:
        use(space)
    yield found
    admin("; ".join(f"DELETE FROM turnleaf.{one}" for one in list_tables(address)) + "; ANALYZE")  # noqa: S608


def open_space(address: str) -> PostgresStores:
    return PostgresStores(find_beside_database(address).of_space("small"), now=local_now)


def fill(space: PostgresStores) -> None:
    """Leave something of each kind in a space."""
    space.passages.use_embedder(Meanings(), Weights())
    for number in range(20):
        space.facts.add(f"the cat of neighbour {number} drinks tea")
    for number in range(20):
        space.conversations.add_exchange(KEY, f"I like green tea {number}", "noted")
    said = [Message("user", "coffee", local_now())]
    space.conversations.add_messages("slack:D1", said, audience=make_own_audience("slack:D1"))
    space.daily.append("tea")
    space.passages.embed()


def use(space: PostgresStores) -> None:
    """Do what servers do all day."""
    space.passages.use_embedder(Meanings(), Weights())
    search(space)
    talk(space)
    remember(space)
    learn(space)
    space.daily.append("green tea")
    assert space.daily.dates()
    assert "green" in space.daily.read(local_now())
    made = space.schedules.add("tea?", "every 1m", zone="UTC")
    _, run = space.schedules.begin(made.id)
    space.schedules.finish(made.id, run)
    space.schedules.add_result("tea.md", run, f"{run.id}: fine")
    space.records.append("a", "b", b"1")
    assert space.records.list_records("a", "b")
    space.records.put("a", "c", b"1")
    assert space.records.get("a", "c")
    assert space.records.pop("a", "c")
    space.work.count_due()
    for work in space.work.claim(9):
        space.work.finish(work, local_now() + timedelta(days=1))
    tokens = Tokens(space.operator_records, now=local_now)
    _, text = tokens.add("bob")
    tokens.close()
    again = Tokens(space.operator_records, now=local_now)
    found = again.find(text)
    assert found
    again.note_use(found)
    assert again.exist()
    again.close()
    space.announcements.subscribe(lambda _: None)()
    assert space.settings.memory_max_items


def search(space: PostgresStores) -> None:
    today = local_now().date()
    found = space.passages.search("green tea", limit=30, floor=False)
    assert len(found) == 30
    assert space.passages.search("beverage", mode="vector")
    assert space.passages.search("tea", source="memory", since=date(2026, 1, 1), until=today)
    assert space.passages.search("tea", reader=Reader(KEY, is_prompt=True))
    assert space.passages.list_between(
        today, today, 5, source="conversations", reader=Reader(KEY, is_prompt=True)
    )
    said = next(one for one in found if one.message)
    assert space.passages.around(said, 2, 2)
    space.passages.missing_vectors()


def talk(space: PostgresStores) -> None:
    conversations = space.conversations
    assert conversations.get_history(KEY)
    assert conversations.window(KEY)
    (first, *_) = conversations.messages(KEY)
    assert conversations.find_message(first.id)
    assert conversations.summary(KEY)
    assert conversations.summaries()
    assert conversations.summaries("tea")
    conversations.add_exchange(KEY, "thanks", "welcome")
    claim = conversations.claim(first.id)
    claim.end()
    conversations.rename(KEY, "tea")
    conversations.hide(KEY, [first.message.timestamp or local_now()], "a test")
    conversations.show_again("a test")
    conversations.add_exchange("cli:2", "forget this", "yes")
    space.passages.embed()
    conversations.clear("cli:2")
    space.passages.sync()
    conversations.cleanup()
    conversations.find_cited_facts()
    assert conversations.audience(KEY) is not None


def remember(space: PostgresStores) -> None:
    assert len(space.facts.get_all()) == len(space.facts.changes()) == 20
    fact = space.facts.add("one more", source=Source("one more", KEY, local_now(), "user"))
    space.facts.update(fact.id, "yet one more")
    assert space.facts.search("more")
    space.facts.delete(fact.id)
    space.pending.add("is it so?")
    space.settle_messages()
    space.passages.sync()


def learn(space: PostgresStores) -> None:
    space.learning.enqueue(KEY, [Queued(Message("user", "tea", local_now()))])
    space.learning.spend("a model", cap=3, day=local_now().date())
    batch = space.learning.claim(KEY)
    assert batch
    space.learning.complete(batch, [decide("d1")])


def test_no_table_that_grows_is_read_whole(plans: Plans) -> None:
    whole = [
        (table, statement)
        for kind, table, _, statement in plans.scans
        if kind == "Seq Scan" and table not in NOT_GROWING
    ]
    assert whole == []


def test_an_index_is_entered_by_the_space(plans: Plans) -> None:
    elsewhere = [
        (kind, table, condition, statement)
        for kind, table, condition, statement in plans.scans
        if "Index" in kind and "space" not in condition
        if table not in NOT_GROWING | READ_OVER_ALL_SPACES
    ]
    assert elsewhere == []


def test_every_table_was_among_them(plans: Plans) -> None:
    assert plans.tables - {"pg_index"} == {*list_tables(share_database())}


def test_no_more_work_is_taken_than_was_asked_for_however_it_is_planned() -> None:
    address = empty_database()
    make_admin(address)(
        "INSERT INTO turnleaf.work (space, kind, due) "
        "SELECT 's' || n, 'learning', '2000-01-01' FROM generate_series(1, 5) n"
    )
    # What is left is to look through all that is due for each row.
    ways = ("hashjoin", "mergejoin", "hashagg", "sort", "material")
    options = quote(" ".join(f"-c enable_{one}=off" for one in ways))
    with Stores.open(f"{address}&options={options}") as stores:
        assert len(stores.work.claim()) == 1
