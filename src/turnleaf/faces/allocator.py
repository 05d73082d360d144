"""How a program that runs for weeks asks the C library for memory."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""What mallopt(3) of the GNU C library calls M_…"""
_BYTES = 128 * 1024


def give_back_memory() -> None:
    """Have what is not needed any more go back to the system, before threads are started.

    As it comes, each thread keeps a heap of its own, and whole files that were read once leave
    holes in it. Other libraries than GNU's are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, _BYTES)
        mallopt(_TRIM_THRESHOLD, _BYTES)
