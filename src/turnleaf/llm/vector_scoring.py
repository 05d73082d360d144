"""How well passages answer a question, by a small network over the vectors of both.

Nearness says that two texts are about the same, not that one answers the other. The network was
trained on questions about people's lives with the sentences that answer them, and those that only
seem to. Its weights fit the encoder that is installed as a package, and no other.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnleaf.core.recall.judging import NO_ANSWER, read_figures
from turnleaf.errors import EmbeddingError
from turnleaf.installation import has_numpy
from turnleaf.llm.embeddings import ENCODER, LocalEmbedder
from turnleaf.llm.word_scoring import judge_by_network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.recall.judging import Judge, PassageReading
    from turnleaf.core.recall.questions import Names, Question
    from turnleaf.settings import Settings

MOST_JUDGED = 80
"""Making the vectors of more passages would be felt; the best of a search come first."""
WORDS_SHARE = 0.4
"""What it counts how the network over words judges, beside those over vectors."""
WEIGHTS = Path(__file__).with_name("vector_scoring.npz")


def find_judge(settings: Settings) -> Judge:
    """Return the judge to use: by meaning where the encoder is installed.

    That is so also where the search takes its vectors from elsewhere: the weights fit no others.
    """
    can_embed = settings.embeddings and has_numpy() and find_spec(ENCODER) is not None
    # The weights fit this encoder only: vectors of a server that is set are of no use here.
    return judge_by_meaning if can_embed else judge_by_network


def judge_by_meaning(
    question: Question, readings: Sequence[PassageReading], names: Names = frozenset()
) -> Sequence[float]:
    """Return how well passages answer; an encoder that does not work leaves it to the words."""
    if not readings:
        return []
    judged = readings[:MOST_JUDGED]
    try:
        vectors = LocalEmbedder().embed([question.text, *(one.text for one in judged)])
    except EmbeddingError:
        return judge_by_network(question, readings, names)
    numpy = import_module("numpy")
    rows = numpy.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    figures = numpy.array(read_figures(question, judged, names), "f4")
    scores = (1 - WORDS_SHARE) * run_network(_load_weights(), rows[0], rows[1:], figures)
    scores += WORDS_SHARE * numpy.array(judge_by_network(question, judged, names))
    told: list[float] = scores.tolist()
    return told + [NO_ANSWER] * (len(readings) - len(judged))


def run_network(weights: Any, question: Any, passages: Any, figures: Any) -> Any:  # noqa: ANN401 - arrays
    """Return what several networks say of each passage in the mean, from vectors and figures.

    Vectors have a length of one. Weights have the networks as their first axis.
    """
    numpy = import_module("numpy")
    asked = (question @ weights["question"] + weights["question_bias"])[:, None]
    said = passages @ weights["passage"] + weights["passage_bias"][:, None]
    plain = numpy.hstack([(passages @ question)[:, None], figures])
    shared = numpy.broadcast_to(plain, (len(said), *plain.shape))
    seen = numpy.concatenate([asked * said, shared], 2)
    hidden = numpy.maximum(0, seen @ weights["hidden"] + weights["biases"][:, None])
    scores = (hidden @ weights["out"][:, :, None])[:, :, 0] + weights["bias"][:, None]
    return scores.mean(0)


@cache
def _load_weights() -> dict[str, Any]:
    numpy = import_module("numpy")
    # Weights are numbers; a pickle could run code.
    with numpy.load(WEIGHTS, allow_pickle=False) as stored:
        return {name: stored[name].astype("f4") for name in stored.files}
