"""The benchmarks run, and leave no figure out; how fast it is decides no test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bench import postgres
from bench.__main__ import SUBJECTS
from bench.postgres import run as run_on_postgres
from tests.effort import LONG
from tests.postgres import empty_database

ROOT = Path(__file__).parents[1]

ROWS = {
    "exchange": [
        "exchange added, .json of 10 conversations",
        "exchange added, .json of 100 conversations",
        "the same by two programs in turn, .json of 100",
        "exchange added, .db of 50 conversations",
        "exchange added, .db, to 10 others",
        "exchange added, .db, to 100 others",
    ],
    "reading": [
        "20 messages read, .json of 10 conversations",
        "20 messages read, .json of 100 conversations",
        "20 messages read, .db of 50 conversations",
        "20 messages read, .db, of 200",
        "list of 20 conversations, .db",
    ],
    "trimming": [
        "10,000 messages trimmed to 4,000 tokens",
        "10,000 messages with tool calls trimmed to 4,000 tokens",
    ],
    "erasing": [
        "conversation erased of 2,000 messages",
        "longest wait of another program meanwhile, of 2,000 messages",
    ],
    "memory": [
        "memory added, MEMORY.md of 20 facts",
        "memory added, memories.json of 20 facts",
        "memory added, MEMORY.md of 100 facts",
        "memory added, memories.json of 100 facts",
    ],
    "writers": [
        "longest wait of 2 writers, .json of 100 conversations",
        "longest wait of 2 writers, .db of 100 conversations",
        "longest wait of 2 writers, .md of 20 to 30 facts",
    ],
    "start": [
        "turnleaf --help, against python -c pass",
    ],
    "mcp": [
        "turnleaf mcp to its list of tools, against an empty server",
    ],
    "search": [
        "10 best of 200 passages by words, against raw FTS5",
        "only its look at 3 unchanged files, against a stat of each",
        "10 best of 1,000 passages by words, against raw FTS5",
        "only its look at 11 unchanged files, against a stat of each",
        "fact added and found among 200 passages, against adding it only",
        "fact added and found among 1,000 passages, against among 200",
    ],
    "vectors": [
        "10 best of 300 vectors of 512 numbers, against numpy",
        "words and 300 vectors of 512 numbers, against one after the other",
        "words and 300 vectors of 512 numbers, against raw FTS5 and numpy",
    ],
    "indexing": [
        "1,000 short notes indexed, English, against 20,000 a second",
        "1,000 short notes indexed, Chinese, against 20,000 a second",
        "1,000 short notes indexed, mixed, against 20,000 a second",
    ],
    "messages": [
        "search of a turn, 1,000 messages, against raw FTS5 and numpy",
        "look for new messages, none among 1,000 messages, against the newest row",
        "one new message taken in among 1,000 messages, against a row of raw FTS5",
        "conversation erased, index of 1,000 messages, against raw FTS5 written anew",
        "longest search of another program meanwhile, 1,000 messages, against its median",
    ],
    "turn": [
        "before the model, English question, 200 passages, against raw FTS5",
        "before the model, Chinese question, 200 passages, against raw FTS5",
        "before the model, English one about last week, 200 passages, against raw FTS5",
        "before the model, Chinese one about last week, 200 passages, against raw FTS5",
        "before the model, just answered, 200 passages, against raw FTS5",
        "before the model, English question, 1,000 passages, against raw FTS5",
        "before the model, Chinese question, 1,000 passages, against raw FTS5",
        "before the model, English one about last week, 1,000 passages, against raw FTS5",
        "before the model, Chinese one about last week, 1,000 passages, against raw FTS5",
        "before the model, just answered, 1,000 passages, against raw FTS5",
        "turn kept, against two fsynced appends",
    ],
    "repetition": [
        "turn over 20,000 characters of 哈, against ordinary ones",
        "turn over 20,000 characters of 、, against ordinary ones",
        "turn over 20,000 characters of spaces, against ordinary ones",
        "turn over 20,000 characters of dots, against ordinary ones",
        'turn over 20,000 characters of "ok", against ordinary ones',
        'turn over 20,000 characters of "by the way", against ordinary ones',
    ],
    "server": [
        "search over HTTP, 1 client, median, against /healthz",
        "search over HTTP, 10 clients, median, against /healthz",
        "search over HTTP, 10 clients, slowest of a hundred, against /healthz",
        "read over HTTP, 1 client, median, against /healthz",
        "read over HTTP, 10 clients, median, against /healthz",
        "read over HTTP, 10 clients, slowest of a hundred, against /healthz",
        "write over HTTP, 1 client, median, against /healthz",
        "write over HTTP, 10 clients, median, against /healthz",
        "write over HTTP, 10 clients, slowest of a hundred, against /healthz",
        "/healthz, 10 clients, median, against 1 client",
    ],
}


def dialogue(people: str, thing: str) -> dict[str, object]:
    first, second = people.split()
    said = [
        f"{first}: My {thing} is called Ming.",
        f"{second}: I like cactus soil.",
        f"{first}: Bye.",
    ]
    docs = [
        {"id": str(number), "text": text, "parent": "S1", "date": "2026-01-05"}
        for number, text in enumerate(said)
    ]
    asked = {"qid": "q", "text": f"What is the {thing} of {first} called?", "gold": ["0"]}
    return {"id": people, "docs": docs, "queries": [asked]}


def test_evidence_in_the_prompt_is_measured_in_every_way(tmp_path: Path) -> None:
    file = tmp_path / "made-up.json"
    scopes = [dialogue("Ann Bob", "lamp"), dialogue("Eve Carl", "boat")]
    file.write_text(json.dumps({"scopes": scopes}), encoding="utf-8")
    options = (
        "--per",
        "1",
        "--half",
        "even",
        "--asked-before",
        "--long",
        "--unanswerable",
        str(file),
    )
    told = run_evidence(tmp_path, str(file), *options)
    rows = [line.split(" | ")[0].removeprefix("| ") for line in told.splitlines()[2:]]
    assert rows[:6] == [
        "defaults, asked the next day",
        "by words, before any vector is made",
        "window only, all in one conversation",
        "each question asked a day earlier, nothing found",
        "messages of 3,000 characters",
        "messages of 3,000 characters, no paragraph twice",
    ]
    assert [row.startswith("BM25 alone, ") for row in rows[6:8]] == [True, True]
    assert "| defaults, asked the next day | 100.0, 100.0 % | 100.0 % |" in told
    assert "Unanswerable: " in told


def test_evidence_and_search_are_measured_in_a_database_beside_files(tmp_path: Path) -> None:
    file = tmp_path / "made-up.json"
    file.write_text(json.dumps({"scopes": [dialogue("Ann Bob", "lamp")]}), encoding="utf-8")
    told = run_evidence(tmp_path, str(file), "--database", empty_database(), "--no-learning")
    _, _, *rows = [line.strip("| ").split(" | ") for line in told.splitlines()]
    assert len(rows) == 4
    for files, database in zip(rows[::2], rows[1::2], strict=True):
        assert database[0] == f"{files[0]}, PostgreSQL"
        assert database[1:] == files[1:]
        assert files[1] == "100.0, 100.0 %"


def run_evidence(home: Path, *options: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "bench.evidence", *options],
        cwd=ROOT,
        env=os.environ | {"HOME": str(home), "EMBEDDINGS": "off"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    ).stdout


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *options],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=3600 if LONG else 300,
        check=False,
    )


def test_the_quick_run_measures_every_subject_that_it_is_asked_for() -> None:
    subjects = [*ROWS] if LONG else ["reading", "memory"]
    result = bench("--quick", *subjects)
    assert result.returncode == 0, result.stderr
    _, table = result.stdout.split("\n\n")
    expected = [row for subject in subjects for row in ROWS[subject]]
    assert [line.partition("  ")[0] for line in table.splitlines()[1:]] == expected


def test_every_subject_has_rows() -> None:
    assert [*ROWS] == [*SUBJECTS]


def test_the_table_can_be_put_on_a_page() -> None:
    result = bench("--quick", "--markdown", "start")
    assert result.returncode == 0, result.stderr
    assert "| turnleaf --help, against python -c pass |" in result.stdout


def test_an_unknown_subject_is_refused() -> None:
    result = bench("nonsense")
    assert result.returncode == 2
    assert "nonsense: not one of exchange, reading" in result.stderr


def test_a_database_is_measured_against_bare_psycopg() -> None:
    head, _, *rows, empty, weight = run_on_postgres([(20, 2)], rounds=4)
    columns = [cell.strip() for cell in head.strip("|").split("|")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [(one[0], *one[1:3]) for one in cells] == [
        (name, "20", "2") for name in postgres.OPERATIONS
    ]
    assert all(len(one) == len(columns) for one in cells)
    assert all(float(one[columns.index("trips")]) >= 1 for one in cells)
    assert all(int(one[columns.index("bytes")].replace(",", "")) > 0 for one in cells)
    assert empty == ""
    assert weight.startswith("20 messages in 2 spaces: ")
