"""The description of the API is what the page about it and the types of the web page say."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.faces.http.conftest import RunningServer
from turnleaf.core.changes import Source

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/reference/api.md"
NAMED = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^` ]*)`")
COMPLETIONS = "/v1/"
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8793"
FAILING_CURL = 'curl() { command curl --fail-with-body --silent --show-error "$@"; }\n'


def test_the_page_names_every_request_and_no_other(visitor: httpx2.Client) -> None:
    paths = visitor.get("/openapi.json").json()["paths"]
    exist = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    documented = set(NAMED.findall(PAGE.read_text("utf-8")))
    assert documented == {one for one in exist if not one[1].startswith(COMPLETIONS)}


@pytest.mark.parametrize("page", ["reference/api.md", "integrate/openai.md"])
def test_the_curl_lines_of_a_page_can_be_pasted_one_after_the_other(
    server: RunningServer, tmp_path: Path, page: str
) -> None:
    assert shutil.which("jq"), "jq is missing; make test installs it on Debian"
    server.assistant.pending.add("The bank is Evil Bank", source=Source(name="document:letter.md"))
    lines = "\n".join(SHELL.findall((ROOT / "docs" / page).read_text("utf-8")))
    pasted = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", FAILING_CURL + lines.replace(ADDRESS, server.url)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert pasted.returncode == 0, pasted.stdout[-2000:] + pasted.stderr


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
