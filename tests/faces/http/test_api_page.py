"""The page about the API names every request that there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2

PAGE = Path(__file__).parents[3] / "docs/api.md"
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
