"""The documentation names everything that exists, nothing else, and its examples run."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import click
import pytest

import turnleaf
from tests.effort import LONG
from tests.faces import forking
from tests.tables import each
from turnleaf.core.model_providers import PROVIDERS
from turnleaf.faces.cli.program import program
from turnleaf.settings import KEYS, SETTINGS, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PRINTED = re.compile(r"^```python\n(?:.*\n)*?```\n\n```text\n((?:.*\n)*?)```$", re.MULTILINE)
ID = re.compile(r"(?=[a-z]*\d)[0-9a-z]{10}")
VARIABLE = re.compile(rf"(\b{ID.pattern}\b|\d{{4}}-\d\d-\d\d|\b\d\d:\d\d\b)")
NAV_FILES = set(
    re.findall(r"^ .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
)
LOADED = re.compile(r"""(?:<script[^>]* src|<link[^>]* href|<img[^>]* src)="([^"]*)""")
# Pages on which vectors help to find something; to load their model takes seconds in each process.
WITH_VECTORS = {ROOT / "README.md", DOCS / "use/search.md"}
WORDS_ONLY = {"EMBEDDINGS": "off"}
# What a tutorial has done in the page or in an MCP client before its first command.
BEFORE = {
    DOCS / "start/chat.md": """
from turnleaf import Assistant
with Assistant() as assistant:
    for text in ["Remember that the living room lamp is called Ming", "書房的燈叫做小華"]:
        assistant.reply("web:tutorial", text)
""",
    DOCS / "start/coding-agents.md": """
from turnleaf import Assistant
from turnleaf.core.changes import Source
with Assistant() as assistant:
    for fact in ["客廳的燈叫做小明", "We deploy with make ship, never on Fridays"]:
        source = Source(name="tool:append_memory", trust="user")
        assistant.memory.add(fact, origin="tool", source=source)
