"""Every scenario of the requirements has an id, and every id has a test.

The ids are in the `.toml` files beside this one. A test carries its id by
`@pytest.mark.scenario("000.trim-by-turns")`; the tests are read, not run, so that this holds
for any selection of them.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.tables import each

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).parent
TESTS = HERE.parent

SCENARIOS = {"000": 14, "001": 20, "002": 16, "003": 24, "004": 12}
"""How many the requirements have: none may disappear from the catalogue."""


class Scenario(NamedTuple):
    """One entry of the catalogue."""

    id: str
    title: str
    must: str


class ScenarioMark(NamedTuple):
    """One mark on one test."""

    id: str
    test: str


def catalogue() -> list[Scenario]:
    return [
        Scenario(**entry)
        for path in sorted(HERE.glob("*.toml"))
        for entry in tomllib.loads(path.read_text("utf-8"))["scenario"]
    ]


def find_our_marks() -> list[ScenarioMark]:
    read = ((file.name, file.read_text("utf-8")) for file in sorted(TESTS.rglob("test_*.py")))
    # To parse all of them takes seconds, and without the word there is no mark.
    marked = ((name, text) for name, text in read if "scenario" in text)
    return [mark for name, text in marked for mark in find_marks(text, name)]


def find_marks(source: str, file: str) -> Iterator[ScenarioMark]:
    """Find the marks of the tests in one file, as they are written there."""
    tree = ast.parse(source, file)
    everywhere = [mark for node in tree.body if _sets_pytestmark(node) for mark in _marks(node)]
    yield from (ScenarioMark(_id(mark, file), file) for mark in everywhere if _holds_a_test(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            marks = [mark for part in node.decorator_list for mark in _marks(part)]
            place = f"{file}:{node.lineno} {node.name}"
            if marks and not _is_test(node):
                message = f"{place} carries a scenario and is no test"
                raise ValueError(message)
            if not _is_put_off(node):
                yield from (ScenarioMark(_id(mark, place), place) for mark in marks)


def _sets_pytestmark(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets)


def _holds_a_test(tree: ast.AST) -> bool:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return any(_is_test(node) for node in functions)


def _marks(node: ast.AST, name: str = "scenario") -> list[ast.Call]:
    """Find each `pytest.mark.NAME(…)` or `mark.NAME(…)` in a piece of source."""
    calls = (found for found in ast.walk(node) if isinstance(found, ast.Call))
    return [call for call in calls if _is_mark(call.func, name)]


def _is_mark(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and (
        re.fullmatch(rf"(pytest\.)?mark\.{name}", ast.unparse(node)) is not None
    )


def _is_test(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return node.name.startswith("Test" if isinstance(node, ast.ClassDef) else "test_")


def _is_put_off(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a test is marked as one that proves nothing yet."""
    parts = (part for decorator in node.decorator_list for part in ast.walk(decorator))
    return any(_is_mark(part, "(skip|xfail)") for part in parts)


def _id(mark: ast.Call, place: str) -> str:
    match mark.args, mark.keywords:
        case [ast.Constant(value=str(text))], []:
            return text
    message = f"{place}: a scenario mark takes one id, written out as a string"
    raise ValueError(message)


def without_a_test(scenarios: Iterable[Scenario], carried: Iterable[ScenarioMark]) -> list[str]:
    """Return the ids that no test carries."""
    tested = {mark.id for mark in carried}
    return [each.id for each in scenarios if each.id not in tested]


def not_in_the_catalogue(
    scenarios: Iterable[Scenario], carried: Iterable[ScenarioMark]
) -> list[str]:
    """Return the marks whose id does not exist."""
    known = {each.id for each in scenarios}
    return [f"{mark.id} ({mark.test})" for mark in carried if mark.id not in known]


def per_document(scenarios: Iterable[Scenario]) -> dict[str, int]:
    return dict(Counter(each.id.partition(".")[0] for each in scenarios))


