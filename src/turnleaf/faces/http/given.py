"""What a handler is given."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from turnleaf.assistant import Assistant


def _assistant(request: Request) -> Assistant:
    assistant: Assistant = request.app.state.assistant
    return assistant


def _current(request: Request) -> Assistant:
    assistant = _assistant(request)
    assistant.follow_settings()
    return assistant


Given = Annotated[Assistant, Depends(_assistant)]
"""The assistant whose memory is served."""

Current = Annotated[Assistant, Depends(_current)]
"""The same, with the limits and weights of the settings that hold now."""
