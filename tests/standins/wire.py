"""What the stand-ins for providers have in common: what they receive, and replies of any form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RawResponse:
    """A status and bytes, whatever they are; status 0 is bytes alone."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReceivedRequest:
    """A request for a completion; the names of its headers are in lower case."""

    headers: dict[str, str]
    body: dict[str, Any]
