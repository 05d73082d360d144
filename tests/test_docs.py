"""The documentation names everything that exists, nothing else, and its examples run."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from turnleaf.faces.cli.program import program
from turnleaf.settings import BASE_URLS, KEYS, SETTINGS, Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


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


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.field)
def test_a_setting_is_documented_with_its_variable_its_key_and_its_default(
    setting: Setting,
) -> None:
    rows = [row for row in table_rows(DOCS / "settings.md") if f"`{setting.variable}`" in row]
    assert len(rows) == 1
    assert f"`{setting.key}`" in rows[0]
    assert default_in_words(setting) in rows[0]


def variables_read_by_the_code() -> set[str]:
    trees = [ast.parse(read(path)) for path in (ROOT / "src").rglob("*.py")]
    texts = {
        node.value
        for tree in trees
        for outer in ast.walk(tree)
        if isinstance(outer, ast.Call | ast.Subscript | ast.Compare)
        and "environ" in ast.unparse(outer)
        for node in ast.walk(outer)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {text for text in texts if re.fullmatch(r"[A-Z][A-Z_0-9]+", text)}


def test_the_page_documents_exactly_the_variables_that_exist() -> None:
    documented = set(re.findall(r"^\| `([A-Z_0-9]+)`", read(DOCS / "settings.md"), re.MULTILINE))
    exist = {setting.variable for setting in SETTINGS} | variables_read_by_the_code() - {"PATH"}
    by_table = {*map(str.upper, KEYS), *BASE_URLS.values()}
    assert documented == exist | by_table | {"NO_COLOR"}


# Command line


def commands() -> dict[str, click.Command]:
    ctx = click.Context(program)
    found = {name: program.get_command(ctx, name) for name in program.list_commands(ctx)}
    return {name: command for name, command in found.items() if command is not None}


def sections(page: Path, name: str) -> str:
    """Give what stands below the headings that name the command, one below the other."""
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


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_command_is_documented_with_every_option(name: str) -> None:
    text = sections(DOCS / "cli.md", name)
    assert f"turnleaf {name}" in text
    assert [option for option in options(commands()[name]) if option not in text] == []


def test_the_options_of_the_program_itself_are_documented() -> None:
    text = read(DOCS / "cli.md")
    wanted = [*options(program), "--help"]
    assert [option for option in wanted if option not in text] == []


def shown_commands(page: Path) -> Iterator[list[str]]:
    lines = [line for code in blocks(page, "console", "sh") for line in code.splitlines()]
    lines += re.findall(r"`(turnleaf [^`]+)`", prose(page))
    for line in lines:
        words = line.removeprefix("$ ").split()
        if words[:1] == ["turnleaf"]:
            yield words[1:]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_shows_only_commands_that_exist(page: Path) -> None:
    names = {*commands(), "COMMAND", "…", "..."}
    first = [
        next((word for word in words if not word.startswith("-")), "")
        for words in shown_commands(page)
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


@pytest.mark.parametrize("page", PAGES, ids=name_of)
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


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=name_of)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    code = "\n".join(blocks(page, "python"))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=clean_environ(tmp_path),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def test_the_readme_has_an_example_in_python() -> None:
    (example,) = blocks(ROOT / "README.md", "python")
    assert len(example.splitlines()) <= 20


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=name_of)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    for words in shown_console(page):
        result = subprocess.run(
            words,
            cwd=tmp_path,
            env=clean_environ(tmp_path),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert result.returncode == 0, f"{words}: {result.stderr}"


def shown_console(page: Path) -> list[list[str]]:
    lines = [line for code in blocks(page, "console") for line in code.splitlines()]
    return [shlex.split(line[2:]) for line in lines if line.startswith("$ turnleaf ")]


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert "## [Unreleased]" in read(ROOT / "CHANGELOG.md")
