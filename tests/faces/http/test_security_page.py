"""The page's own files: only those, as what they are, and scripts of nobody else."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from fastapi import Request

from turnleaf.errors import NotFound
from turnleaf.faces.http.app import FOR_EVER, FRESH, serve_file, serve_html

PAGE = '<meta name="csp-nonce" content="__NONCE__"><p>小明</p>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    built = tmp_path / "page"
    (built / "assets").mkdir(parents=True, exist_ok=True)
    (built / "index.html").write_text(PAGE, "utf-8")
    (built / "assets/a-1.js").write_text("alert('小明')", "utf-8")
    (built / "assets/a-1.css").write_text("p { color: green }", "utf-8")
    (built / "assets/a-1.css.gz").write_bytes(gzip.compress(b"p { color: green }"))
    (built / "assets/notes.md").write_text("- a secret", "utf-8")
    (built / "assets/.hidden.js").write_text("a secret", "utf-8")
    (tmp_path / "outside.js").write_text("a secret", "utf-8")
    return built


def asking(**headers: str) -> Request:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": named})


def test_every_answer_has_a_nonce_of_its_own_in_its_page_and_its_policy(folder: Path) -> None:
    seen = set()
    for _ in range(3):
        answer = serve_html(folder / "index.html")
        [nonce] = re.findall(r"'nonce-([^']+)'", answer.headers["content-security-policy"])
        assert bytes(answer.body).decode() == PAGE.replace("__NONCE__", nonce)
        assert len(nonce) >= 20
        seen.add(nonce)
    assert len(seen) == 3


def test_a_page_that_was_not_built_says_how_to_get_it(folder: Path) -> None:
    answer = serve_html(folder / "nothing.html")
    text = bytes(answer.body).decode()
    assert answer.status_code == 200
    assert "make run" in text
    assert 'href="/docs"' in text
    assert "<script" not in text


@pytest.mark.parametrize(("name", "kind"), [("a-1.js", "text/javascript"), ("a-1.css", "text/css")])
def test_a_file_is_given_as_what_it_is_and_may_be_kept(folder: Path, name: str, kind: str) -> None:
    answer = serve_file(folder, f"assets/{name}", asking(), FOR_EVER)
    assert answer.body == (folder / "assets" / name).read_bytes()
    assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]
    assert "content-encoding" not in answer.headers


def test_who_has_it_already_is_not_sent_it_again(folder: Path) -> None:
    first = serve_file(folder, "assets/a-1.js", asking(), FRESH)
    again = serve_file(folder, "assets/a-1.js", asking(if_none_match=first.headers["etag"]), FRESH)
    assert (again.status_code, again.body) == (304, b"")
    (folder / "assets/a-1.js").write_text("changed, and longer than before", "utf-8")
    changed = serve_file(
        folder, "assets/a-1.js", asking(if_none_match=first.headers["etag"]), FRESH
    )
    assert changed.status_code == 200


def test_a_packed_file_is_sent_to_who_can_unpack_it(folder: Path) -> None:
    plain = serve_file(folder, "assets/a-1.css", asking(accept_encoding="br"), FRESH)
    packed = serve_file(folder, "assets/a-1.css", asking(accept_encoding="br, gzip"), FRESH)
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(bytes(packed.body)) == plain.body
    assert packed.headers["etag"] != plain.headers["etag"]
    assert packed.headers["vary"] == "Accept-Encoding"
    assert packed.headers["content-type"] == plain.headers["content-type"]


@pytest.mark.parametrize(
    "name",
    [
        "../outside.js",
        "assets/../../outside.js",
        "assets//a-1.js",
        "/assets/a-1.js",
        "assets\\a-1.js",
        "assets/a-1.js/",
        "assets/a-1.js\0",
        "assets/a-1.js\n",
        "assets/.hidden.js",
        "assets/notes.md",
        "assets/a-1.css.gz",
        "assets",
        "",
        "ASSETS/a-1.js ",
        "assets/a\u2215b.js",
    ],
)
def test_nothing_else_is_given(folder: Path, name: str) -> None:
    with pytest.raises(NotFound, match="so reload it"):
        serve_file(folder, name, asking(), FRESH)
