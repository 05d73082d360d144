"""A language is one folder: each that we have is complete, and a new one works by being there."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import turnleaf
from turnleaf.core.languages.language import get_language
from turnleaf.core.languages.words import compile_pattern

PACKAGE = Path(turnleaf.__file__).parent
FOLDERS = sorted(path.parent for path in PACKAGE.glob("core/languages/*/replies.toml"))
FILES = {
    "dates.toml", "detection.toml", "replies.toml", "requests.toml", "date_ranges.toml",
    "statements.toml", "terms.toml", "words.toml",
}  # fmt: skip
LANGUAGES = sorted(path.parent for path in PACKAGE.glob("core/languages/*/detection.toml"))
MODULES = sorted(PACKAGE.rglob("*.py"))
WORDS_OF_ASIA = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
RANGE = re.compile("\u3400-\u9fff")
MAY_HOLD_WORDS = {
    "core/host_events.py": "how the prompts of chat clients begin, whatever their user speaks",
    "core/prompt/escaping.py": "names of roles and signs that a text must not imitate",
    "core/search/vectors.py": "sentences by which an embedding model is tried out",
    "core/secrets.py": "what a secret looks like: names beside formats, and all of it guards",
    "core/search/terms.py": "the notation of months and days in the index",
    "core/tokens.py": "characters by what a tokenizer makes of them",
    "faces/http/": "examples in the description of the API, and a page that says what is missing",
}
JAPANESE_REQUESTS = r"""
[meant]
grammar = ""
persons = []

[parts]

[[wishes]]
action = "remember"
cues = "覚えて"
reach = 700
pattern = '(?P<content>.{1,500}?)(?:と|を|って)覚えておいて(?:ください|ね)?'
"""
JAPANESE_STATEMENTS = r"""
[categories]
places = "場所"

[subjects]

[values.place]
shape = '[\u3400-\u9fff]{1,10}'

[speech]
user = '私は'
tail = '[。\s]*\Z'

[slots.home]
say = "{value}に住んでいる"
patterns = ['<i>{place}に住んでいます']
"""
JAPANESE_DATES = r"""
boundary = ["", ""]
verb_stands = "after"
loose_weekdays = false
subject = ""
leads = {}
patterns = {}
marks = {}

[words.day]
"明日" = 1

[forms]
day = ["{first}"]

[[rule]]
reads = "shift"
form = "day"
pattern = '%day%'
"""
JAPANESE_SPANS = r"""
[words.days_ago]
"昨日" = 1
"一昨日" = 2

[edges]
trailing = 'に|の'

[[rule]]
reads = "days_ago"
pattern = '<days_ago>'
"""
JAPANESE_WORDS = r"""
[evidence]
asks = 'ですか\W*+$'

[small_talk]
phrases = 'こんにちは|ありがとう'

[extraction]
example = "例"

[concepts]
peanut = ["落花生"]
"""
ESPERANTO_DETECTION = r"""
rank = 5
words = '(?<!\w)(?:mi|la|kaj|estas|en)(?!\w)'
"""
ESPERANTO_STATEMENTS = r"""
[categories]
places = "Lokoj"

[subjects]

[values.place]
shape = '[A-Z][a-z]{1,20}'

[speech]
user = 'mi\b'
tail = '[.\s]*\Z'

[slots.home]
say = "Mi loĝas en {value}"
patterns = ['<i> loĝas en {place}']
"""
CHILD = """
import json
from datetime import date, datetime
from turnleaf.core.search.message_filters import is_question, says_nothing
from turnleaf.core.learning.extraction import TranscriptMessage, Window, write_system_prompt
from turnleaf.core.languages.replies import choose_words
from turnleaf.core.learning.dates import make_dates_absolute
from turnleaf.core.learning.recogniser import read_message
from turnleaf.core.learning.slots import choose_category, write_fact
from turnleaf.core.learning.memory_requests import find_request
from turnleaf.core.learning.slots import make_value_key
from turnleaf.core.search.message_filters import is_small_talk
from turnleaf.core.search.date_ranges import find_date_range

