"""Errors, hints and notes are written in the reader's language, from a table beside the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from turnleaf.core.data import find_folders, load_data
from turnleaf.core.languages.translation import FILE, FOLDER, MARK, choose_language_of, translate

SOURCE = Path(__file__).parents[2] / "src/turnleaf"
LANGUAGES = find_folders(FOLDER, FILE)
NO_FACT = 'no fact has the ID "{}"; list them with turnleaf memories'


def read_templates() -> set[str]:
    """Return every text of the code, with `{}` for what is filled in."""
    trees = [ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")]
    return {text for tree in trees for node in ast.walk(tree) if (text := write_template(node))}


def write_template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    values = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
    return "".join(map(str, values))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_a_table_is_one_that_the_code_writes(language: str) -> None:
    written = read_templates()
    table = load_data(f"{FOLDER}/{language}/{FILE}")["messages"]
    sentences = [MARK.sub("{}", one) for one in table if "{#}" not in one]
    assert [one for one in sentences if one not in written] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_translation_fills_in_the_same_parts(language: str) -> None:
    table = load_data(f"{FOLDER}/{language}/{FILE}")["messages"]
    assert {said for one, said in table.items() if len(MARK.findall(one)) != count(said)} == set()


def count(said: str) -> int:
    return len(re.findall(r"\{\d?\}", said))


def test_no_translation_has_narrow_punctuation_beside_a_chinese_character() -> None:
    texts = load_data(f"{FOLDER}/zh/{FILE}")["messages"].values()
    narrow = r"[\u4e00-\u9fff][,;:?!()]|[,;?!()][\u4e00-\u9fff]"
    assert [text for text in texts if re.search(narrow, text)] == []


def test_a_sentence_is_translated_with_the_sentence_in_it() -> None:
    error = f"error: {NO_FACT.format('k7')}"
    assert translate(error, "zh-TW") == (
        "錯誤：沒有 ID 為「k7」的記憶；用 turnleaf memories 可以列出全部"
    )


@pytest.mark.parametrize("language", ["zh_CN.UTF-8", "zh-Hans"])
def test_simplified_characters_are_written_for_who_reads_them(language: str) -> None:
    assert translate("Nothing is pending review.", language) == "没有待确认的记忆。"


@pytest.mark.parametrize("language", ["en", "de", "", "C"])
def test_other_languages_read_english(language: str) -> None:
    assert translate(NO_FACT, language) == NO_FACT


def test_what_a_person_wrote_is_not_translated() -> None:
    assert (
        translate("remembered k7: Nothing was changed.", "zh") == "已記住 k7：Nothing was changed."
    )


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-TW,zh;q=0.9,en;q=0.8", "zh-TW"),
        ("de-AT, en;q=0.7, zh;q=0.1", "en"),
        ("fr", "en"),
        ("", "en"),
    ],
)
def test_the_first_known_language_of_a_header_is_chosen(accepted: str, language: str) -> None:
    assert choose_language_of(accepted) == language
