"""The tests of the page's own logic, which vitest runs: `npm test` in web/."""

from __future__ import annotations

import subprocess
from pathlib import Path

import hatch_build

WEB = Path(__file__).parents[1] / "web"


def test_the_logic_of_the_page_passes_its_own_tests() -> None:
    node = hatch_build.node_on_path() or hatch_build.node_package()
    assert node is not None, hatch_build.NO_NODE
    hatch_build.install(WEB, node)
    program = WEB / "node_modules" / "vitest" / "vitest.mjs"
    run = subprocess.run(
        [node.folder / "node", program, "run", "--no-color"],
        cwd=WEB,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
