"""A program that mounts single files over others, as Docker does, and becomes a command.

    unshare -rm python -m tests.torture.mounts PAIRS.json COMMAND…

PAIRS.json is a list of [file, place]; the mounts last as long as the command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> None:
    for file, place in json.loads(Path(sys.argv[1]).read_text()):
        subprocess.run(["mount", "--bind", file, place], check=True)
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606


if __name__ == "__main__":
    main()
