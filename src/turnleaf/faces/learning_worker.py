"""Learning in a process of its own, for commands that end when the answer is there.

All that it works on is in the durable queue: if it is killed, the next program goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from contextlib import closing, suppress
from threading import Thread
from typing import TYPE_CHECKING

from turnleaf.background_learning import BackgroundLearning
from turnleaf.llm.embeddings import use_settings
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT = "default"
"""The space that is named by no option, whatever TURNLEAF_SPACE says."""


def start_worker(stores: Stores, flushed: Sequence[str]) -> bool:
    """Start the process that learns for a space; False where one runs already.

    The claim is passed on to it, so there is no moment at which two could be started.
    """
    claim = stores.claim_learning()
    if claim is None:
        return False
    try:
        process = subprocess.Popen(  # noqa: S603 - this module, by this interpreter
            # -P: a file in the current folder is not taken for a module.
            [sys.executable, "-P", "-m", __name__, str(claim), *stores.options],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A Ctrl-C in the terminal is meant for the command, not for what it left to be learned.
            start_new_session=True,
            pass_fds=[claim],
        )
    except OSError:
        return False
    finally:
        os.close(claim)
    # Nobody else waits for the process, and it would remain as a zombie.
    Thread(target=process.wait, daemon=True).start()
    _send(process, flushed)
    return True


def _send(process: subprocess.Popen[bytes], keys: Sequence[str]) -> None:
    """Pass on the names of conversations by a pipe: everybody on the machine sees arguments."""
    if process.stdin:
        with suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(json.dumps(keys).encode())


def work(stores: Stores, claim: int | None, flushed: Sequence[str]) -> None:
    """Learn from all conversations that are due, until none is left that could be learned from."""
    use_settings(stores.passages, stores.settings)
    background = BackgroundLearning(
        stores, local_now, model=None, read_settings=lambda: stores.settings
    )
    background.learn_from(flushed, is_flush=True)
    tried: dict[str, int] = {}
    while claim is not None:
        while (due := background.find_due()) not in ({}, tried):
            tried = due
            background.learn_from(due)
        os.close(claim)
        # Whoever queued something just before that has started no other worker.
        has_more = background.find_due() not in ({}, tried)
        claim = stores.claim_learning() if has_more else None
    background.make_vectors_soon()
    background.close(flush=False)


def main() -> None:
    """Work for the space that the arguments name, with the claim that was passed on."""
    parser = argparse.ArgumentParser()
    parser.add_argument("claim", type=int)
    parser.add_argument("--data-dir")
    parser.add_argument("--space", default=DEFAULT)
    given = parser.parse_args()
    with closing(Stores.open(given.data_dir, space=given.space)) as stores:
        work(stores, given.claim, json.load(sys.stdin))


if __name__ == "__main__":
    main()
