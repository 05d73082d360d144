"""The built page is light, asks nobody else for anything, and is built only when it must be."""

from __future__ import annotations

import gzip
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hatch_build
from hatch_build import Node, NotBuilt

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
PAGE = ROOT / hatch_build.PAGE
FIRST_CHUNK_BYTES = 150_000
ADDRESS = re.compile(r"https?://[\w.:-]+")
NEVER_FETCHED = {
    # What an address looks like, in an empty field.
    "http://localhost:8000",
    "http://www.w3.org",  # the names of XML's namespaces
    "https://react.dev",  # where React's errors are explained
    "http://localhost:11434",  # a suggestion in the settings
}


class Tags(HTMLParser):
    """All the tags of a page, and what stands between those of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in {"script", "style"} and data.strip():
            self.inline.append(data)

    @property
    def addresses(self) -> list[str]:
        return [
            attributes[name] or ""
            for _, attributes in self.tags
            for name in ("src", "href")
            if name in attributes
        ]


def html(name: str) -> Tags:
    return Tags((PAGE / name).read_text("utf-8"))


def list_first_chunk() -> list[Path]:
    return [PAGE / address for address in html("index.html").addresses if address.endswith(".js")]


def scripts() -> list[Path]:
    return [*PAGE.glob("*.js"), *PAGE.glob("assets/*.js"), PAGE / "docs" / "docs.js"]


# The page


def test_the_page_is_built_from_the_sources_that_are_here() -> None:
    assert hatch_build.is_built(ROOT), "the page is older than web/; run make run"


def test_what_the_browser_loads_first_is_light() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in list_first_chunk()}
    assert any(size > FIRST_CHUNK_BYTES / 10 for size in sizes.values()), "no chunk was found"
    assert sum(sizes.values()) <= FIRST_CHUNK_BYTES, sizes


def test_the_editor_is_loaded_only_when_it_is_needed() -> None:
    with_editor = {path for path in scripts() if "cm-editor" in path.read_text("utf-8")}
    assert with_editor
    assert not with_editor & set(list_first_chunk())


@pytest.mark.parametrize("name", ["index.html", "docs/index.html"])
def test_a_page_holds_no_script_and_no_style_of_its_own(name: str) -> None:
    page = html(name)
    assert any(tag == "script" for tag, _ in page.tags)
    assert not page.inline
    assert not [tag for tag, _ in page.tags if tag == "style"]
    for tag, attributes in page.tags:
        assert not [key for key in attributes if key.startswith("on") or key == "style"], tag


@pytest.mark.parametrize("name", ["index.html", "docs/index.html"])
def test_every_file_is_found_below_whatever_prefix_the_page_has(name: str) -> None:
    for address in html(name).addresses:
        assert address.startswith(("./", "../"))
        assert (PAGE / name).parent.joinpath(address).is_file()


def test_the_page_takes_its_nonce_from_the_server() -> None:
    nonces = [tag for tag in html("index.html").tags if tag[1].get("name") == "csp-nonce"]
    assert nonces == [("meta", {"name": "csp-nonce", "content": "__NONCE__"})]


def test_no_script_and_no_style_names_a_server_to_fetch_from() -> None:
    texts = [*scripts(), *PAGE.glob("assets/*.css"), PAGE / "index.html", PAGE / "docs/index.html"]
    found = {name for path in texts for name in ADDRESS.findall(path.read_text("utf-8"))}
    assert found <= NEVER_FETCHED


def test_what_is_packed_is_what_is_not() -> None:
    packed = list(PAGE.rglob("*.gz"))
    assert packed
    for path in packed:
        assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()


def test_the_licences_of_what_the_page_holds_come_with_it() -> None:
    licences = (PAGE / "licenses.md").read_text("utf-8")
    assert "react-dom" in licences
    assert "@codemirror/view" in licences
    assert "Apache License" in (PAGE / "docs/LICENSE").read_text("utf-8")


# What it is built from


def test_the_lock_file_holds_no_address_and_a_hash_of_every_package() -> None:
    text = (WEB / "package-lock.json").read_text("utf-8")
    assert "://" not in text
    packages = {name: one for name, one in json.loads(text)["packages"].items() if name}
    assert "node_modules/react" in packages
    assert not [name for name, one in packages.items() if not one.get("integrity")]


def test_the_lock_file_names_what_other_systems_need() -> None:
    packages = json.loads((WEB / "package-lock.json").read_text("utf-8"))["packages"]
    for system in ("darwin-arm64", "linux-arm64-gnu", "linux-x64-musl", "win32-x64-msvc"):
        assert f"node_modules/@rolldown/binding-{system}" in packages


# When it is built


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a page to build, and none built."""
    (tmp_path / "web" / "src").mkdir(parents=True)
    (tmp_path / "web" / "package-lock.json").write_text("{}")
    (tmp_path / "web" / "src" / "app.tsx").write_text("export const 燈 = '小明';", "utf-8")
    return tmp_path


