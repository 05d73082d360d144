"""Errors, hints and notes are written in the reader's language, from a table beside the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from turnleaf import errors
from turnleaf.core.languages.replies import (
    FOLDER,
    MARK,
    MESSAGES_FILE,
    choose_language_of,
    translate,
)
from turnleaf.core.loading import find_folders, load_data

SOURCE = Path(__file__).parents[3] / "src/turnleaf"
LANGUAGES = find_folders(FOLDER, MESSAGES_FILE)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NO_FACT = 'no fact has the ID "{}"; list them with turnleaf memories'


TABLES = {language: load_data(f"{FOLDER}/{language}/{MESSAGES_FILE}") for language in LANGUAGES}
OTHERS = {"libraries", "checks"}
"""Sections with sentences that libraries write."""
CLAUSE = re.compile(rf"{MARK.pattern}|[,;:()]")
"""What parts of a sentence that the code may put together are separated by."""
ENGLISH = re.compile(r"[a-z]{2,}(?: [a-z]{2,}){3}")
"""More words in a row than a command has."""
HAN = re.compile(r"[\u4e00-\u9fff]")
PLACE = re.compile(r"\{\}|%[sd]")
NOT_READ = {"tools.py", "mcp", "imports"}
"""Where errors are read by models, which know English, or functions only have the same names."""
UNTRANSLATED = re.compile(r"(?:error|warning|id|turnleaf config .*)$")
"""What is no sentence: levels, a name that is the same, commands."""
PRINTED = {"note", "murmur", "complain", "ask", "ask_yes", "confirm", "mention_wait", "say_result"}
PRINTED |= {"localize", "label", "show_progress", "Diagnosis", "Row", "warning", "greet"}
"""Functions and classes whose texts people read."""


def list_sentences(language: str, leaving: set[str] = OTHERS) -> dict[str, str]:
    sections = TABLES[language].items()
    return {
        one: said for name, table in sections if name not in leaving for one, said in table.items()
    }


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def read_texts() -> str:
    """Return every text of the code and of English replies, with `{}` for what is filled in."""
    texts = [*load_data(f"{FOLDER}/en/replies.toml")["keeping"].values()]
    for path in SOURCE.rglob("*.py"):
        texts += filter(None, map(write_template, ast.walk(parse(path))))
    return "\n".join(PLACE.sub("{}", " ".join(text.split())) for text in texts)


def write_template(node: ast.AST | None) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    values = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
    return "".join(map(str, values))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_a_table_is_one_that_the_code_writes(language: str) -> None:
    written = read_texts()
    sentences = [one for one in list_sentences(language) if "{#}" not in one]
    parts = {one: {" ".join(part.split()) for part in CLAUSE.split(one)} for one in sentences}
    assert {one for one in sentences if any(part not in written for part in parts[one])} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_translation_fills_in_the_same_parts(language: str) -> None:
    table = list_sentences(language, set())
    assert {said for one, said in table.items() if len(MARK.findall(one)) != count(said)} == set()


def count(said: str) -> int:
    return len(set(re.findall(r"\{\d\}", said))) or said.count("{}")


def test_no_translation_has_narrow_punctuation_beside_a_chinese_character() -> None:
    texts = list_sentences("zh", set()).values()
    narrow = r"[\u4e00-\u9fff][,;:?!()]|[,;?!()][\u4e00-\u9fff]"
    assert [text for text in texts if re.search(narrow, text)] == []


def is_translated(template: str) -> bool:
    if UNTRANSLATED.match(template) or not re.search(r"[a-z]{2}", template):
        return True
    said = translate(PLACE.sub("7", template), "zh")
    return HAN.search(said) is not None and not ENGLISH.search(said)


def list_arguments(names: set[str]) -> Iterator[tuple[Path, ast.expr, ast.AST]]:
    """Yield the arguments of every call of a function by one of these names."""
    for path in SOURCE.rglob("*.py"):
        for place in ast.walk(parse(path)):
            for call in ast.walk(place) if isinstance(place, FUNCTIONS) else ():
                if isinstance(call, ast.Call) and get_name(call.func) in names:
                    yield from ((path.relative_to(SOURCE), one, place) for one in call.args)


def get_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def list_templates(node: ast.expr, place: ast.AST) -> Iterator[str]:
    """Yield the texts that an expression may be, by the assignments of its function."""
    if isinstance(node, ast.IfExp):
        yield from list_templates(node.body, place)
        yield from list_templates(node.orelse, place)
    elif isinstance(node, ast.Name):
        for one in ast.walk(place):
            if isinstance(one, ast.Assign) and node.id in map(get_name, one.targets):
                yield from list_templates(one.value, ast.Pass())
    else:
        yield from filter(None, [write_template(node)])


def test_every_error_and_remark_is_translated() -> None:
    texts = {
        f"{path}: {text}"
        for path, argument, place in list_arguments({*errors.__all__} | PRINTED)
        if not NOT_READ & {*path.parts}
        for text in list_templates(argument, place)
        if not is_translated(text)
    }
    assert texts == set()


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


@pytest.mark.parametrize(
    ("english", "said"),
    [
        ("there is no time zone 'Mars'; write it as Asia/Taipei or Europe/Vienna", "沒有「Mars」"),
        ("invalid value for '-s': 'x' is not one of 'a', 'b'", "「x」不能用；可以是「a」、「b」"),
    ],
)
def test_texts_are_quoted_as_the_language_does(english: str, said: str) -> None:
    assert said in translate(english, "zh")


def test_a_command_in_a_sentence_keeps_its_quotation_marks() -> None:
    advice = "by words only (to compare meanings too, run pip install 'turnleaf[vectors]')"
    assert translate(advice, "zh").endswith("請執行 pip install 'turnleaf[vectors]'）")


def test_each_part_of_a_report_is_translated() -> None:
    report = (
        "by rules and by openai:tiny; 1 model call today, 200 at most; "
        "3 facts in its answers skipped; 1 message given up because no answer could be read"
    )
    assert translate(report, "zh") == (
        "用規則和 openai:tiny；今天用模型學習了 1 次，上限 200 次；"
        "略過回答裡的 3 則記憶；有 1 則訊息因為模型的回答無法辨識，已放棄"
    )


def test_what_joins_two_english_sentences_stays_as_it_is() -> None:
    assert translate("the moon is full (tonight); look up", "zh") == (
        "the moon is full (tonight); look up"
    )


def test_a_sentence_that_begins_with_words_is_not_the_beginning_of_another() -> None:
    error = "'x.txt' does not tell the format of the memories; use a name ending in .json or .md"
    assert translate(f"the memory's location cannot be used: {error}", "zh") == (
        "無法使用記憶的位置：從「x.txt」看不出記憶的存放格式；請以 .json 或 .md 結尾"
    )


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
