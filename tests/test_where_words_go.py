"""A day's use contacts the model that is set, and nobody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.standins.chat_api import ChatApi

DAY = """
import json, sys
from http.client import HTTPConnection
from pathlib import Path

allowed, attempts = {int(sys.argv[1])}, []

def watch(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host, port = arguments[1][:2]
        is_ours = host in {"127.0.0.1", "::1"} and port in allowed
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host, port = arguments[0], None
        is_ours = host in {"127.0.0.1", "::1", "localhost", None, ""}
    else:
        return
    if not is_ours:
        attempts.append([event, str(host), port])
        raise ConnectionRefusedError(f"the test refuses {host}:{port}")

sys.addaudithook(watch)

from turnleaf.assistant import Assistant
from turnleaf.faces.cli import main
from turnleaf.settings import DataFolder

folder, past = sys.argv[2:4]
commands = [
    ["remember", "I drink oolong tea"],
    ["ask", "What do I drink?"],
    ["ask", "--new", "我住在台中"],
    ["search", "tea"],
    ["import", past],
    ["schedule", "add", "--when", "every 2h", "--name", "news", "What is new?"],
    ["schedule", "run", "news"],
    ["doctor"],
    ["history"],
]
codes = [main(["--data-dir", folder, *command]) for command in commands]

from tests.faces.http.conftest import serving

assistant = Assistant(DataFolder(Path(folder), "a test"))
with serving(assistant) as url:
    port = int(url.rpartition(":")[2])
    allowed.add(port)
    json_body = {"Content-Type": "application/json"}
    for method, path, body in (
        ("GET", "/", None),
        ("GET", "/api/status", None),
        ("POST", "/api/chat", {"message": "hello there"}),
        ("GET", "/api/schedules", None),
    ):
        line = HTTPConnection("127.0.0.1", port)
        line.request(method, path, body and json.dumps(body), json_body if body else {})
        answer = line.getresponse()
        answer.read()
        codes.append(0 if answer.status == 200 else answer.status)
        line.close()
assistant.close()
print(json.dumps({"codes": codes, "attempts": attempts}))
"""


def test_a_day_of_use_contacts_nobody_but_the_model_that_is_set(tmp_path: Path) -> None:
    past = tmp_path / "memories.txt"
    past.write_text("- The lamp is called Ming\n- 奶奶住在台南\n", "utf-8")
    with ChatApi() as api:
        for _ in range(40):
            api.answer('{"facts": []}')
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path]),
            "TURNLEAF_MODEL": "compatible:m",
            "TURNLEAF_MODEL_URL": api.url,
        }
        arguments = [str(api.server_port), str(tmp_path / "data"), str(past)]
        done = subprocess.run(
            [sys.executable, "-c", DAY, *arguments],
            capture_output=True, text=True, env=environ, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout.splitlines()[-1])
        assert told["attempts"] == []
        assert set(told["codes"]) == {0}, (told["codes"], done.stderr)
        assert len(api.requests) >= 3