""",
}


def read(path: Path) -> str:
    return path.read_text("utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[str]:
    return [code for language, code in FENCE.findall(read(page)) if language in languages]


def prose(page: Path) -> str:
    return FENCE.sub("", read(page))


def table_rows(page: Path) -> list[str]:
    return [line for line in read(page).splitlines() if line.startswith("|")]


def clean_environ(folder: Path) -> dict[str, str]:
    programs = [str(Path(sys.executable).parent), os.defpath]
    return {"PATH": os.pathsep.join(programs), "HOME": str(folder)}


# Settings


def default_in_words(setting: Setting) -> str:
    if setting.default is None:
        return "in the data folder" if setting.field.endswith("location") else "| none |"
    if isinstance(setting.default, bool):
        return "`on`" if setting.default else "`off`"
    return f"`{setting.default}`"


@each("setting", SETTINGS)
def test_a_setting_is_documented_with_its_variable_its_key_and_its_default(
    setting: Setting,
) -> None:
    rows = [
        row for row in table_rows(DOCS / "reference/settings.md") if f"`{setting.variable}`" in row
    ]
    assert len(rows) == 1
    assert f"`{setting.key}`" in rows[0]
    assert default_in_words(setting) in rows[0]


def variables_read_by_the_code() -> set[str]:
    sources = [read(path) for path in (ROOT / "src").rglob("*.py")]
    texts = {
        node.value
        for tree in map(ast.parse, (source for source in sources if "environ" in source))
        for outer in ast.walk(tree)
        if isinstance(outer, ast.Call | ast.Subscript | ast.Compare)
        and "environ" in ast.unparse(outer)
        for node in ast.walk(outer)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {text for text in texts if re.fullmatch(r"[A-Z][A-Z_0-9]+", text)}


def test_the_page_documents_exactly_the_variables_that_exist() -> None:
    documented = set(
        re.findall(r"^\| `([A-Z_0-9]+)`", read(DOCS / "reference/settings.md"), re.MULTILINE)
    )
    exist = {setting.variable for setting in SETTINGS} | variables_read_by_the_code() - {"PATH"}
    by_table = {
        *map(str.upper, KEYS),
        *filter(None, (one.address_variable for one in PROVIDERS.values())),
    }
    assert documented == exist | by_table | {"NO_COLOR"}


# Command line


def commands() -> dict[str, click.Command]:
    ctx = click.Context(program)
    found = {name: program.get_command(ctx, name) for name in program.list_commands(ctx)}
    return {name: command for name, command in found.items() if command is not None}


def sections(page: Path, name: str) -> str:
    """Return the text below the headings that name the command, joined."""
    found: list[str] = []
    level = 0
    for line in read(page).splitlines():
        marks = len(line) - len(line.lstrip("#")) if line.startswith("#") else 0
        if marks and (not level or marks <= level):
            level = marks if re.search(rf"\b{name}\b", line) else 0
        if level:
            found.append(line)
    return "\n".join(found)


def options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield from parameter.opts
            yield from parameter.secondary_opts


@each("name", sorted(commands()))
def test_a_command_is_documented_with_every_option(name: str) -> None:
    text = sections(DOCS / "reference/cli.md", name)
    assert f"turnleaf {name}" in text
    assert [option for option in options(commands()[name]) if option not in text] == []


def test_the_options_of_the_program_itself_are_documented() -> None:
    text = read(DOCS / "reference/cli.md")
    wanted = [*options(program), "--help"]
    assert [option for option in wanted if option not in text] == []


def list_shown_commands(page: Path) -> Iterator[list[str]]:
    lines = [line for code in blocks(page, "console", "sh") for line in code.splitlines()]
    lines += re.findall(r"`(turnleaf [^`]+)`", prose(page))
    for line in lines:
        words = line.removeprefix("$ ").split()
        if words[:1] == ["turnleaf"]:
            yield words[1:]


@each("page", PAGES)
def test_a_page_shows_only_commands_that_exist(page: Path) -> None:
    names = {*commands(), "COMMAND", "…", "..."}
    first = [
        next((word for word in words if not word.startswith("-")), "")
        for words in list_shown_commands(page)
    ]
    assert [name for name in first if name and name not in names] == []


# Pages and links


def links(page: Path) -> list[str]:
    return [link for link in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in headings}


def is_broken(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return not target.exists() or bool(anchor and anchor not in anchors(target))


@each("page", PAGES)
def test_no_link_of_a_page_is_broken(page: Path) -> None:
    assert [link for link in links(page) if is_broken(page, link)] == []


def test_every_page_can_be_reached() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in (ROOT / "README.md", DOCS / "index.md")
        for link in links(page)
    }
    assert [name_of(page) for page in DOCS.rglob("*.md") if page not in linked] == []


# Examples


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=folder,
        env=clean_environ(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def run_in_fork(what: list[str] | str, page: Path, home: Path) -> tuple[int, str]:
    """Run `turnleaf` or Python in the working directory, with errors among what is printed."""
    with TemporaryFile() as source, TemporaryFile() as out:
        streams = [source.fileno(), out.fileno(), out.fileno()]
        environ = clean_environ(home) | ({} if LONG or page in WITH_VECTORS else WORDS_ONLY)
        running = (
            forking.fork_python(what, streams, environ)
            if isinstance(what, str)
            else forking.fork(what, streams, environ)
        )
        try:
            code = running.wait(forking.HANG_SECONDS)
        finally:
            running.kill()
        out.seek(0)
        return code, out.read().decode()


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_the_python_of_a_page_runs_and_prints_what_stands_below_it(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, printed = run_in_fork("\n".join(blocks(page, "python")), page, tmp_path)
    assert code == 0, printed
    shown = "".join(PRINTED.findall(read(page)))
    assert re.search(pattern(shown, {}), printed), printed


def test_the_readme_has_an_example_in_python() -> None:
    (example,) = blocks(ROOT / "README.md", "python")
    assert len(example.splitlines()) <= 20


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=name_of)
def test_the_commands_of_a_page_run_and_print_what_stands_below_them(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if before := BEFORE.get(page):
        code, printed = run_in_fork(before, page, tmp_path)
        assert code == 0, printed
    ids: dict[str, str] = {}
    for words, shown in find_console_examples(page):
        code, printed = run_in_fork([ids.get(word, word) for word in words], page, tmp_path)
        assert code == 0, f"{words}: {printed}"
        if shown:
            found = re.fullmatch(pattern(shown, ids), printed)
            assert found, f"{words} printed:\n{printed}"
            ids |= {name[1:]: value for name, value in found.groupdict().items()}


def find_console_examples(page: Path) -> Iterator[tuple[list[str], str]]:
    """Yield what follows `turnleaf` in each command, with the output that is shown below it."""
    for code in blocks(page, "console"):
        for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if command.startswith("turnleaf "):
                yield shlex.split(command)[1:], shown


def pattern(shown: str, ids: dict[str, str]) -> str:
    """Return a pattern for the output, in which dates, times and new ids may be others."""
    named: set[str] = set()

    def allow(variable: str) -> str:
        if not ID.fullmatch(variable):
            return re.sub(r"\d", r"\\d", variable)
        if variable in ids:
            return ids[variable]
        if variable in named:
            return f"(?P=i{variable})"
        named.add(variable)
        return f"(?P<i{variable}>[0-9a-z]{{10}})"

    parts = VARIABLE.split(shown)
    return "".join(allow(one) if n % 2 else re.escape(one) for n, one in enumerate(parts))


# The site


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    shutil.copytree(DOCS, tmp_path / "docs")
    (tmp_path / "src").symlink_to(ROOT / "src")
    (tmp_path / "mkdocs.yml").write_text(read(ROOT / "mkdocs.yml"), "utf-8")
    built = run([sys.executable, "-m", "zensical", "build", "--strict"], tmp_path)
    assert built.returncode == 0, built.stdout
    pages = [read(page) for page in (tmp_path / "build/site").rglob("*.html")]
    assert len(pages) > len(NAV_FILES)
    assert [link for page in pages for link in LOADED.findall(page) if "//" in link] == []
    search = json.loads(read(tmp_path / "build/site/search.json"))
    assert "客廳的燈叫做小明" in json.dumps(search, ensure_ascii=False)


def test_the_site_has_every_page() -> None:
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} == NAV_FILES


def test_the_python_reference_has_every_public_name_once() -> None:
    named = re.findall(r"^::: turnleaf\.(\w+)$", read(DOCS / "reference/python.md"), re.MULTILINE)
    assert sorted(named) == sorted(turnleaf.__all__)


def test_every_path_that_contributing_names_exists() -> None:
    named = re.findall(r"`([\w./*-]+/[\w./*-]*)`", prose(ROOT / "CONTRIBUTING.md"))
    places = (ROOT, ROOT / "src/turnleaf")
    missing = [path for path in named if not any([*place.glob(path)] for place in places)]
    assert set(missing) <= {"build/site"}


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert "## [Unreleased]" in read(ROOT / "CHANGELOG.md")
