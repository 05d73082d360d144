"""The Home Assistant app: its description keeps to what is documented, and it runs as described."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.standins.home_assistant import SECONDS
from turnleaf import __version__
from turnleaf.core.model_providers import PROVIDERS, ModelProvider
from turnleaf.errors import SettingsError
from turnleaf.faces.home_assistant import (
    PORT,
    VARIABLES,
    VERBOSE,
    has_slack,
    make_page_command,
    make_variables,
    read_options,
)
from turnleaf.settings import SETTINGS, Settings

ROOT = Path(__file__).parents[1]
REPOSITORY = ROOT / "homeassistant"
FOLDER = REPOSITORY / "turnleaf"
LANGUAGES = ("en", "zh-Hant")
LAMP = "客廳的燈叫做小明"

REQUIRED = {"name", "version", "slug", "description", "arch"}
OPTIONAL = {
    "machine", "url", "startup", "webui", "boot", "ports", "ports_description", "host_network",
    "host_ipc", "host_dbus", "host_pid", "host_uts", "devices", "homeassistant", "hassio_role",
    "hassio_api", "homeassistant_api", "docker_api", "privileged", "full_access", "apparmor", "map",
    "environment", "audio", "video", "gpio", "usb", "uart", "udev", "devicetree", "kernel_modules",
    "stdin", "legacy", "options", "schema", "image", "timeout", "tmpfs", "discovery", "services",
    "auth_api", "ingress", "ingress_port", "ingress_entry", "ingress_stream", "panel_icon",
    "panel_title", "panel_admin", "backup", "backup_pre", "backup_post", "backup_exclude", "stage",
    "init", "watchdog", "realtime", "journald", "breaking_versions", "ulimits",
}  # fmt: skip
POWERS = {
    "host_network", "host_ipc", "host_dbus", "host_pid", "host_uts", "devices", "hassio_role",
    "hassio_api", "homeassistant_api", "docker_api", "privileged", "full_access", "map", "auth_api",
    "kernel_modules", "apparmor", "usb", "uart", "udev", "gpio", "journald", "realtime", "stdin",
}  # fmt: skip
KIND = re.compile(
    r"(str|int|float)(\(\d*,\d*\))?|bool|email|url|password|port|match\(.*\)|list\(.+\)|device(\(.+\))?"
)


def load_yaml(path: Path) -> Any:  # noqa: ANN401 - YAML
    return yaml.safe_load(path.read_text("utf-8"))


CONFIG = load_yaml(FOLDER / "config.yaml")
SCHEMA = CONFIG["schema"]


def kind_of(option: str) -> str:
    """Return what an option takes, or each of its values if it is a list."""
    entry = SCHEMA[option]
    return str(entry[0] if isinstance(entry, list) else entry)


# What describes it


def test_the_description_has_only_documented_keys_and_all_that_are_required() -> None:
    assert set(CONFIG) >= REQUIRED
    assert set(CONFIG) - REQUIRED - OPTIONAL == set()
    assert CONFIG["arch"] == ["aarch64", "amd64"]
    assert re.fullmatch(r"[-_.A-Za-z0-9]+", CONFIG["slug"])
    assert re.fullmatch(r"\d{4}\.\d+\.\d+", CONFIG["homeassistant"])
    assert set(load_yaml(REPOSITORY / "repository.yaml")) <= {"name", "url", "maintainer"}
    assert "name" in load_yaml(REPOSITORY / "repository.yaml")
    assert [path for path in REPOSITORY.rglob("config.*") if path != FOLDER / "config.yaml"] == []


def test_the_app_asks_for_no_power_that_it_does_not_need() -> None:
    assert set(CONFIG) & POWERS == set()


def test_the_app_is_of_this_version_and_listens_where_home_assistant_asks() -> None:
    assert CONFIG["version"] == __version__
    assert f"## {__version__}\n" in (FOLDER / "CHANGELOG.md").read_text("utf-8")
    assert CONFIG["ingress"] is True
    assert CONFIG["ingress_port"] == PORT
    assert CONFIG["ports"] == {f"{PORT}/tcp": None}
    assert f"[PORT:{PORT}]/healthz" in CONFIG["watchdog"]
    assert make_page_command({}) == ["serve", "--host", "0.0.0.0", "--port", str(PORT)]  # noqa: S104


@pytest.mark.parametrize("option", SCHEMA)
def test_an_option_has_a_documented_kind_can_be_left_out_and_is_read(option: str) -> None:
    kind = kind_of(option)
    assert kind.endswith("?")
    assert KIND.fullmatch(kind.removesuffix("?"))
    assert option in VARIABLES or option == VERBOSE
    is_secret = option.endswith(("_key", "_token"))
    assert (kind == "password?") == is_secret
    assert CONFIG["options"] == {}


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_every_provider_can_be_chosen_with_its_key(provider: ModelProvider) -> None:
    for option, none in (("model", "recall"), ("extract_model", "rules")):
        pattern = kind_of(option).removeprefix("match(").removesuffix(")?")
        assert re.match(pattern, f"{provider.name}:some-model")
        assert re.match(pattern, none)
        assert not re.match(pattern, f"{provider.name}:")
    if provider.variable:
        assert kind_of(provider.variable.lower()) == "password?"
    for language in LANGUAGES:
        words = load_yaml(FOLDER / f"translations/{language}.yaml")["configuration"]
        assert provider.name in words["model"]["description"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_option_and_port_is_explained(language: str) -> None:
    words = load_yaml(FOLDER / f"translations/{language}.yaml")
    assert set(words) == {"configuration", "network"}
    assert set(words["configuration"]) == set(SCHEMA)
    assert set(words["network"]) == set(CONFIG["ports"])
    for entry in words["configuration"].values():
        assert set(entry) == {"name", "description"}
        assert all(entry.values())
    assert sorted(path.stem for path in (FOLDER / "translations").iterdir()) == sorted(LANGUAGES)


def test_the_documentation_tells_of_every_option() -> None:
    text = (FOLDER / "DOCS.md").read_text("utf-8")
    assert [option for option in SCHEMA if f"`{option}`" not in text] == []


@pytest.mark.parametrize("page", [FOLDER / "DOCS.md", ROOT / "docs/integrate/home-assistant.md"])
def test_the_documentation_does_not_take_a_hidden_panel_for_protection(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.search(r"\*\*(Every user|All users) of Home Assistant\b", text)
    assert "log of the first start" not in text


@pytest.mark.parametrize(("name", "size"), [("icon", (128, 128)), ("logo", (250, 100))])
def test_its_pictures_have_the_sizes_that_are_asked_for(name: str, size: tuple[int, int]) -> None:
    head = (FOLDER / f"{name}.png").read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", head[16:24]) == size


def test_the_image_is_of_debian_and_installs_this_version_with_all_its_parts() -> None:
    text = (FOLDER / "Dockerfile").read_text("utf-8")
    assert re.search(r"^FROM python:3\.\d+-slim-[a-z]+$", text, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [extras] = re.findall(r"^EXTRAS := (\S+)$", makefile, re.MULTILINE)
    assert f'"turnleaf[{extras}]==${{BUILD_VERSION}}"' in text
    assert "ARG BUILD_VERSION" in text
    assert os.access(FOLDER / "run.sh", os.X_OK)


# Options


GOOD: dict[str, Any] = {
    "model": "ollama:qwen3",
    "model_url": "http://192.168.1.5:11434/v1",
    "anthropic_api_key": "sk-ant-1",
    "openai_api_key": "sk-1",
    **{
        f"{name}_api_key": f"sk-{name}"
        for name in ("gemini", "openrouter", "groq", "deepseek", "mistral", "xai", "compatible")
    },
    "auto_extract": False,
    "extract_model": "rules",
    "embeddings": True,
    "embeddings_url": "http://192.168.1.5:11434/v1",
    "embeddings_model": "nomic-embed-text",
    "embeddings_api_key": "secret",
    "slack_bot_token": "xoxb-1",
    "slack_app_token": "xapp-1",
    "slack_allowed_users": ["U012AB3CD", "U012AB3CE"],
    "slack_allowed_channels": ["C012AB3CD"],
    "allowed_hosts": ["homeassistant.local", "home.example.org:8099"],
    "allowed_urls": ["http://192.168.1.5:11434"],
    "verbose": True,
}


def test_what_is_chosen_holds_in_the_programs(tmp_path: Path) -> None:
    assert set(GOOD) == set(SCHEMA)
    environ = make_variables(GOOD)
    held = Settings.load(tmp_path, environ)
    known = {setting.field for setting in SETTINGS} | {name.lower() for name in environ}
    for option in set(GOOD) & known - {"allowed_hosts", "allowed_urls"}:
        value = GOOD[option]
        assert getattr(held, option) == (",".join(value) if isinstance(value, list) else value)
    assert environ["TURNLEAF_ALLOWED_HOSTS"] == "homeassistant.local,home.example.org:8099"
    assert environ["TURNLEAF_ALLOWED_URLS"] == "http://192.168.1.5:11434"
    assert "--verbose" in make_page_command(GOOD)
    assert "--verbose" not in make_page_command({"verbose": False})


def test_home_assistant_takes_what_the_programs_take() -> None:
    for option in ("model", "extract_model", "slack_allowed_users", "slack_allowed_channels"):
        pattern = kind_of(option).removeprefix("match(").removesuffix(")?")
        given = GOOD[option] if isinstance(GOOD[option], list) else [GOOD[option]]
        assert all(re.match(pattern, one) for one in given)
        assert not re.match(pattern, "nonsense")


def test_what_is_not_chosen_is_left_to_the_page() -> None:
    assert make_variables({"model": None, "model_url": " ", "slack_allowed_users": []}) == {}
    assert make_variables({"of_an_older_version": "客廳"}) == {}


def test_a_choice_that_cannot_hold_is_named() -> None:
    with pytest.raises(SettingsError, match='the option "model" must be recall'):
        make_variables({"model": "小明"})


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("allowed_hosts", ["homeassistant.local", "http://bad"], "hostnames such as"),
        ("allowed_urls", ["nope"], "addresses such as http://192.168.1.5:11434, not 'nope'"),
        ("model_url", "http://x y", "an address such as http://"),
        ("embeddings_url", "客廳", "an address such as http://"),
        ("slack_allowed_users", ["小明"], "IDs as Slack shows them"),
        ("slack_allowed_users", [None], "is not plain text"),
        ("allowed_hosts", [None], "is not plain text"),
        ("model", {"name": "x"}, "is not plain text"),
        ("openai_api_key", "sk-s3cret\0", "is not plain text"),
        ("slack_bot_token", "xoxb-s3cret\ud800", "is not plain text"),
    ],
)
def test_what_no_program_could_take_is_named_before_one_starts(
    option: str, value: object, said: str
) -> None:
    with pytest.raises(SettingsError, match=f'the option "{option}"') as raised:
        make_variables({**GOOD, option: value})
    assert said in str(raised.value)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("text", [None, "{", "[]", '{"model": "\\ud8'])
def test_options_that_cannot_be_read_are_said_to_be_so(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "options.json"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(
        SettingsError, match=r"options\.json .*; save the app's configuration again"
    ):
        read_options(path)


# Programs in one app


def test_the_bot_runs_with_both_of_its_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    assert not has_slack({})
    assert has_slack(make_variables(GOOD))
    assert capsys.readouterr().err == ""
    assert not has_slack({"SLACK_BOT_TOKEN": "xoxb-1"})
    assert "needs two tokens" in capsys.readouterr().err


def test_nobody_else_starts_it(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "SUPERVISOR_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-m", "turnleaf.faces.home_assistant"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 1
    assert "turnleaf serve" in done.stderr


RUN = """
import asyncio, json, os, sys
from turnleaf.faces.home_assistant import run
page, bot = json.loads(sys.argv[1])
sys.exit(asyncio.run(run(page, bot, os.environ)))
"""
WAITING = ["import", "-"]
"""A program that waits for what it is given."""


def test_a_page_that_ends_ends_the_bot_too_and_its_code_is_the_apps(tmp_path: Path) -> None:
    programs = json.dumps([["forget", "--yes", LAMP], WAITING])
    with subprocess.Popen(
        [sys.executable, "-c", RUN, programs],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TURNLEAF_DATA_DIR": str(tmp_path)},
        text=True,
    ) as app:
        guard = threading.Timer(SECONDS, app.kill)
        guard.start()
        assert app.stderr is not None
        said = app.stderr.read()  # This lasts until the bot has ended, too.
        assert app.wait(SECONDS) == 3
        guard.cancel()
    assert LAMP in said
