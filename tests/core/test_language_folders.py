"""A language is one folder: each that we have is complete, and a new one works by being there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import turnleaf
from turnleaf.core.languages.language import get_language
from turnleaf.core.languages.patterns import compile_pattern

PACKAGE = Path(turnleaf.__file__).parent
FOLDERS = sorted(path.parent for path in PACKAGE.glob("core/languages/*/replies.toml"))
FILES = {"replies.toml", "requests.toml", "statements.toml"}
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
CHILD = """
import json
from turnleaf.core.evidence import says_nothing
from turnleaf.core.languages.replies import choose_words
from turnleaf.core.learning.requests import request_in

text = "私は蕎麦アレルギーだと覚えておいて"
said = choose_words(text, "memory")["saved"].format("蕎麦")
others = [choose_words(one, "memory")["saved"].format("1") for one in ("Hi you", "你們好")]
kept = [request_in(one).content for one in (text, "remember I like tea", "記住我喜歡喝茶")]
print(json.dumps([said, others, kept, says_nothing(said)]))
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
    package = tmp_path / "turnleaf"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("page", "__pycache__"))
    languages = package / "core" / "languages"
    replies = (languages / "en" / "replies.toml").read_text("utf-8")
    japanese = replies.replace('"Remembered: {}"', '"覚えました：{}"')
    (languages / "ja" / "replies.toml").write_text(japanese, "utf-8")
    (languages / "ja" / "requests.toml").write_text(JAPANESE_REQUESTS, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == [
        "覚えました：蕎麦",
        ["Remembered: 1", "已記住：1"],
        ["私は蕎麦アレルギーだ", "I like tea", "我喜歡喝茶"],
        True,
    ]
