"""The image and the services that the Dockerfile and compose.yaml describe; none is built here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from tests.dockerfile import Instruction, read_steps
from tests.faces.http.conftest import make_data_folder, serving
from tests.postgres import SAFE, PostgresServer, find_programs
from turnleaf.assistant import Assistant
from turnleaf.faces.cli.serve import serve
from turnleaf.settings import DataFolder
from turnleaf.store.contracts import Stores
from turnleaf.store.postgres.schema import migrate

ROOT = Path(__file__).parents[1]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))[
    "services"
]


def steps(name: str) -> list[Instruction]:
    return [step for step in read_steps() if step.name == name]


def test_the_image_runs_as_an_ordinary_user_with_its_data_in_a_volume() -> None:
    (user,) = steps("USER")
    assert user.text == "10001:10001"
    assert [step.text for step in steps("VOLUME")] == ["/data"]
    assert "TURNLEAF_DATA_DIR=/data" in [step.text for step in steps("ENV")]


def test_the_command_of_the_image_is_one_that_the_program_takes() -> None:
    (command,) = steps("CMD")
    name, subcommand, *options = command.words
    assert (name, subcommand) == ("turnleaf", "serve")
    given = serve.make_context("serve", options).params
    assert (given["host"], given["port"]) == ("0.0.0.0", 8793)  # noqa: S104 - in a container
    assert str(given["token_file"]) == "/run/secrets/turnleaf_token"
    assert given["log_format"] == "json"


def test_the_health_check_finds_out_whether_the_server_runs(tmp_path: Path) -> None:
    (check,) = steps("HEALTHCHECK")
    python, *rest = check.words
    assert python == "python"

    def is_healthy(port: str) -> bool:
        words = [word.replace("8793", port) for word in rest]
        found = subprocess.run([sys.executable, *words], stderr=subprocess.DEVNULL, check=False)
        return found.returncode == 0

    with (
        make_data_folder(tmp_path) as data,
        closing(Assistant(DataFolder(data, "a test"))) as assistant,
    ):
        with serving(assistant) as url:
            port = url.rpartition(":")[2]
            assert is_healthy(port)
        assert not is_healthy(port)


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_can_change_nothing_but_its_volumes(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 - of its own
    assert not service.get("privileged")
    assert service.get("user", "10001:10001").split(":")[0] not in {"0", "root"}
    for one in service.get("volumes", []):
        assert re.match(r"(?:files|operator|database|socket):/|\./docker/\S+:ro$", one), one


def test_only_this_machine_reaches_the_servers_and_nobody_the_database() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:8793:8793", "127.0.0.1:8794:8793"]
    assert SERVICES["database"]["network_mode"] == "none"
    assert "listen_addresses=" in SERVICES["database"]["command"]
    for name in ("turnleaf", "server"):
        assert SERVICES[name]["secrets"] == ["turnleaf_token"]


def test_no_file_names_a_registry_or_a_secret() -> None:
    images = [step.text.split()[0] for step in steps("FROM")]
    images += [service["image"] for service in SERVICES.values()]
    assert [image for image in images if "." in image.split("/")[0] and "/" in image] == []
    text = (ROOT / "compose.yaml").read_text("utf-8")
    assert "PASSWORD" not in text
    assert "/secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def find_compose() -> list[str] | None:
    """Return the command of Docker Compose, which needs no daemon to read a file."""
    for command in (["docker", "compose"], ["docker-compose"]):
        with suppress(OSError):
            if not subprocess.run([*command, "version"], capture_output=True).returncode:  # noqa: PLW1510
                return command
    return None


def test_compose_takes_the_file_and_leaves_no_service_less_hardened() -> None:
    compose = find_compose()
    assert compose, "make test installs it"
    command = [*compose, "--profile", "postgres", "config"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    resolved = yaml.safe_load(done.stdout)["services"]
    assert resolved.keys() == SERVICES.keys()
    for name, service in resolved.items():
        for key in ("read_only", "cap_drop", "security_opt", "network_mode", "user", "image"):
            assert service.get(key) == SERVICES[name].get(key), (name, key)


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    """A database as the image makes it: its own script was run in it."""
    # Others than root must be able to walk there, and a socket's path is short.
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        server = PostgresServer(Path(parent) / "pg", SAFE)
        server.start()
        # The test's server has made the roles already, and lets everybody in.
        with psycopg.connect(server.address("postgres", "postgres")) as admin:
            admin.execute("DROP ROLE turnleaf_owner")
            admin.execute("DROP ROLE turnleaf_server")
        try:
            run_script(server)
            server.stop("fast")
            server.start()
            yield server
        finally:
            server.remove()


def run_script(server: PostgresServer) -> None:
    is_root = os.geteuid() == 0
    subprocess.run(
        ["/bin/sh", "-c", (ROOT / "docker" / "make-roles.sh").read_text("utf-8")],
        env={
            "PATH": f"{find_programs()}:{os.environ['PATH']}",
            "PGDATA": str(server.folder / "data"),
            "PGHOST": str(server.folder),
        },
        cwd=server.folder,
        user="nobody" if is_root else None,
        group="nogroup" if is_root else None,
        check=True,
    )


def become(server: PostgresServer, role: str, *, database: str = "turnleaf") -> str:
    """Return who a process of the database's own user is taken for, or why it is refused."""
    is_root = os.geteuid() == 0
    done = subprocess.run(
        [find_programs() / "psql", server.address(database, role), "-Atc", "SELECT current_user"],
        user="nobody" if is_root else None,
        cwd=server.folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr


def test_the_database_of_the_compose_file_lets_each_user_be_one_role(
    database: PostgresServer,
) -> None:
    assert become(database, "turnleaf_owner") == "turnleaf_owner"
    assert become(database, "turnleaf_server") == "turnleaf_server"
    assert "Peer authentication failed" in become(database, "postgres", database="postgres")
    assert "no pg_hba.conf entry" in become(database, "turnleaf_server", database="postgres")
    if os.geteuid() == 0:  # Nobody else can be two users.
        with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
            psycopg.connect(database.address("turnleaf", "turnleaf_owner"))
    else:
        migrate(database.address("turnleaf", "turnleaf_owner"))
        with Stores.open(database.address("turnleaf")) as stores:
            stores.check_ready()
