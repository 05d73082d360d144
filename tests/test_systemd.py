"""The units for systemd: it takes them as they are, and the server works under what they forbid."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.standins.restrictions import directives
from turnleaf.settings import find_data_folder

SECONDS = 300
LAMP = "客廳的燈叫做小明"
UNITS = Path(__file__).parents[1] / "systemd"
SERVER = UNITS / "turnleaf.service"
BOT = UNITS / "turnleaf-slack.service"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which Turnleaf is installed where `pipx` puts it."""
    program = tmp_path / ".local/bin/turnleaf"
    program.parent.mkdir(parents=True)
    program.symlink_to(Path(sys.executable).with_name("turnleaf"))
    return tmp_path


def verify(home: Path, *units: Path) -> str:
    """Return what systemd reports as wrong with units of a user with that home."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    command = ["systemd-analyze", "--user", "verify", *map(str, units)]
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    return done.stdout + done.stderr + (f"exit code {done.returncode}" if done.returncode else "")


def test_systemd_has_nothing_to_say_against_the_units(home: Path) -> None:
    assert verify(home, SERVER, BOT) == ""
    wrong = home / "wrong.service"
    wrong.write_text(SERVER.read_text("utf-8").replace("UMask=", "UMasks="), "utf-8")
    assert "UMasks" in verify(home, wrong)
    (home / ".local/bin/turnleaf").unlink()
    assert "turnleaf" in verify(home, SERVER)


def test_both_units_forbid_the_same() -> None:
    server, bot = directives(SERVER), directives(BOT)
    differing = {name for name in server | bot if server.get(name) != bot.get(name)}
    assert differing == {"Description", "ExecStart", "EnvironmentFile"}
    assert server["EnvironmentFile"] == f"-{bot['EnvironmentFile']}"


def test_a_folder_named_data_at_home_is_not_taken_for_the_memory(home: Path) -> None:
    (home / "data").mkdir()
    for unit in (SERVER, BOT):
        # For a user's unit %t is $XDG_RUNTIME_DIR.
        place = Path(directives(unit)["WorkingDirectory"].replace("%t", str(home / "run")))
        assert find_data_folder(None, {}, place).path != home / "data"


def test_what_fails_again_and_again_rests_before_the_limit_forgets() -> None:
    said = directives(BOT)
    hours = int(said["StartLimitIntervalSec"].removesuffix("h"))
    slowest_start = 20
    tries = int(said["StartLimitBurst"])
    assert tries * (int(said["RestartSec"]) + slowest_start) < hours * 3600
    assert tries * int(said["RestartSec"]) >= 15 * 60, "a network may come later than we do"


def test_the_documentation_installs_every_part_and_both_units() -> None:
    page = (UNITS.parent / "docs/integrate/systemd.md").read_text("utf-8")
    makefile = (UNITS.parent / "Makefile").read_text("utf-8")
    [extras] = re.findall(r"^EXTRAS := (\S+)$", makefile, re.MULTILINE)
    assert f"pipx install 'turnleaf[{extras}]'" in page
    for unit in (SERVER, BOT):
        assert f"cp systemd/{unit.name} ~/.config/systemd/user/\n" in page
        assert f"systemctl --user enable --now {unit.stem}\n" in page


def test_the_server_works_under_what_its_unit_forbids(tmp_path: Path) -> None:
    under = [sys.executable, "-m", "tests.standins.restrictions", str(SERVER)]
    serve = ["turnleaf", "--data-dir", str(tmp_path), "serve", "--port", "0"]
    with subprocess.Popen(
        [*under, sys.executable, "-m", *serve],
        stdout=subprocess.PIPE,
        env={**os.environ, "TURNLEAF_MODEL": "recall", "EMBEDDINGS": "off"},
        text=True,
    ) as process:
        guard = threading.Timer(SECONDS, process.kill)
        guard.start()
        assert process.stdout is not None
        found = re.search(r":(\d+)/$", process.stdout.readline())
        assert found
        assert re.search(r"^Seccomp:\s+2$", status(process.pid), re.MULTILINE)
        assert "NoNewPrivs:\t1" in status(process.pid)

        said = json.dumps({"message": f"記住{LAMP}"}).encode()
        sent = {"Content-Type": "application/json"}
        url = f"http://127.0.0.1:{found[1]}/api/chat"
        with urlopen(Request(url, said, sent), timeout=SECONDS) as answer:
            assert LAMP in answer.read().decode()
        process.terminate()
        process.communicate(timeout=SECONDS)
        guard.cancel()
    assert process.returncode == 0
    assert LAMP in (tmp_path / "prompts/memory/MEMORY.md").read_text("utf-8")


def status(process: int) -> str:
    """Return what the system knows about a process."""
    return Path(f"/proc/{process}/status").read_text("utf-8")
