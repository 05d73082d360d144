"""A real small model behind a real server: `python -m bench.real_model MODEL.gguf`.

It starts `llama_cpp.server` on loopback with a small context, sends messages through answer,
extraction and flush, and asks questions about facts with the memory and without it. A person has
to read what it prints: it shows what enters MEMORY.md and what the model's invalid output costs,
not how clever the model is.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

from turnleaf import Assistant, Message
from turnleaf.core.learning.extraction import make_answer_schema
from turnleaf.core.learning.proposals import read_answer
from turnleaf.core.model_dialogue import Event, Prompt, Text, Toolbox, request_form
from turnleaf.errors import ModelError, UnreadableAnswer
from turnleaf.llm.api import ApiModel
from turnleaf.settings import CONFIG_NAME
from turnleaf.store.files.config import ConfigFile
from turnleaf.turn import Done

WINDOW = 2_048
START_SECONDS = 120.0
ANSWER_CHARS = 240
"""An answer is stopped here: the rest of it costs minutes and proves nothing."""
MESSAGES = (
    *("My sister Beth moved to Leeds last week.", "What is the capital of France?"),
    *("I'm allergic to peanuts, so no satay please.", "Write a poem about autumn."),
    *("我住在台南，養了一隻貓叫奶茶。", "可以推薦早餐店嗎？"),
    *("I work as a nurse at night.", "so tired today lol"),
    *("我對蝦子過敏。", "幫我把這句翻成英文：天氣很好"),
    *("If I had a boat I'd call it Max.", "My exam is tomorrow."),
)
QUESTIONS = (
    ("My dog is called Biscuit", "What is my dog called?", "biscuit"),
    ("I live in Leeds", "Which city do I live in?", "leeds"),
    ("I work as a nurse", "What is my job?", "nurse"),
    ("My sister is called Beth", "What is my sister's name?", "beth"),
    ("I am allergic to peanuts", "What am I allergic to?", "peanut"),
    ("My favourite colour is teal", "What is my favourite colour?", "teal"),
    ("I drive a red van", "What do I drive?", "van"),
    ("My birthday is on 5 October", "When is my birthday?", "october"),
    ("I play the cello", "Which instrument do I play?", "cello"),
    ("The lamp in the living room is called Ming", "What is my lamp called?", "ming"),
    ("I was born in Sweden", "Where was I born?", "sweden"),
    ("I am vegetarian", "Do I eat meat?", "vegetarian"),
    ("My wife is called Noor", "What is my wife's name?", "noor"),
    ("I keep six chickens", "Which animals do I keep?", "chicken"),
    ("I study marine biology", "What do I study?", "marine"),
    ("My boss is called Hilda", "Who is my boss?", "hilda"),
    ("I use a Chromebook", "Which computer do I use?", "chromebook"),
    ("My first language is Tagalog", "What is my first language?", "tagalog"),
    ("I swim in the sea every morning", "What do I do every morning?", "swim"),
    ("My son is called Kevin", "What is my son's name?", "kevin"),
    ("I prefer tea to coffee", "What do I prefer to drink?", "tea"),
    ("My wifi is called Lighthouse", "What is my wifi called?", "lighthouse"),
    ("I support Everton", "Which team do I support?", "everton"),
    ("My grandmother lives in Cork", "Where does my grandmother live?", "cork"),
    ("I am learning Portuguese", "Which language am I learning?", "portuguese"),
)


@dataclass
class MeasuredModel:
    """A model that notes how long its prompts are and what becomes of its answers."""

    model: ApiModel
    server: str
    prompt_tokens: list[int] = field(default_factory=list)
    extraction_tokens: list[int] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """Its name."""
        return self.model.name

    @property
    def context_window(self) -> int | None:
        """Its context."""
        return self.model.context_window

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Event]:
        """Answer, and stop when enough was said."""
        told = "\n".join([prompt.system, *(message.text for message in prompt.messages)])
        self.prompt_tokens.append(self._count(told))
        chars = 0
        for event in self.model.stream(prompt, tools):
            chars += len(event.text) if isinstance(event, Text) else 0
            yield event
            if chars > ANSWER_CHARS:
                return

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        """Find facts."""
        self.extraction_tokens.append(
            self._count(request_form(system, make_answer_schema()) + text)
        )
        try:
            answer = self.model.generate_json(system, text, schema)
        except ModelError as error:
            self.failures[str(error)[-160:]] += 1
            raise
        self.answers.append(answer)
        return answer

    def _count(self, text: str) -> int:
        data = json.dumps({"input": text}).encode()
        url = f"{self.server}/extras/tokenize/count"
        request = Request(url, data, {"Content-Type": "application/json"})  # noqa: S310
        with urlopen(request, timeout=60) as response:  # noqa: S310 - the loopback server
            return int(json.load(response)["count"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all of it, and print what was found."""
    options = _options(arguments)
    os.environ["EMBEDDINGS"] = "off"
    with serve(options.python, options.model, options.log) as server, TemporaryDirectory() as place:
        model = ApiModel("openai", "local", url=f"{server}/v1", context_window=WINDOW)
        end = time.monotonic() + options.minutes * 60
        learn(Path(place, "learning"), MeasuredModel(model, server), options, end)
        ask_questions(Path(place), MeasuredModel(model, server), options.questions)


