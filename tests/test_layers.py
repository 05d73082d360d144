"""Imports go down only, the core is pure, and one module changes files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.tables import each

SOURCE = Path(__file__).parents[1] / "src"

BELOW = {
    "errors": set[str](),
    "metrics": set[str](),
    "core": {"core", "errors"},
    "settings": {"core", "errors"},
    "installation": {"settings", "core", "errors"},
    "model_keys": {"settings", "core", "errors"},
    "store": {"store", "installation", "model_keys", "settings", "core", "errors"},
    "llm": {"llm", "installation", "metrics", "model_keys", "settings", "core", "errors"},
}
MIDDLE = {
    "access_tokens", "assistant", "background_learning", "context_search", "doctor_report",
    "evaluation", "import_jobs", "importing", "learning", "memory_commands", "quoting",
    "scheduling", "space_copying", "space_limits", "spaces", "tools", "turn",
}  # fmt: skip
BELOW |= {
    name: MIDDLE
    | {"store", "llm", "installation", "metrics", "model_keys", "settings", "core", "errors"}
    for name in MIDDLE
}
BELOW |= {name: {"faces", *BELOW} for name in ("faces", "__main__")}

# What the layers above may know of the stores: how they are opened and what they promise.
# `turnleaf` itself has the public names.
OF_STORES = {
    "announcements", "clock_and_ids", "contracts", "conversation_models", "due_work", "erasure",
    "exports", "index_upkeep", "opening", "schedules", "token_vocabulary",
}  # fmt: skip
MAY_KNOW_FILES = {
    # Files that a person names on the command line, and texts that could not be saved.
    "turnleaf.faces.cli.history": {"files.atomic"},
    "turnleaf.faces.cli.memories": {"files.atomic"},
    "turnleaf.faces.cli.search": {"files.atomic"},
    # A backup is a copy of the folder; a database has tools of its own.
    "turnleaf.faces.cli.transfer": {"files.atomic", "files.backup"},
    # Keys of providers and links are the operator's, outside every data folder.
    "turnleaf.faces.cli.models": {"files.config"},
    "turnleaf.faces.http.models": {"files.config"},
    "turnleaf.faces.operator_links": {"files.atomic"},
    # An export that a person sends lies in the folder while it is read.
    "turnleaf.import_jobs": {"files.atomic", "files.backup"},
    "turnleaf.importing": {"files.atomic"},
    # The operator's token.
    "turnleaf.faces.http.access": {"files.atomic"},
    # It measures the index of files itself, on documents of its own.
    "turnleaf.evaluation": {"files.atomic", "files.index.index"},
}
OWN_FILES = {
    "MEMORY.md", "OLDER.md", "changes.jsonl", "conversations.db", "conversations.json", "index.db",
    "learning.db", "memories.json", "pending.md", "records.db", "schedules.json", "vectors.db",
}  # fmt: skip
MAY_NAME_FILES = {
    # Examples in the description of the API.
    "turnleaf.faces.http.memory",
    "turnleaf.faces.http.schemas",
    "turnleaf.evaluation",
    # Copies for people to read, in a folder that is no data folder.
    "turnleaf.faces.cli.transfer",
}

# So many lines, comments aside, and modules a package may have; lowered when something goes.
BUDGETS = {
    "core": (17_400, 61),
    "faces": (15_330, 54),
    "llm": (3_320, 15),
    "store": (23_550, 73),
    "": (7_350, 24),
}

# A name that is loaded by need: the public names, the commands, an optional dependency.
MAY_LOAD_BY_NAME = {
    "turnleaf",
    "turnleaf.assistant",
    "turnleaf.background_learning",
    "turnleaf.faces.cli",
    "turnleaf.faces.cli.program",
    "turnleaf.faces.outbound",
    "turnleaf.faces.mcp",
    "turnleaf.core.loading",
    "turnleaf.installation",
    "turnleaf.llm.vector_scoring",
    "turnleaf.llm.api",
    "turnleaf.llm.embeddings",
    "turnleaf.llm.encoder_pieces",
    "turnleaf.store.contracts",
    "turnleaf.store.opening",
    "turnleaf.llm.models",
    "turnleaf.store.files.index.vectors",
    "turnleaf.store.files.watcher",
    "turnleaf.store.token_vocabulary",
}

PURE = {
    "__future__", "abc", "array", "base64", "bisect", "collections", "copy", "dataclasses",
    "datetime", "difflib", "enum", "functools", "hashlib", "heapq", "html", "ipaddress",
    "itertools", "json", "math", "operator", "re", "statistics", "string", "struct", "textwrap",
    "types", "typing", "unicodedata", "urllib.parse",
}  # fmt: skip
# The package's own data files are read as its modules are.
LOADS_DATA = "turnleaf.core.loading"
FOR_DATA = {"<by name>", "importlib", "pathlib"}
# A value may name a path as long as it does not look at what is there.
FOR_TYPES = {"pathlib"}
IMPURE_NAMES = {
    "open", "print", "input", "breakpoint", "eval", "exec", "compile", "__import__",
}  # fmt: skip
CLOCKS = {"now", "utcnow", "today"}

THE_WRITER = "turnleaf.store.files.atomic"
TUNES_MEMORY = "turnleaf.faces.processes"
MAY_USE_SQLITE = {
    "turnleaf.store.files.databases",
    "turnleaf.store.files.index.index",
    "turnleaf.store.files.index.database",
    "turnleaf.store.files.index.file",
    "turnleaf.store.files.index.sync",
    "turnleaf.store.files.index.vectors",
    "turnleaf.store.files.index.writing",
}
READS_ENVIRONMENT = {"os.environ", "os.environb", "os.getenv"}
# What is given to a program that is started, and what a shell asks to complete a line.
MAY_PASS_ON_ENVIRONMENT = {
    "turnleaf.faces.cli",
    "turnleaf.faces.cli.program",
    "turnleaf.faces.processes",
    "turnleaf.faces.home_assistant",
    "turnleaf.llm.claude_cli",
}
WRITING_METHODS = {
    "write_text", "write_bytes", "unlink", "touch", "mkdir", "rmdir", "chmod", "lchmod",
    "symlink_to", "hardlink_to",
}  # fmt: skip
WRITING_OS = {
    "chmod", "chown", "copy_file_range", "fchmod", "fchown", "fdopen", "ftruncate", "lchown",
    "link", "makedirs", "mkdir", "mkfifo", "mknod", "open", "posix_fallocate", "pwrite", "pwritev",
    "remove", "removedirs", "rename", "renames", "replace", "rmdir", "sendfile", "symlink",
    "truncate", "unlink", "utime", "write", "writev",
}  # fmt: skip
HARMLESS = {
    "shutil": {"disk_usage", "get_terminal_size", "which"},
    "tempfile": {"TemporaryDirectory", "TemporaryFile", "gettempdir", "mkdtemp"},
}
WRITING_MODULES = {"ctypes", "fcntl", "sqlite3"}
OPENING_MODULES = {"bz2", "codecs", "gzip", "io", "lzma", "tarfile"}


DYNAMIC = {"__import__", "import_module", "importlib.import_module"}


@dataclass(frozen=True, slots=True)
class Import:
    importer: str
    imported: str
    line: int
    hidden: bool


Sources = Mapping[str, str]


@cache
def read_sources() -> dict[str, str]:
    return {module_name(path): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}


@cache
def parse(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def nodes(text: str) -> list[ast.AST]:
    return list(ast.walk(parse(text)))


def read_dotted_name(node: ast.AST) -> str:
    """Return `a.b.c` if the expression is that, else what no name is."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{read_dotted_name(node.value)}.{node.attr}"
    return "?"


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(sources: Sources) -> Iterator[Import]:
    for module, text in sources.items():
        for node, hidden in importing_nodes(text):
            for name in list_imported_names(node, sources):
                yield Import(module, name, getattr(node, "lineno", 0), hidden)


