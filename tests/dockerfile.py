"""The Dockerfile without Docker: its steps in a bare folder, as whoever runs this.

    .venv/bin/python -m tests.dockerfile FOLDER

A path of the image is one below FOLDER. What needs root there (`useradd`) is left out and named.
Then the command of the image is started on a free port, its health check is run, and it is ended.
It takes minutes, since it installs everything, so `make test` only reads the file.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PLACES = ("/source", "/opt/turnleaf", "/data", "/run/secrets")
NEEDS_ROOT = ("useradd",)
SECONDS = 120


class Instruction(NamedTuple):
    """An instruction and what follows it."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The words of a command in brackets, of a health check its command's."""
        return [str(word) for word in json.loads(self.text[self.text.index("[") :])]


def read_steps(path: Path = ROOT / "Dockerfile") -> list[Instruction]:
    """Return the instructions of a Dockerfile."""
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in whole.splitlines() if line]


def move_into(folder: Path, text: str) -> str:
    """Return a text with the paths of the image below a folder."""
    return re.sub(rf"(?<![\w./])(?=(?:{'|'.join(PLACES)})\b)", str(folder), text)


def run_steps(folder: Path, port: int) -> None:
    """Do what the Dockerfile says, and start the server."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    home = folder
    for step in read_steps():
        text = move_into(folder, step.text)
        say(step.name, step.text)
        match step.name:
            case "WORKDIR":
                home = Path(text)
                home.mkdir(parents=True, exist_ok=True)
            case "COPY" if text == ". .":
                copy_sources(home)
            case "ENV":
                name, _, value = text.partition("=")
                environ[name] = value.replace("$PATH", environ["PATH"])
            case "RUN" if text.startswith(NEEDS_ROOT):
                say("  left out: it needs root")
                (folder / "data").mkdir(mode=0o700)
            case "RUN":
                subprocess.run(["/bin/sh", "-c", text], cwd=home, env=environ, check=True)
    make_secret(folder)
    found = {step.name: step.words for step in read_steps() if step.name in {"HEALTHCHECK", "CMD"}}
    own = {"8793": str(port), "0.0.0.0": "127.0.0.1"}  # noqa: S104 - it is taken out
    command = [own.get(word, move_into(folder, word)) for word in found["CMD"]]
    check = [word.replace("8793", str(port)) for word in found["HEALTHCHECK"]]
    try_server(command, check, environ)


def say(*words: str) -> None:
    sys.stdout.write(" ".join([*words, "\n"]))
    sys.stdout.flush()


def copy_sources(home: Path) -> None:
    listed = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    names = subprocess.run(listed, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line[0] == "!"}
    for name in names.decode().split("\0"):
        if name.partition("/")[0] in kept:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, home / name)


def make_secret(folder: Path) -> None:
    place = folder / "run" / "secrets" / "turnleaf_token"
    place.parent.mkdir(parents=True)
    place.write_text(secrets.token_urlsafe(32), "utf-8")


def try_server(command: list[str], check: list[str], environ: dict[str, str]) -> None:
    say(*command)
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as server:
        try:
            until = time.monotonic() + SECONDS
            while subprocess.run(check, env=environ, check=False, capture_output=True).returncode:
                assert server.poll() is None, server.communicate()[1]
                assert time.monotonic() < until, "it did not become healthy"
                with suppress(subprocess.TimeoutExpired):
                    server.wait(0.5)
            say("healthy")
        finally:
            server.terminate()
        lines = server.communicate(timeout=SECONDS)[1].splitlines()
    routes = [json.loads(line).get("route", "-") for line in lines]
    say("exit code", str(server.returncode), "and in the log:", *routes)


if __name__ == "__main__":
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        free = listener.getsockname()[1]
    place = Path(sys.argv[1]).resolve()
    place.mkdir(parents=True, exist_ok=True)
    run_steps(place, free)
