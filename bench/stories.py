"""What is remembered at the end of stories in which a fact changes: `python -m bench.stories FILE`.

FILE holds stories (turns by day, what must and must not be remembered), or facts in several
wordings that must become one entry. They are told to an assistant with its defaults and without a
model, a conversation a day.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from turnleaf import Assistant, Message

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def main() -> None:
    """Play the stories and print which end with the truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--failed", action="store_true", help="show those that do not")
    given = parser.parse_args()
    cases = json.loads(given.file.read_text("utf-8"))
    if "wordings" in cases[0]:
        _print_wordings(cases, is_long=given.failed)
    else:
        _print_stories(cases, is_long=given.failed)


def tell(turns: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is remembered after some turns."""
    clock = [START]
    with tempfile.TemporaryDirectory() as folder:
        assistant = Assistant(folder, now=lambda: clock[0])
        with assistant:
            assistant.init()
            for number, turn in enumerate(turns):
                clock[0] = START + timedelta(days=turn["day"], minutes=number)
                key = f"cli:session-{turn['day']}"
                answer = turn.get("assistant") or "OK."
                said = [Message("user", turn["user"]), Message("assistant", answer)]
                assistant.record(key, said)
                assistant.flush()
            return [memory.content for memory in assistant.memory.get_all()]


def judge(story: dict[str, Any], facts: Sequence[str]) -> tuple[bool, bool]:
    """Return whether the truth is remembered, and whether nothing stale is."""
    kept = [fact.lower() for fact in facts]
    everything = "\n".join(kept)
    is_true = all(
        any(word.lower() in everything for word in words) for words in story["must_contain"]
    )
    excuses = [word.lower() for word in story.get("unless", ())]
    stale = [
        fact
        for words in story["must_not"]
        for fact in kept
        if all(word.lower() in fact for word in words)
        and not any(excuse in fact for excuse in excuses)
    ]
    return is_true, not stale


def _print_stories(stories: Sequence[dict[str, Any]], *, is_long: bool) -> None:
    results = []
    for story in stories:
        facts = tell(story["turns"])
        is_true, is_clean = judge(story, facts)
        results.append((is_true, is_clean))
        if is_long and not (is_true and is_clean):
            print(f"{story['id']} truth {is_true} clean {is_clean}")
            print(*(f"    > {turn['user']}" for turn in story["turns"]), sep="\n")
            print(f"    must {story['must_contain']} must not {story['must_not']}\n    = {facts}")
    print(
        f"{len(stories)} stories: {sum(all(one) for one in results)} end with the truth and ",
        end="",
    )
    print(f"nothing stale, {sum(one for one, _ in results)} with the truth, ", end="")
    print(f"{sum(one for _, one in results)} with nothing stale")


def _print_wordings(cases: Sequence[dict[str, Any]], *, is_long: bool) -> None:
    single = 0
    for case in cases:
        turns = [{"day": day, "user": text} for day, text in enumerate(case["wordings"])]
        facts = tell(turns)
        single += len(facts) == 1
        if is_long:
            print(f"{case['fact']}\n    = {facts}")
    print(f"{len(cases)} facts in ten wordings each: {single} became one entry")


if __name__ == "__main__":
    main()