@cache
def importing_nodes(text: str) -> list[tuple[ast.AST, bool]]:
    """Find what imports something, and whether it does in a function."""
    found = dict.fromkeys(node for node in nodes(text) if imports_something(node))
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    hidden = {
        node
        for scope in (nodes(text) if found else ())
        if isinstance(scope, scopes)
        for node in ast.walk(scope)
        if node in found
    }
    return [(node, node in hidden) for node in found]


def imports_something(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Call) and read_dotted_name(node.func) in DYNAMIC
    )


def list_imported_names(node: ast.AST, sources: Sources) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = "." * node.level + (node.module or "")
        full = [f"{base}.{alias.name}" for alias in node.names]
        return [name if name in sources or base == "turnleaf" else base for name in full]
    return ["<by name>"]


def layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def find_upward_imports(sources: Sources) -> list[str]:
    return [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in imports(sources)
        if layer(found.importer) and not may_import(found)
    ]


def may_import(found: Import) -> bool:
    if found.imported.startswith("."):
        return False
    if found.imported.split(".")[0] != "turnleaf":
        return True
    if found.imported == "turnleaf.__version__":
        return layer(found.importer) != "core"
    return layer(found.imported) in BELOW.get(layer(found.importer), ())


def find_homeless_modules(sources: Sources) -> list[str]:
    return [module for module in sources if layer(module) and layer(module) not in BELOW]