text = "私は蕎麦アレルギーだと覚えておいて"
said = choose_words(text, "memory")["saved"].format("蕎麦")
others = [choose_words(one, "memory")["saved"].format("1") for one in ("Hi you", "你們好")]
kept = [find_request(one).content for one in (text, "remember I like tea", "記住我喜歡喝茶")]
stated = [
    [write_fact(one, date(2026, 11, 16), told) + choose_category(one) for one in read_message(told)]
    for told in ("私は東京に住んでいます。", "mi loĝas en Romo", "I live in Rome", "我住在台北")
]
noon = datetime(2026, 11, 16, 12)
dates = [
    make_dates_absolute(one, noon).text
    for one in ("明日は試験があります", "I have an exam tomorrow", "我明天要考試")
]
spans = [
    (str(span.first), span.rest)
    for span in (
        find_date_range(one, noon.date())
        for one in ("一昨日に何をしましたか", "what did I do yesterday?", "我昨天做了什麼？")
    )
]
same = make_value_key("落花生") == make_value_key("花生") == make_value_key("peanuts")
asked = is_question("東京ですか"), is_small_talk("こんにちは"), says_nothing(said)
example = write_system_prompt([TranscriptMessage(text, "user")], Window(4096)).endswith("例")
print(json.dumps([said, others, kept, stated, dates, spans, asked, example, same]))
"""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_language_has_all_its_files_and_they_can_be_read(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} >= FILES
    language = get_language(folder.name)
    assert {wish.action for wish in language.requests.wishes} == {"remember", "forget"}
    for wish in language.requests.wishes:
        assert wish.cues
        compile_pattern(wish.pattern)
    for name in ("opening", "question", "polite_end", "nothing"):
        compile_pattern(language.requests.pattern(name))
    assert {*language.earlier_replies} == {"answers", "confirmations"}
    assert language.slots


def test_a_new_folder_is_all_that_a_new_language_needs(tmp_path: Path) -> None:
    said, others, kept, stated, dates, spans, asked, *rest = _run_with_new_folders(tmp_path)
    assert [said, *others] == ["覚えました：蕎麦", "Remembered: 1", "已記住：1"]
    assert kept == ["私は蕎麦アレルギーだ", "I like tea", "我喜歡喝茶"]
    assert stated[:2] == [["東京に住んでいる場所"], ["Mi loĝas en RomoLokoj"]]
    assert stated[2:] == [["I live in RomePlaces"], ["我住在台北地點"]]
    assert dates[0] == "2026-11-17は試験があります"
    assert dates[1:] == ["I have an exam on 2026-11-17", "我2026-11-17要考試"]
    assert [first for first, _ in spans] == ["2026-11-14", "2026-11-15", "2026-11-15"]
    assert spans[0][1] == "何をしましたか"
    assert asked == [True, True, True]
    assert rest == [True, True]


def _run_with_new_folders(tmp_path: Path) -> list[Any]:
    """Return what a copy of the package says that has two more languages, and no other code."""
    package = tmp_path / "turnleaf"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("page", "__pycache__"))
    languages = package / "core" / "languages"
    for name, files in _new_folders(languages).items():
        (languages / name).mkdir(exist_ok=True)
        for file, text in files.items():
            (languages / name / file).write_text(text, "utf-8")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CHILD], env=environ, capture_output=True, check=True, timeout=300
    )
    result: list[Any] = json.loads(done.stdout)
    return result


def _new_folders(languages: Path) -> dict[str, dict[str, str]]:
    replies = (languages / "en" / "replies.toml").read_text("utf-8")
    japanese = {
        "dates.toml": JAPANESE_DATES,
        "replies.toml": replies.replace('"Remembered: {}"', '"覚えました：{}"'),
        "requests.toml": JAPANESE_REQUESTS,
        "date_ranges.toml": JAPANESE_SPANS,
        "statements.toml": JAPANESE_STATEMENTS,
        "words.toml": JAPANESE_WORDS,
    }
    esperanto = {"detection.toml": ESPERANTO_DETECTION, "statements.toml": ESPERANTO_STATEMENTS}
    return {"ja": japanese, "eo": esperanto}


def test_code_holds_no_words_of_a_language_except_for_a_reason() -> None:
    texts = {path.relative_to(PACKAGE).as_posix(): _code_texts(path) for path in MODULES}
    holding = {
        name
        for name, said in texts.items()
        if any(WORDS_OF_ASIA.search(RANGE.sub("", text)) for text in said)
    }
    excepted = {one: {name for name in holding if name.startswith(one)} for one in MAY_HOLD_WORDS}
    assert all(excepted.values())
    assert not holding.difference(*excepted.values())


def test_code_names_no_language_but_the_default() -> None:
    named = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if {*_code_texts(path)} & {one.name for one in LANGUAGES}
    }
    assert named == {"core/languages/language.py"}


@cache
def _code_texts(path: Path) -> list[str]:
    """Return the texts in a module that are no docstrings."""
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    documents = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in documents
    ]