def test_each_scenario_is_carried_by_a_test() -> None:
    assert without_a_test(catalogue(), find_our_marks()) == []


def test_each_mark_names_a_scenario_of_the_catalogue() -> None:
    assert not_in_the_catalogue(catalogue(), find_our_marks()) == []


def test_the_catalogue_holds_every_scenario_of_every_document() -> None:
    assert per_document(catalogue()) == SCENARIOS


def test_no_id_is_used_twice() -> None:
    assert [
        name for name, count in Counter(each.id for each in catalogue()).items() if count > 1
    ] == []


@each("scenario", catalogue())
def test_an_entry_says_what_it_is(scenario: Scenario) -> None:
    assert re.fullmatch(r"\d{3}\.[a-z0-9]+(-[a-z0-9]+)*", scenario.id)
    assert scenario.title.strip()
    assert scenario.must.endswith(".")


@pytest.mark.parametrize("path", sorted(HERE.glob("*.toml")), ids=lambda path: path.stem)
def test_a_file_holds_the_scenarios_of_its_own_document(path: Path) -> None:
    entries = tomllib.loads(path.read_text("utf-8"))["scenario"]
    assert {entry["id"].partition(".")[0] for entry in entries} == {path.stem}


KNOWN = [Scenario("000.tested", "…", "It holds.")]
TESTED = ScenarioMark("000.tested", "test_it.py")


def test_a_catalogue_in_order_has_nothing_to_report() -> None:
    assert without_a_test(KNOWN, [TESTED]) == []
    assert not_in_the_catalogue(KNOWN, [TESTED]) == []


def test_a_scenario_without_a_test_is_found() -> None:
    assert without_a_test(KNOWN, []) == ["000.tested"]


def test_a_mark_with_an_unknown_id_is_found() -> None:
    assert not_in_the_catalogue(KNOWN, [ScenarioMark("000.tset", "test_it.py")]) == [
        "000.tset (test_it.py)"
    ]


def ids_in(source: str) -> list[str]:
    return [mark.id for mark in find_marks(source, "test_it.py")]


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.scenario("000.a")\ndef test_it() -> None: ...',
        '@pytest.mark.scenario("000.a")\nasync def test_it() -> None: ...',
        '@mark.scenario("000.a")\ndef test_it() -> None: ...',
        '@pytest.mark.scenario("000.a")\nclass TestIt: ...',
        'class TestIt:\n    @pytest.mark.scenario("000.a")\n    def test_it(self) -> None: ...',
        'pytestmark = pytest.mark.scenario("000.a")\ndef test_it() -> None: ...',
        '@each([pytest.param(1, marks=pytest.mark.scenario("000.a"))])\ndef test_it(x: int): ...',
    ],
)
def test_a_mark_is_found_wherever_it_may_stand(source: str) -> None:
    assert ids_in(source) == ["000.a"]


@pytest.mark.parametrize(
    "source",
    [
        "def test_it() -> None: ...",
        '# @pytest.mark.scenario("000.a")\ndef test_it() -> None: ...',
        'def test_it() -> None:\n    """@pytest.mark.scenario("000.a")"""',
        'pytestmark = pytest.mark.scenario("000.a")',
        '@pytest.mark.skip\n@pytest.mark.scenario("000.a")\ndef test_it() -> None: ...',
        '@pytest.mark.xfail(reason="…")\n@pytest.mark.scenario("000.a")\ndef test_it(): ...',
    ],
)
def test_what_proves_nothing_carries_nothing(source: str) -> None:
    assert ids_in(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.scenario(NAME)\ndef test_it() -> None: ...",
        "@pytest.mark.scenario()\ndef test_it() -> None: ...",
        '@pytest.mark.scenario("000.a", "000.b")\ndef test_it() -> None: ...',
        '@pytest.mark.scenario("000.a")\ndef helper() -> None: ...',
    ],
)
def test_a_mark_that_cannot_be_checked_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="scenario"):
        ids_in(source)
