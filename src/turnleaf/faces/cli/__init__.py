"""The command line.

`turnleaf --help` costs no more than the table below: click is imported when a command runs,
and a command's module when that command is asked for.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

__all__ = ["COMMANDS", "main", "make_overview", "tell"]

COMPLETION_VARIABLE = "_TURNLEAF_COMPLETE"
FAILED = 1
INTERRUPTED = 130
PIPE_CLOSED = 141

# Heading -> name -> (module, function, summary), in the order of the help.
COMMANDS = {
    "Talk": {
        "chat": ("chat", "chat", "Talk with the assistant."),
        "ask": ("answers", "ask", "Ask the assistant one thing."),
        "serve": ("serve", "serve", "Serve the page, in your browser, and the HTTP API."),
        "mcp": ("mcp", "mcp", "Serve the memory to Claude Code and other MCP clients."),
        "slack": ("slack", "slack", "Answer in Slack."),
        "schedule": ("schedule", "schedule", "Have something asked by the clock."),
    },
    "Remember": {
        "remember": ("memories", "remember", "Remember a fact."),
        "memories": ("memories", "memories", "List what is remembered."),
        "search": ("search", "search", "Find what fits your question best."),
        "why": ("memories", "why", "Show where a memory came from and how it changed."),
        "edit": ("memories", "edit", "Change a memory, here or in your editor."),
        "forget": ("forgetting", "forget", "Forget a memory, by its id or its text."),
        "undo": ("memories", "undo", "Take back the last change."),
        "review": ("review", "review", "Decide about what waits to be remembered."),
    },
    "Days and conversations": {
        "log": ("memories", "log", "Add a line to today's log."),
        "today": ("memories", "today", "Show today's log."),
        "history": ("history", "history", "List, show, rename, export or erase conversations."),
    },
    "Move and keep": {
        "import": ("transfer", "import_", "Add memories from a JSON or Markdown file."),
        "export": ("transfer", "export", "Write all memories as JSON or Markdown."),
        "backup": ("transfer", "backup", "Save the whole data folder to one file."),
        "restore": ("transfer", "restore", "Bring a backup back."),
    },
    "Set up": {
        "doctor": ("doctor", "doctor", "Show what was found, and what is wrong with it."),
        "config": ("config", "config", "Show the settings, or change one."),
        "reindex": ("search", "reindex", "Build the search index anew."),
        "eval": ("search", "evaluate", "Measure the search on a file of questions."),
        "completion": ("program", "completion", "Print the completion script for your shell."),
    },
}

OPENING = """\
Usage: turnleaf [--data-dir DIR] [--space NAME] COMMAND [ARGS]...

  A memory for AI assistants that you can read.

  Try: turnleaf remember "The living room lamp is called Ming"
"""

CLOSING = """\
Options:
  --data-dir DIR  Use this data folder.
  --space NAME    Use this space of it (TURNLEAF_SPACE).
  --version       Show the version.
  -h, --help      Show this help; after a command, the help for that command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _abandon(sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        _abandon(sys.stdout.fileno())
        tell(f"error: the output cannot be written: {error.strerror}")
        return FAILED
    return code


def tell(line: str) -> None:
    """Say something on stderr; where that cannot be written, nobody wants to hear it."""
    try:
        sys.stderr.write(f"{line}\n")
    except OSError:
        _abandon(sys.stderr.fileno())


def make_overview() -> str:
    """Return the help of the program as a whole."""
    return "\n".join([OPENING, *map(_make_section, COMMANDS), CLOSING])


def _open_missing_streams() -> None:
    """Have what was closed lead nowhere, before a file of ours gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - pathlib is slow


def _abandon(descriptor: int) -> None:
    """Drop what is still buffered: it would fail again when the interpreter exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _run(arguments: list[str]) -> int:
    if arguments in ([], ["-h"], ["--help"]) and COMPLETION_VARIABLE not in os.environ:
        sys.stdout.write(make_overview())
        return 0
    code: int = import_module("turnleaf.faces.cli.program").run(arguments)
    return code


def _make_section(heading: str) -> str:
    lines = (f"  {name:<12}{summary}\n" for name, (_, _, summary) in COMMANDS[heading].items())
    return f"{heading}:\n{''.join(lines)}"