def learn(folder: Path, model: MeasuredModel, options: argparse.Namespace, end: float) -> None:
    """Send messages one after the other, and print what was learned from them."""
    _configure(folder)
    texts = _texts(options)
    sent = answered = 0
    with Assistant(folder, model=model) as assistant:
        for number, text in enumerate(texts):
            if time.monotonic() > end:
                break
            key = f"cli:session-{number // 20}"
            answered += _say(assistant, key, text, is_answered=number < options.answers)
            assistant.idle(key)
            assistant.wait()
            sent += 1
        assistant.flush()
        _report_learning(assistant, model, sent, answered)


def _say(assistant: Assistant, key: str, text: str, *, is_answered: bool) -> int:
    """Ask the model to answer a message; return whether it was answered."""
    if not is_answered:
        now = assistant.now()
        assistant.record(key, [Message("user", text, now), Message("assistant", "I see.", now)])
        return 0
    try:
        assistant.reply(key, text)
    except ModelError as error:
        print(f"no answer to {text[:60]!r}: {error}")
        return 0
    return 1


def _report_learning(assistant: Assistant, model: MeasuredModel, sent: int, answered: int) -> None:
    tallies = assistant.learning.tallies(assistant.now().date())
    asked = len(model.extraction_tokens)
    print(f"messages sent: {sent}, answered by the model: {answered}")
    print(f"extraction calls: {asked}, answered: {len(model.answers)}, failures: {model.failures}")
    print(f"skipped records and messages given up: {tallies}")
    print(f"unreadable answers: {sum(map(_is_unreadable, model.answers))}")
    print(f"answer prompts, tokens: {_sizes(model.prompt_tokens)} of {WINDOW}")
    print(f"extraction prompts, tokens: {_sizes(model.extraction_tokens)} of {WINDOW}")
    print("\nMEMORY.md:")
    for memory in assistant.memory.get_all():
        changes = assistant.memory.changes(memory.id)
        source = next((one.source for one in changes if one.source), None)
        print(f"  - {memory.content}   «{source.quote if source else ''}»")
    print("\nwaiting for review:")
    for memory in assistant.pending.get_all():
        print(f"  - {memory.content}")


def _is_unreadable(answer: str) -> bool:
    try:
        read_answer(answer, [])
    except UnreadableAnswer:
        return True
    return False


def ask_questions(place: Path, model: MeasuredModel, most: int) -> None:
    """Ask questions with the facts in the memory and with an empty one, and print the share."""
    asked = QUESTIONS[:most]
    for name, facts in (("with memory", [fact for fact, _, _ in asked]), ("without", [])):
        folder = place / name.replace(" ", "-")
        _configure(folder)
        # Nothing is learned from the questions, which would take longer than to answer them.
        ConfigFile(folder / CONFIG_NAME).update({"autoExtract": False})
        with Assistant(folder, model=model) as assistant:
            for fact in facts:
                assistant.memory.add(fact)
            right = 0
            for number, (_, question, wanted) in enumerate(asked):
                answer = _answer(assistant, f"cli:question-{number}", question)
                right += wanted in answer.lower()
                print(f"{name}, {right} of {number + 1} right: {question} {answer[:80]!r}")
    print(f"question prompts, tokens: {_sizes(model.prompt_tokens)} of {WINDOW}")


def _answer(assistant: Assistant, key: str, question: str) -> str:
    try:
        events = assistant.stream(key, question)
        return next(event.reply.text for event in events if isinstance(event, Done))
    except ModelError as error:
        print(f"no answer to {question!r}: {error}")
        return ""


def _configure(folder: Path) -> None:
    folder.mkdir()
    settings = {"embeddings": "off", "extractIntervalSeconds": 1, "extractDailyCalls": 1_000_000}
    ConfigFile(folder / CONFIG_NAME).update(settings)


def _texts(options: argparse.Namespace) -> list[str]:
    if options.messages is None:
        return list(MESSAGES)[: options.limit]
    records = json.loads(options.messages.read_text("utf-8"))
    return [record["text"] for record in records][: options.limit]


def _sizes(tokens: Sequence[int]) -> str:
    return f"median {statistics.median(tokens):.0f}, most {max(tokens)}" if tokens else "none"


@contextmanager
def serve(python: str, model: Path, log: Path | None) -> Iterator[str]:
    """Run a server for a model for as long as it is needed, and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(python, "-m", "llama_cpp.server", "--model", str(model), "--n_ctx", str(WINDOW)),
        *("--host", "127.0.0.1", "--port", str(port), "--model_alias", "local"),
    ]
    with Path(log or os.devnull).open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(30)


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urlopen(url, timeout=5):  # noqa: S310 - the loopback server
                return
        except (URLError, ConnectionError):
            time.sleep(0.2)
    message = "the server did not start; --log FILE keeps what it says"
    raise SystemExit(message)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--python", default=sys.executable, help="a Python with llama-cpp-python")
    parser.add_argument("--messages", type=Path, help='a JSON list of {"text": …}')
    parser.add_argument("--limit", type=int, default=200, help="send so many messages at most")
    parser.add_argument("--answers", type=int, default=10, help="have so many of them answered")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--minutes", type=float, default=20.0, help="stop sending after so long")
    parser.add_argument("--log", type=Path, help="keep what the server prints")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
