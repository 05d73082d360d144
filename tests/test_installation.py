"""The command that adds an extra fits how Turnleaf was installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnleaf.installation import advise_install

PIPX = '{"main_package": {"package": "turnleaf", "package_or_url": "turnleaf[mcp,server]"}}'
UV = '[tool]\nrequirements = [{ name = "turnleaf", extras = ["mcp", "server"] }]\n'


@pytest.fixture(autouse=True)
def _outside_home_assistant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERVISOR_TOKEN", raising=False)


@pytest.mark.parametrize(
    ("receipt", "content", "command"),
    [
        ("pipx_metadata.json", PIPX, "run pipx install --force 'turnleaf[mcp,server,slack]'"),
        ("pipx_metadata.json", "{}", "run pipx install --force 'turnleaf[slack]'"),
        ("uv-receipt.toml", UV, "run uv tool install --force 'turnleaf[mcp,server,slack]'"),
    ],
)
def test_an_environment_for_one_tool_keeps_the_extras_that_it_has(
    tmp_path: Path, receipt: str, content: str, command: str
) -> None:
    (tmp_path / receipt).write_text(content)
    assert advise_install("slack", prefix=tmp_path) == command


@pytest.mark.parametrize(
    ("installer", "options", "command"),
    [
        ("pip\n", {}, "run pip install 'turnleaf[slack]'"),
        ("pip\n", {"again": True}, "run pip install --force-reinstall 'turnleaf[slack]'"),
        ("uv\n", {}, "run uv pip install 'turnleaf[slack]'"),
        ("uv\n", {"again": True}, "run uv pip install --reinstall 'turnleaf[slack]'"),
        (None, {}, "run pip install 'turnleaf[slack]'"),
    ],
)
def test_another_environment_is_added_to_by_the_program_that_installed_it(
    tmp_path: Path, installer: str | None, options: dict[str, bool], command: str
) -> None:
    if installer:
        (tmp_path / "turnleaf-1.0.dist-info").mkdir()
        (tmp_path / "turnleaf-1.0.dist-info/INSTALLER").write_text(installer)
    advice = advise_install("slack", **options, prefix=tmp_path, site=tmp_path)
    assert advice == command


@pytest.mark.parametrize(
    ("note", "source"),
    [
        ('{{"dir_info": {{}}, "url": "{copy}"}}', "'{path}[slack]'"),
        ('{{"archive_info": {{}}, "url": "{copy}"}}', "'{path}[slack]'"),
        ('{{"dir_info": {{}}, "url": "{copy}%20gone"}}', "'turnleaf[slack]'"),
        (
            '{{"vcs_info": {{"vcs": "git"}}, "url": "https://example.org/t.git"}}',
            "'turnleaf[slack] @ git+https://example.org/t.git'",
        ),
    ],
)
def test_an_extra_is_added_from_where_it_was_installed(
    tmp_path: Path, note: str, source: str
) -> None:
    copy = tmp_path / "my 副本"
    copy.mkdir()
    (tmp_path / "turnleaf-1.0.dist-info").mkdir()
    where = tmp_path / "turnleaf-1.0.dist-info/direct_url.json"
    where.write_text(note.format(copy=copy.as_uri()), "utf-8")
    advice = advise_install("slack", prefix=tmp_path, site=tmp_path)
    assert advice == f"run pip install {source.format(path=copy)}"


def test_an_environment_for_one_tool_is_made_anew_from_a_copy_with_the_extras_that_it_has(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (tmp_path / "turnleaf-1.0.dist-info").mkdir()
    (tmp_path / "turnleaf-1.0.dist-info/direct_url.json").write_text(
        f'{{"url": "{copy.as_uri()}"}}'
    )
    injected = '"injected_packages": {"other": {"package_or_url": "other[more]"}}'
    main = f'"main_package": {{"package": "turnleaf", "package_or_url": "{copy}[mcp]"}}'
    (tmp_path / "pipx_metadata.json").write_text(f"{{{injected},\n {main}}}")
    advice = advise_install("slack", prefix=tmp_path, site=tmp_path)
    assert advice == f"run pipx install --force '{copy}[mcp,slack]'"


def test_the_app_of_home_assistant_is_updated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPERVISOR_TOKEN", "x")
    assert "Home Assistant" in advise_install("slack", prefix=tmp_path)
