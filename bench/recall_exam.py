"""How often an answer without a model quotes what was asked for, and is quiet where it cannot know.

`python -m bench.recall_exam FILE` reads a JSON object of `facts` (`id`, `said`), which a user typed
in an earlier conversation, and `questions` (`ask`, `must_contain`: null where the memory cannot
know it). Each question is asked in a conversation of its own, with and without embeddings.
`bench/exams` has 21, and docs/decisions.md says what they were used for.
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from turnleaf import Assistant
from turnleaf.llm.recall import RecallModel

EARLIER = "cli:earlier"
QUOTED = "- "


def main() -> None:
    """Print both figures, with and without embeddings, and what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--misses", action="store_true", help="print every miss with its answer")
    given = parser.parse_args()
    exam = json.loads(given.file.read_text("utf-8"))
    for embeddings in ("on", "off"):
        os.environ["EMBEDDINGS"] = embeddings
        _report(embeddings, _take(exam), shows_misses=given.misses)


def _take(exam: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """State the facts, ask the questions, and return each with its answer."""
    with (
        TemporaryDirectory() as folder,
        closing(Assistant(folder, model=RecallModel())) as assistant,
    ):
        for fact in exam["facts"]:
            if assistant.reply(EARLIER, fact["said"]).asks_to_keep:
                assistant.reply(EARLIER, "yes")
        assistant.flush()
        return [
            (one, assistant.reply(f"cli:{number}", one["ask"]).text)
            for number, one in enumerate(exam["questions"])
        ]


def _report(
    embeddings: str, taken: list[tuple[dict[str, Any], str]], *, shows_misses: bool
) -> None:
    known = [one for one in taken if one[0]["must_contain"] is not None]
    unknown = [one for one in taken if one[0]["must_contain"] is None]
    missed = [one for one in known if one[0]["must_contain"] not in _find_quotes(one[1])]
    loud = [one for one in unknown if _find_quotes(one[1])]
    answered, quiet = len(known) - len(missed), len(unknown) - len(loud)
    print(
        f"embeddings {embeddings}: answer quoted {answered}/{len(known)}"
        f" ({answered / len(known):.0%}), quiet {quiet}/{len(unknown)} ({quiet / len(unknown):.0%})"
    )
    for question, answer in (*missed, *loud) if shows_misses else ():
        print(f"  {question['id']} {question['ask']} → {question['must_contain']}")
        print("".join(f"      {line}\n" for line in _find_quotes(answer).splitlines()), end="")


def _find_quotes(answer: str) -> str:
    """Return the lines of an answer that quote something."""
    return "\n".join(line for line in answer.splitlines() if line.startswith(QUOTED))


if __name__ == "__main__":
    main()
