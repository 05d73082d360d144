"""The built wheel, in an environment that holds only what it declares, does its work."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FACT = "客廳的燈叫做小明"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True, timeout=300)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def clean_bin(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel where nothing else is but the packages it declares."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, symlinks=True)
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, timeout=300)
    link_declared_packages(next(folder.glob("lib/python*/site-packages")))
    return folder / "bin"


def link_declared_packages(site_packages: Path) -> None:
    (installed,) = metadata.distributions(name="turnleaf", path=[str(site_packages)])
    for name in list_requirements(installed, set()):
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            target = site_packages / top
            if not target.exists():
                target.symlink_to(Path(str(distribution.locate_file(top))))


def list_requirements(distribution: metadata.Distribution, seen: set[str]) -> set[str]:
    for needed in map(Requirement, distribution.requires or ()):
        wanted = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if wanted and needed.name not in seen:
            seen.add(needed.name)
            list_requirements(metadata.distribution(needed.name), seen)
    return seen


def attempt(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {
        "PATH": os.defpath,
        "HOME": str(cwd),
        "TURNLEAF_DATA_DIR": str(cwd / "memory"),
    }
    return subprocess.run(
        [str(program), *arguments],
        cwd=cwd,
        env=environ,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def run(program: Path, *arguments: str, cwd: Path) -> str:
    result = attempt(program, *arguments, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_wheel_holds_the_typed_package_and_its_licence_and_no_tests(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert "turnleaf/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    tops = {name.split("/")[0] for name in names}
    assert all(top == "turnleaf" or top.endswith(".dist-info") for top in tops)
    assert not [name for name in names if "/test" in name or name.endswith(".pyc")]


def test_the_wheel_holds_the_built_page(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    page = "turnleaf/faces/http/page"
    html = ZipFile(wheel).read(f"{page}/index.html").decode()
    wanted = re.findall(r'(?:src|href)="\./([^"]+)"', html)
    assert wanted
    assert {f"{page}/{name}" for name in wanted} <= names
    assert f"{page}/docs/swagger-ui-bundle.js" in names


def test_the_wheel_holds_every_data_file_of_the_core(wheel: Path) -> None:
    source = ROOT / "src"
    wanted = {str(path.relative_to(source)) for path in source.glob("turnleaf/core/**/*.toml")}
    assert "turnleaf/core/languages/zh/requests.toml" in wanted
    assert wanted <= set(ZipFile(wheel).namelist())


def test_the_package_comes_from_the_wheel_and_not_from_the_source(
    clean_bin: Path, tmp_path: Path
) -> None:
    code = "import turnleaf; print(turnleaf.__file__)"
    where = Path(run(clean_bin / "python", "-c", code, cwd=tmp_path).strip())
    assert where.is_relative_to(clean_bin.parent)
    assert not where.is_relative_to(ROOT)


def test_every_public_name_is_in_the_wheel(clean_bin: Path, tmp_path: Path) -> None:
    code = "import turnleaf; print([getattr(turnleaf, name) for name in turnleaf.__all__])"
    assert "MemoryStore" in run(clean_bin / "python", "-c", code, cwd=tmp_path)


def test_the_installed_program_says_its_version(clean_bin: Path, tmp_path: Path) -> None:
    assert metadata.version("turnleaf") in run(clean_bin / "turnleaf", "--version", cwd=tmp_path)


def test_the_installed_program_finds_itself_in_order(clean_bin: Path, tmp_path: Path) -> None:
    assert str(tmp_path / "memory") in run(clean_bin / "turnleaf", "doctor", cwd=tmp_path)


def test_the_installed_program_remembers_and_finds_chinese(clean_bin: Path, tmp_path: Path) -> None:
    run(clean_bin / "turnleaf", "remember", FACT, cwd=tmp_path)
    assert FACT in run(clean_bin / "turnleaf", "search", "小明", cwd=tmp_path)
    assert FACT in run(clean_bin / "python", "-m", "turnleaf", "memories", cwd=tmp_path)


def test_without_extras_the_readme_works_or_is_told_the_command_that_adds_them(
    wheel: Path, clean_bin: Path, tmp_path: Path
) -> None:
    program = clean_bin / "turnleaf"
    lamp = "the living room lamp is called Ming"
    assert lamp in run(program, "ask", "Remember", "that", lamp, cwd=tmp_path)
    assert lamp in run(program, "ask", "What is the lamp called?", cwd=tmp_path)
    for extra, arguments in {"mcp": "mcp config --client claude", "server": "serve"}.items():
        refused = attempt(program, *arguments.split(), cwd=tmp_path)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.endswith(f" is missing; run pip install '{wheel}[{extra}]'\n")
