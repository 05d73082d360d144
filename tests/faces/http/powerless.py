"""A server that may only read its folder, in a process of its own: nobody becomes root again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx2

from tests.faces.http.conftest import RunningServer, calling, make_data_folder, serving
from tests.store.others import become_nobody
from turnleaf import Assistant
from turnleaf.settings import DataFolder

API = "/api/memory"
SEARCH = f"{API}/search?q=小明"
SCHEDULES = "/api/schedules"
READABLE = ("main", "facts", "stats", "changes", "pending", "daily", "config", "config/settings")


def main() -> None:
    with make_data_folder(Path(sys.argv[1])) as data:
        assistant = Assistant(DataFolder(data, "a test"))
        with serving(assistant) as url, calling(RunningServer(url, data, assistant)) as client:
            sys.stdout.write(json.dumps(answers(client, assistant, data)))


def answers(client: httpx2.Client, assistant: Assistant, data: Path) -> dict[str, object]:
    fact = assistant.memory.add("客廳的燈叫做小明")
    readings(client)  # Whatever is loaded by need lies where only root may read.
    for path in [data, *data.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    become_nobody()
    writings = [
        client.put(f"{API}/main", json={"content": "# Memory\n"}),
        client.post(f"{API}/facts", json={"content": "tea"}),
        client.patch(f"{API}/facts/{fact.id}", json={"content": "tea"}),
        client.delete(f"{API}/facts/{fact.id}"),
        client.post(f"{API}/undo"),
        client.post(f"{API}/daily/{assistant.now().date()}", json={"entry": "tea"}),
        client.put(f"{API}/config", json={"enabled": False}),
        client.post(SCHEDULES, json={"prompt": "tea", "timing": "every 15m"}),
    ]
    return {
        "read": readings(client),
        "found": [hit["text"] for hit in client.get(SEARCH).json()["results"]],
        "written": [(one.status_code, one.json().get("detail", "")) for one in writings],
    }


def readings(client: httpx2.Client) -> dict[str, int]:
    paths = [*(f"{API}/{name}" for name in READABLE), SEARCH, SCHEDULES]
    return {path: client.get(path).status_code for path in paths}


if __name__ == "__main__":
    main()