def find_hidden_imports(sources: Sources) -> list[str]:
    return [
        f"{found.importer}:{found.line} hides an import of {found.imported}"
        for found in imports(sources)
        if (found.hidden or found.imported == "<by name>")
        and found.importer not in MAY_LOAD_BY_NAME
    ]


def import_cycles(sources: Sources) -> list[list[str]]:
    graph: dict[str, set[str]] = {module: set() for module in sources}
    for found in imports(sources):
        if found.imported in sources and found.importer != "turnleaf":
            graph[found.importer].add(found.imported)
    cycles: list[list[str]] = []
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> None:
        if module in path:
            cycles.append([*path[path.index(module) :], module])
        elif module not in done:
            for below in sorted(graph[module]):
                visit(below, [*path, module])
            done.add(module)

    for module in sorted(graph):
        visit(module, [])
    return cycles


def impurities(sources: Sources) -> list[str]:
    """Find what the core does besides arithmetic."""
    core = {module: text for module, text in sources.items() if layer(module) == "core"}
    found = [
        f"{each.importer}:{each.line} imports {each.imported}"
        for each in imports(core)
        if not is_pure(each.imported)
        and not (each.importer == LOADS_DATA and each.imported in FOR_DATA)
        and not (each.imported in FOR_TYPES and is_for_types(core[each.importer], each.line))
    ]
    return found + [
        f"{module}:{getattr(node, 'lineno', 0)} {ast.unparse(node)}"
        for module, text in core.items()
        for node in nodes(text)
        if reaches_out(node)
    ]


def is_for_types(text: str, line: int) -> bool:
    """Whether a line is there only for the type checker."""
    blocks = (node for node in nodes(text) if isinstance(node, ast.If))
    return any(
        ast.unparse(block.test) == "TYPE_CHECKING"
        and block.lineno < line <= (block.end_lineno or 0)
        for block in blocks
    )


def is_pure(imported: str) -> bool:
    top, *_ = imported.split(".")
    return top in PURE or imported in PURE or layer(imported) in BELOW["core"]


def reaches_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in IMPURE_NAMES and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Attribute):
        return node.attr in CLOCKS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        # Without an argument these read the machine's own time zone.
        local = {"astimezone": 0, "fromtimestamp": 1}.get(node.func.attr, -1)
        return len(node.args) + len(node.keywords) == local
    return False


def environment_readers(sources: Sources) -> list[str]:
    """Find what looks into the environment outside the settings."""
    return [
        f"{module}:{getattr(node, 'lineno', 0)} {ast.unparse(node)}"
        for module, text in sources.items()
        if module not in {"turnleaf.settings", *MAY_PASS_ON_ENVIRONMENT}
        for node in nodes(text)
        if (isinstance(node, ast.Attribute) and read_dotted_name(node) in READS_ENVIRONMENT)
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and reads(node))
    ]


def reads(node: ast.ImportFrom) -> bool:
    return any(f"os.{alias.name}" in READS_ENVIRONMENT for alias in node.names)


def writers(sources: Sources) -> list[str]:
    """Find what changes a file outside the one module that may."""
    return [
        f"{module}:{getattr(node, 'lineno', 0)} {ast.unparse(node)}"
        for module, text in sources.items()
        if module not in {THE_WRITER, TUNES_MEMORY}
        for node in suspects(parse(text))
        if writes(node) or (imports_module(node, {"apsw"}) and module not in MAY_USE_SQLITE)
    ]


def suspects(tree: ast.Module) -> Iterator[ast.AST]:
    held = find_locked_files(tree)
    for node in drop_null_device(tree):
        if not (isinstance(node, ast.Call) and read_dotted_name(node.func) in held):
            yield node


