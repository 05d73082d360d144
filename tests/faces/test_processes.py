"""Memory that is not needed any more goes back to the system, as far as the C library tells."""

from __future__ import annotations

import subprocess
import sys

import pytest

MAPPED = """
import ctypes, sys
from turnleaf.faces.processes import give_back_memory

class Figures(ctypes.Structure):
    names = ("arena", "ordblks", "smblks", "hblks", *"abcdef")
    _fields_ = [(name, ctypes.c_size_t) for name in names]

figures = ctypes.CDLL(None).mallinfo2
figures.restype = Figures
if sys.argv[1] == "gives back":
    give_back_memory()
held = bytes(1 << 20)
del held
before = figures().hblks
held = bytes(1 << 20)
print(figures().hblks - before)
"""


@pytest.mark.parametrize(("way", "pieces"), [("gives back", "1"), ("as it comes", "0")])
def test_a_large_piece_comes_straight_from_the_system_every_time(way: str, pieces: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAPPED, way], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == pieces
