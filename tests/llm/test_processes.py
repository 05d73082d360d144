"""Programs that we run end with us, however we end."""

from __future__ import annotations

import os
import select
import subprocess
import sys

RUNNING = """
import os, sys
from tempfile import TemporaryFile
from turnleaf.llm.claude_cli import run_program

program = ["/bin/sh", "-c", "sleep 600 & echo $$ $!; wait"]
with TemporaryFile() as stdin, \\
  run_program(program, stdin, environ=os.environ, seconds=600) as started:
    print(next(started.read_lines(600)).decode(), flush=True)
    sys.stdin.read()
"""
SECONDS = 60


def test_a_program_and_what_it_started_end_when_we_are_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RUNNING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as ours:
        assert ours.stdout is not None
        program = [os.pidfd_open(int(pid)) for pid in ours.stdout.readline().split()]
        ours.kill()
    assert len(program) == 2
    for one in program:
        ended, _, _ = select.select([one], [], [], SECONDS)
        os.close(one)
        assert ended
