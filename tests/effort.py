"""How much is tried: little and the same in every ordinary run, much and new in `make torture`."""

from __future__ import annotations

import os

from hypothesis import settings

LONG = os.environ.get("TORTURE") == "long"

settings.register_profile("short", max_examples=40, deadline=None, derandomize=True)
settings.register_profile("torture", max_examples=3000, deadline=None)


def load_profile() -> None:
    """Have every property be tried with as many examples as this run is meant for."""
    settings.load_profile("torture" if LONG else "short")
