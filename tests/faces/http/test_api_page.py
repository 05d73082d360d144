"""The description of the API is what the page about it and the types of the web page say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import httpx2

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/api.md"
NAMED = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^` ]*)`")
COMPLETIONS = "/v1/"


def test_the_page_names_every_request_and_no_other(visitor: httpx2.Client) -> None:
    paths = visitor.get("/openapi.json").json()["paths"]
    exist = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    documented = set(NAMED.findall(PAGE.read_text("utf-8")))
    assert documented == {one for one in exist if not one[1].startswith(COMPLETIONS)}


def test_every_request_says_what_it_does_and_which_problems_it_may_answer_with(
    visitor: httpx2.Client,
) -> None:
    paths = visitor.get("/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method, described in methods.items():
            assert described["summary"], (method, path)
            assert described["tags"], (method, path)
            assert re.fullmatch(r"[a-z][A-Za-z]+", described["operationId"]), (method, path)
            problems = [answer for code, answer in described["responses"].items() if code >= "400"]
            kinds = {kind for answer in problems for kind in answer["content"]}
            assert kinds == {"application/problem+json"}, (method, path)


def test_the_types_of_the_web_page_are_those_of_the_description() -> None:
    script = runpy.run_path(str(ROOT / "scripts/api_types.py"))
    advice = "the API has changed; run .venv/bin/python scripts/api_types.py"
    assert script["TARGET"].read_text("utf-8") == script["describe"](), advice