def stand_in(project: Path, code: str) -> Node:
    """Return a Node whose npm is a Python program that notes its arguments and obeys them."""
    program = project / "npm.py"
    program.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "with Path('../calls').open('a') as calls:\n"
        "    print(*sys.argv[1:], file=calls)\n"
        f"{code}\n"
    )
    return Node(project, (sys.executable, str(program)))


BUILDS = f"""
made = Path("../{hatch_build.PAGE}") if sys.argv[1] == "run" else Path("node_modules")
made.mkdir(parents=True, exist_ok=True)
"""


def calls(project: Path) -> list[str]:
    return (project / "calls").read_text().splitlines()


def test_a_page_is_built_once(project: Path) -> None:
    assert not hatch_build.is_built(project)
    hatch_build.build(project, stand_in(project, BUILDS))
    assert hatch_build.is_built(project)
    assert calls(project) == ["ci", "run build"]


@pytest.mark.parametrize("change", ["edited", "added", "removed", "renamed"])
def test_a_page_whose_sources_changed_is_not_built_any_more(project: Path, change: str) -> None:
    hatch_build.build(project, stand_in(project, BUILDS))
    source = project / "web" / "src" / "app.tsx"
    if change == "edited":
        source.write_text("export const 燈 = '小華';", "utf-8")
    elif change == "added":
        source.with_name("more.css").touch()
    elif change == "removed":
        source.unlink()
    else:
        source.rename(source.with_name("page.tsx"))
    assert not hatch_build.is_built(project)


def test_what_npm_installs_is_no_source(project: Path) -> None:
    hatch_build.build(project, stand_in(project, BUILDS))
    (project / "web" / "node_modules" / "react.js").write_text("installed")
    assert hatch_build.is_built(project)


def test_packages_are_installed_again_only_when_the_lock_file_changes(project: Path) -> None:
    node = stand_in(project, BUILDS)
    hatch_build.build(project, node)
    hatch_build.build(project, node)
    assert calls(project) == ["ci", "run build", "run build"]
    (project / "web" / "package-lock.json").write_text('{"packages": {}}')
    hatch_build.build(project, node)
    assert calls(project)[3:] == ["ci", "run build"]


def test_a_source_distribution_with_a_page_needs_no_node(project: Path) -> None:
    hatch_build.build(project, stand_in(project, BUILDS))
    (project / "web").rename(project / "elsewhere")
    assert hatch_build.is_built(project)


def test_a_failed_build_says_why_and_what_to_do_and_is_no_page(project: Path) -> None:
    node = stand_in(project, "sys.exit('npm error: 網路不通')")
    with pytest.raises(NotBuilt, match=r"網路不通[\s\S]*`npm ci` failed in .*try again"):
        hatch_build.build(project, node)
    assert not hatch_build.is_built(project)


def test_without_node_it_is_said_how_to_get_one(project: Path) -> None:
    with pytest.raises(NotBuilt, match=r"Node\.js 20\.19 or newer.*install it, or build without"):
        hatch_build.build(project, None)


def test_an_incomplete_source_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(NotBuilt, match="no web/ to build it from"):
        hatch_build.build(tmp_path, None)