def find_locked_files(tree: ast.Module) -> set[str]:
    """Find the names of locked files: what the writer itself gives to those who may change one."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.withitem) and node.optional_vars is not None:
            names.add(ast.unparse(node.optional_vars))
        elif isinstance(node, ast.arg) and "Held" in ast.unparse(node.annotation or node):
            names.add(node.arg)
    return {f"{name}.replace" for name in names}


def drop_null_device(tree: ast.AST) -> Iterator[ast.AST]:
    if not (
        isinstance(tree, ast.Call) and tree.args and read_dotted_name(tree.args[0]) == "os.devnull"
    ):
        yield tree
        for child in ast.iter_child_nodes(tree):
            yield from drop_null_device(child)


def writes(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module in {"os", *HARMLESS}:
        return any(is_writing_function(node.module, alias.name) for alias in node.names)
    if isinstance(node, ast.Attribute) and read_dotted_name(node.value) in {"os", *HARMLESS}:
        return is_writing_function(read_dotted_name(node.value), node.attr)
    if isinstance(node, ast.Call):
        return opens_to_write(node) or (
            isinstance(node.func, ast.Attribute) and method_writes(node, node.func)
        )
    return imports_module(node, WRITING_MODULES)


def is_writing_function(module: str, name: str) -> bool:
    return name in WRITING_OS if module == "os" else name not in HARMLESS[module]


def imports_module(node: ast.AST, modules: set[str]) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in modules for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in modules


def method_writes(call: ast.Call, method: ast.Attribute) -> bool:
    # Those of Path take one argument; str.replace and a store's rename two, others name theirs.
    is_path_method = method.attr in {"replace", "rename"}
    moves_a_file = is_path_method and len(call.args) == 1 and not call.keywords
    return method.attr in WRITING_METHODS or moves_a_file


def opens_to_write(call: ast.Call) -> bool:
    owner, _, called = read_dotted_name(call.func).rpartition(".")
    into_an_object = any(word.arg == "fileobj" for word in call.keywords)
    if into_an_object or called not in {"open", "open_file", "fdopen", "ZipFile"}:
        return False
    is_method = called == "open" and owner not in {"", *OPENING_MODULES}
    positional = call.args[:1] if is_method else call.args[1:2]
    named = [word.value for word in call.keywords if word.arg == "mode"]
    modes = [each.value for each in [*positional, *named] if isinstance(each, ast.Constant)]
    return any(isinstance(mode, str) and set(mode) & set("wax+") for mode in modes)


def test_imports_go_down_only() -> None:
    assert find_upward_imports(read_sources()) == []


def test_above_the_stores_nobody_knows_how_they_keep_things() -> None:
    found = [
        f"{each.importer} imports {each.imported}"
        for each in imports(read_sources())
        if each.imported.startswith("turnleaf.store.")
        and not each.importer.startswith("turnleaf.store")
        and each.importer != "turnleaf"
        and (known := each.imported.removeprefix("turnleaf.store.")) not in OF_STORES
        and known not in MAY_KNOW_FILES.get(each.importer, ())
    ]
    assert found == []


def test_above_the_stores_nobody_names_their_files_or_speaks_sql() -> None:
    found = [
        f"{module}:{node.lineno} {node.value!r:.60}"
        for module, text in read_sources().items()
        if layer(module) not in {"core", "store", "settings"} and module not in MAY_NAME_FILES
        for node in nodes(text)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in OWN_FILES or re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE) ", node.value)
    ]
    assert found == []


def test_no_package_outgrows_its_budget() -> None:
    sizes: dict[str, list[int]] = {}
    for name, text in read_sources().items():
        parts = name.split(".")[1:]
        package = parts[0] if parts and parts[0] in BUDGETS else ""
        code = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        sizes.setdefault(package, []).append(len(code))
    over = {
        package: (sum(lines), len(lines))
        for package, lines in sizes.items()
        if sum(lines) > BUDGETS[package][0] or len(lines) > BUDGETS[package][1]
    }
    assert over == {}


def test_every_module_has_its_layer() -> None:
    assert find_homeless_modules(read_sources()) == []


def test_no_import_is_hidden_in_a_function() -> None:
    assert find_hidden_imports(read_sources()) == []


def test_an_assistant_is_imported_without_what_only_some_calls_need() -> None:
    needless = {
        "asyncio", "email", "http.client", "statistics", "tomllib", "urllib.request",
        "turnleaf.core.languages.language", "turnleaf.core.learning.slots",
        "turnleaf.core.prompt.composer", "turnleaf.learning", "turnleaf.turn",
    }  # fmt: skip
    script = "import sys; from turnleaf import Assistant; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert needless.isdisjoint(done.stdout.decode().split())


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert import_cycles(read_sources()) == []


def test_the_core_does_no_io_and_reads_no_clock_and_no_environment() -> None:
    assert impurities(read_sources()) == []


def test_only_the_settings_read_the_environment() -> None:
    assert environment_readers(read_sources()) == []


def test_only_one_module_changes_files() -> None:
    assert writers(read_sources()) == []


@pytest.mark.parametrize(
    ("importer", "line"),
    [
        ("core.window", "from turnleaf.store import files"),
        ("core.window", "from turnleaf.store.files import change"),
        ("core.window", "from turnleaf.settings import Settings"),
        ("core.window", "from turnleaf import __version__"),
        ("core.window", "from turnleaf import MemoryStore"),
        ("core.window", "import turnleaf"),
        ("core.window", "from . import keys"),
        ("errors", "import turnleaf.core.keys"),
        ("settings", "from turnleaf.store import files"),
        ("store.files", "from turnleaf.llm import claude"),
        ("store.files", "from turnleaf import MemoryStore"),
        ("store.files", "from turnleaf.assistant import Assistant"),
        ("store.files", "if TYPE_CHECKING:\n    from turnleaf.faces.cli import main"),
        ("store.files", "def f():\n    from turnleaf.faces.cli import main"),
        ("llm.claude", "from turnleaf.store.files.facts.memories import MemoryStore"),
        ("tools", "from turnleaf.faces import cli"),
    ],
)
def test_the_check_sees_an_import_that_goes_up(importer: str, line: str) -> None:
    assert len(find_upward_imports({f"turnleaf.{importer}": line})) == 1


@pytest.mark.parametrize(
    ("importer", "line"),
    [
        ("core.window", "from turnleaf.core.messages import Message"),
        ("core.window", "from turnleaf.errors import TurnleafError"),
        ("settings", "from turnleaf.errors import SettingsError"),
        ("store.files", "from turnleaf.settings import Settings"),
        ("store.files", "from turnleaf import __version__"),
        ("llm.claude", "from turnleaf.core import messages"),
        ("assistant", "from turnleaf.store.files.facts.memories import MemoryStore"),
        ("assistant", "from turnleaf.tools import TABLE"),
        ("faces.cli", "from turnleaf.assistant import Assistant"),
    ],
)
def test_the_check_allows_an_import_that_goes_down(importer: str, line: str) -> None:
    assert find_upward_imports({f"turnleaf.{importer}": line}) == []


def test_the_check_sees_a_module_without_a_layer() -> None:
    assert find_homeless_modules({"turnleaf.utils": ""}) == ["turnleaf.utils"]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import json",
        "async def f():\n    from json import dumps",
        "class C:\n    def f(self):\n        if True:\n            import json",
        "import importlib\nimportlib.import_module('json')",
        "json = __import__('json')",
    ],
)
def test_the_check_sees_a_hidden_import(text: str) -> None:
    assert len(find_hidden_imports({"turnleaf.store.files.atomic": text})) == 1


def test_the_check_allows_an_import_for_types_and_the_public_names() -> None:
    for_types = "if TYPE_CHECKING:\n    from pathlib import Path"
    by_need = "def __getattr__(name):\n    return import_module(NAMES[name])"
    assert (
        find_hidden_imports({"turnleaf.store.files.atomic": for_types, "turnleaf": by_need}) == []
    )


def test_the_check_sees_a_circle_of_imports() -> None:
    sources = {
        "turnleaf.core.a": "from turnleaf.core import b",
        "turnleaf.core.b": "import turnleaf.core.c",
        "turnleaf.core.c": "from turnleaf.core.a import x",
        "turnleaf.core.d": "from turnleaf.core.a import x",
    }
    assert import_cycles(sources) == [
        ["turnleaf.core.a", "turnleaf.core.b", "turnleaf.core.c", "turnleaf.core.a"]
    ]


@each(
    "text",
    [
        "import os",
        "import io",
        "from pathlib import Path",
        "import time",
        "import subprocess",
        "import socket",
        "import sqlite3",
        "import apsw",
        "import random",
        "import secrets",
        "import logging",
        "import uuid",
        "import zoneinfo",
        "import urllib.request",
        "if TYPE_CHECKING:\n    from os import PathLike",
        "text = open('a').read()",
        "read = open",
        "print('a')",
        "answer = input()",
        "moment = datetime.now(UTC)",
        "moment = datetime.datetime.utcnow()",
        "day = date.today()",
        "clock = datetime.now",
        "local = moment.astimezone()",
        "local = datetime.fromtimestamp(0)",
        "import tomllib",
        "from importlib import resources",
    ],
)
def test_the_check_sees_what_a_pure_core_may_not_do(text: str) -> None:
    assert len(impurities({"turnleaf.core.bad": text})) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import re",
        "from collections.abc import Callable",
        "from urllib.parse import quote",
        "if TYPE_CHECKING:\n    from pathlib import Path",
        "from turnleaf.core.serialization import to_iso",
        "from turnleaf.errors import InvalidInput",
        "moment = now()",
        "moment = moment.astimezone(UTC)",
        "moment = datetime.fromtimestamp(0, tz=UTC)",
        "class Rule:\n    open: str",
    ],
)
def test_the_check_allows_what_is_pure(text: str) -> None:
    assert impurities({"turnleaf.core.good": text}) == []


def test_the_check_allows_one_module_of_the_core_to_load_the_packages_data() -> None:
    text = "from importlib import import_module\nfrom pathlib import Path"
    assert impurities({LOADS_DATA: text}) == []
    assert len(impurities({"turnleaf.core.languages.language": text})) == 2


@each(
    "text",
    [
        "open('a', 'w')",
        "open('a', mode='ab')",
        "open('a', 'x')",
        "open('a', 'r+')",
        "path.open('w', encoding='utf-8')",
        "path.open(mode='w')",
        "io.open('a', 'w')",
        "click.open_file('a', 'w')",
        "zipfile.ZipFile('a', 'w')",
        "tarfile.open('a', 'w:gz')",
        "path.write_text('a')",
        "path.write_bytes(b'a')",
        "path.unlink(missing_ok=True)",
        "path.rename('b')",
        "path.replace('b')",
        "path.touch()",
        "path.mkdir(parents=True)",
        "os.replace('a', 'b')",
        "os.rename('a', 'b')",
        "os.unlink('a')",
        "os.remove('a')",
        "os.open('a', 0)",
        "os.truncate('a', 0)",
        "remove = os.remove",
        "from os import replace",
        "shutil.rmtree('a')",
        "copy = shutil.copyfile",
        "from shutil import copyfile",
        "tempfile.mkstemp()",
        "from tempfile import NamedTemporaryFile",
        "import ctypes",
        "import fcntl",
        "import sqlite3",
        "import apsw",
    ],
)
def test_the_check_sees_what_changes_a_file(text: str) -> None:
    assert writers({"turnleaf.store.files.facts.memories": text})


@pytest.mark.parametrize(
    "text",
    [
        "open('a')",
        "open('a', 'rb')",
        "open('a', encoding='utf-8')",
        "tarfile.open(fileobj=buffer, mode='w')",
        "path.read_text('utf-8')",
        "text.replace('a', 'b')",
        "moment.replace(tzinfo=UTC)",
        "dataclasses.replace(value, content='a')",
        "os.stat('a')",
        "shutil.disk_usage('a')",
        "tempfile.gettempdir()",
        "os.environ.get('A')",
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
        "with files.lock(path) as file:\n    file.replace(b'a')",
        "def save(file: files.Held) -> None:\n    file.replace(b'a')",
    ],
)
def test_the_check_allows_reading(text: str) -> None:
    assert writers({"turnleaf.store.files.facts.memories": text}) == []


@pytest.mark.parametrize(
    "text",
    ["import os\nos.environ['A']", "import os\nos.getenv('A')", "from os import environ"],
)
def test_the_check_sees_what_reads_the_environment(text: str) -> None:
    assert len(environment_readers({"turnleaf.store.files.atomic": text})) == 1
    assert environment_readers({"turnleaf.settings": text}) == []


def test_the_check_leaves_the_writer_alone() -> None:
    assert writers({THE_WRITER: "import os\nos.replace('a', 'b')"}) == []
