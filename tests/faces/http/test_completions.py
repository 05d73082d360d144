"""OpenAI's own client, talking with a memory."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI

from tests.faces.http.conftest import DEADLINE_SECONDS, RunningServer, Serve
from tests.faces.http.listening import (
    EndlessModel,
    PausingModel,
    ask,
    find_event,
    make_client,
    send_message,
    wait_for_turns,
)
from tests.standins.chat_api import ChatApi
from tests.standins.scripted_model import MARKED, WITHOUT_MARKS, ScriptedModel
from turnleaf.core.model_dialogue import Event, Prompt, Text, Toolbox, Usage
from turnleaf.errors import ModelError
from turnleaf.faces.http.completions import find_place
from turnleaf.settings import DataFolder
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores

Client = Callable[[RunningServer], OpenAI]


@pytest.fixture
def openai_client() -> Iterator[Client]:
    with ExitStack() as stack:

        def make(server: RunningServer) -> OpenAI:
            return stack.enter_context(
                OpenAI(
                    base_url=f"{server.url}/v1",
                    api_key="unused",
                    timeout=DEADLINE_SECONDS,
                    max_retries=0,
                    http_client=make_client(),
                )
            )

        yield make


@dataclass
class LateModel(ScriptedModel):
    """Says nothing until it may."""

    go: threading.Event = field(default_factory=threading.Event)

    def stream(
        self,
        prompt: Prompt,  # noqa: ARG002 - it has one answer
        tools: Toolbox | None = None,  # noqa: ARG002 - it uses none
    ) -> Iterator[Event]:
        assert self.go.wait(DEADLINE_SECONDS)
        yield Text("小明")


def user(text: str) -> Any:  # noqa: ANN401 - the client's own types are many
    return {"role": "user", "content": text}


def assistant(text: str) -> Any:  # noqa: ANN401
    return {"role": "assistant", "content": text}


def list_messages(server: RunningServer, key: str) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in server.assistant.conversations.get_history(key)]


def keys(server: RunningServer) -> list[str]:
    return [one.key for one in server.assistant.conversations.summaries()]


# The form.


@pytest.mark.parametrize("words", [["It is called", " Ming."], ["它叫做", "小明。"]])
def test_a_whole_answer_has_openais_form(
    serve: Serve, openai_client: Client, words: list[str]
) -> None:
    server = serve(ScriptedModel(turns=[[*words, Usage(120, 7, 1000)]]))
    answer = openai_client(server).chat.completions.create(
        model="turnleaf", messages=[user("客廳的燈叫什麼？")], temperature=0.2, max_tokens=5
    )
    [choice] = answer.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "".join(words))
    assert (answer.object, choice.index, choice.finish_reason) == ("chat.completion", 0, "stop")
    assert answer.model == "turnleaf"
    assert answer.id.startswith("chatcmpl-")
    assert answer.created > 1_700_000_000
    assert answer.usage is not None
    assert answer.usage.to_dict() == {
        "prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127,
    }  # fmt: skip


@pytest.mark.parametrize("words", [["It is called", " Ming."], ["它叫做", "小明。"]])
def test_an_answer_comes_in_openais_chunks(
    serve: Serve, openai_client: Client, words: list[str]
) -> None:
    server = serve(ScriptedModel(turns=[[*words, Usage(120, 7)]]))
    stream = openai_client(server).chat.completions.create(
        model="scripted",
        messages=[user("客廳的燈叫什麼？")],
        stream=True,
        stream_options={"include_usage": True},
    )
    *chunks, last = list(stream)
    assert [chunk.choices[0].delta.content for chunk in chunks] == ["", *words, None]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None, None, None, "stop"]
    assert {(each.id, each.object) for each in (*chunks, last)} == {
        (last.id, "chat.completion.chunk")
    }
    assert all(chunk.usage is None for chunk in chunks)
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.total_tokens == 127


def test_no_mark_of_what_an_answer_uses_is_sent_or_kept(
    serve: Serve, openai_client: Client
) -> None:
    server = serve(ScriptedModel(turns=[MARKED, MARKED]))
    completions = openai_client(server).chat.completions
    whole = completions.create(model="turnleaf", messages=[user("燈？")])
    assert whole.choices[0].message.content == WITHOUT_MARKS
    stream = completions.create(model="turnleaf", messages=[user("燈？")], stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
    assert "".join(pieces) == WITHOUT_MARKS
    assert {text for key in keys(server) for _, text in list_messages(server, key)} == {
        "燈？", WITHOUT_MARKS,
    }  # fmt: skip


def test_without_being_asked_a_stream_holds_no_usage_and_it_ends_with_done(serve: Serve) -> None:
    server = serve(ScriptedModel(turns=[["小明"]]))
    body = {"model": "turnleaf", "messages": [user("燈？")], "stream": True}
    answer = ask("POST", f"{server.url}/v1/chat/completions", json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "小明" in answer.text
    begun, *chunks, end, rest = answer.text.split("\n\n")
    assert begun.startswith(": ")
    assert (end, rest) == ("data: [DONE]", "")
    assert len(chunks) == 3
    for chunk in chunks:
        assert set(json.loads(chunk.removeprefix("data: "))) == {
            "id", "object", "created", "model", "choices",
        }  # fmt: skip


def test_tokens_are_estimated_where_no_model_counts_them(
    server: RunningServer, openai_client: Client
) -> None:
    answer = openai_client(server).chat.completions.create(
        model="turnleaf", messages=[user("客廳的燈叫什麼？")]
    )
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 50
    assert answer.usage.completion_tokens > 5
    assert answer.usage.total_tokens == (
        answer.usage.prompt_tokens + answer.usage.completion_tokens
    )


def test_the_names_of_the_model_are_listed(serve: Serve, openai_client: Client) -> None:
    client = openai_client(serve(ScriptedModel()))
    models = list(client.models.list())
    assert [model.id for model in models] == ["turnleaf", "scripted"]
    for model in models:
        client.chat.completions.create(model=model.id, messages=[user("hello")])


# Memory.


def test_the_clients_messages_are_the_history_and_memory_is_added(
    serve: Serve, openai_client: Client
) -> None:
    model = ScriptedModel()
    server = serve(model)
    server.assistant.memory.add("客廳的燈叫做小明")
    openai_client(server).chat.completions.create(
        model="turnleaf",
        messages=[
            {"role": "system", "content": "Answer like a pirate."},
            user("I am Anna"),
            assistant("Ahoy!"),
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {
                "role": "user",
                "content": [{"type": "text", "text": "客廳的"}, {"type": "text", "text": "燈？"}],
            },
        ],
    )
    [prompt] = model.prompts
    assert "客廳的燈叫做小明" in prompt.system
    assert "Answer like a pirate.\n\nBe brief." in prompt.system
    assert [(each.role, each.text) for each in prompt.messages[:-1]] == [
        ("user", "I am Anna"),
        ("assistant", "Ahoy!"),
    ]
    assert prompt.question == "客廳的\n燈？"


@pytest.mark.parametrize("streams", [False, True])
def test_what_is_remembered_here_is_in_the_next_prompt_of_the_chat(
    serve: Serve, openai_client: Client, *, streams: bool
) -> None:
    model = ScriptedModel(turns=[["好"]])
    server = serve(model)
    answer = openai_client(server).chat.completions.create(
        model="turnleaf", messages=[user("記住客廳的燈叫做小明")], stream=streams
    )
    text = (
        "".join(chunk.choices[0].delta.content or "" for chunk in answer)
        if isinstance(answer, openai.Stream)
        else answer.choices[0].message.content
    )
    assert text == "已記住：客廳的燈叫做小明\n\n好"
    facts = find_event(send_message(server.url, "燈叫什麼？"), "memories")["facts"]
    assert [fact["content"] for fact in facts] == ["客廳的燈叫做小明"]
    assert "客廳的燈叫做小明" in model.prompts[-1].system


def test_facts_are_learned_from_what_is_said_here(
    server: RunningServer, openai_client: Client
) -> None:
    openai_client(server).chat.completions.create(
        model="turnleaf", messages=[user("我家的貓叫做米米")], user="anna"
    )
    server.assistant.flush()
    [fact] = server.assistant.memory.get_all()
    assert "米米" in fact.content
    [change] = server.assistant.memory.changes(fact.id)
    assert change.source is not None
    assert change.source.conversation is not None
    assert change.source.conversation.startswith("api:anna:")
    assert change.source.trust == "user"


def test_a_real_model_gets_the_memory_and_its_tools(
    serve: Serve, openai_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatApi() as api:
        monkeypatch.setenv("TURNLEAF_MODEL", "openai:gpt-x")
        monkeypatch.setenv("TURNLEAF_MODEL_URL", api.url)
        server = serve()
        server.assistant.memory.add("客廳的燈叫做小明")
        client = openai_client(server)
        for streams in (False, True):
            api.answer("它叫", "小明。", input_tokens=300, output_tokens=5)
            answer = client.chat.completions.create(
                model="openai:gpt-x", messages=[user("客廳的燈叫什麼？")], stream=streams
            )
            text = (
                "".join(chunk.choices[0].delta.content or "" for chunk in answer)
                if isinstance(answer, openai.Stream)
                else answer.choices[0].message.content
            )
            assert text == "它叫小明。"
    body = api.requests[0].body
    assert body["model"] == "gpt-x"
    assert "客廳的燈叫做小明" in json.dumps(body["messages"], ensure_ascii=False)
    assert "append_memory" in json.dumps(body["tools"])


# Conversations.


def test_the_header_names_the_conversation_then_the_user_then_its_beginning(
    serve: Serve, openai_client: Client
) -> None:
    server = serve(ScriptedModel())
    create = openai_client(server).chat.completions.create
    messages = [user("哈囉")]
    create(
        model="turnleaf", messages=messages, user="anna",
        extra_headers={"X-Turnleaf-Conversation": "my:talk"},
    )  # fmt: skip
    create(model="turnleaf", messages=messages, user="anna")
    create(model="turnleaf", messages=messages)
    create(model="turnleaf", messages=[*messages, assistant("Fine."), user("再見")])
    body = {"model": "turnleaf", "messages": messages}
    named = {"X-Turnleaf-Conversation": "客廳".encode()}
    ask("POST", f"{server.url}/v1/chat/completions", json=body, headers=named)
    found = keys(server)
    [by_hash] = [key for key in found if re.fullmatch("api:[0-9a-f]{16}", key)]
    assert set(found) == {"my:talk", by_hash.replace("api:", "api:anna:"), "客廳", by_hash}
    assert [text for _, text in list_messages(server, by_hash)] == [
        "哈囉",
        "Fine.",
        "再見",
        "Fine.",
    ]


def test_two_chats_of_one_user_are_two_conversations(serve: Serve, openai_client: Client) -> None:
    server = serve(ScriptedModel())
    create = openai_client(server).chat.completions.create
    create(model="turnleaf", messages=[user("哈囉")], user="anna")
    create(model="turnleaf", messages=[user("Good evening")], user="anna")
    create(model="turnleaf", messages=[user("哈囉"), assistant("Fine."), user("再見")], user="anna")
    assert sorted(len(list_messages(server, key)) for key in keys(server)) == [2, 4]
    assert all(key.startswith("api:anna:") for key in keys(server))


def test_chats_that_begin_alike_stay_apart(serve: Serve, openai_client: Client) -> None:
    server = serve(ScriptedModel(turns=[["一"], ["二"], ["三"], ["四"], ["五"]]))

    def ask(*messages: Any) -> None:  # noqa: ANN401 - the client's own types are many
        openai_client(server).chat.completions.create(
            model="turnleaf", messages=list(messages), user="anna"
        )

    ask(user("哈囉"))
    ask(user("哈囉"), assistant("一"), user("早安"))
    ask(user("哈囉"))
    ask(user("哈囉"), assistant("三"), user("晚安"))
    ask(user("哈囉"), assistant("一"), user("早安"), assistant("二"), user("再見"))
    newest, other = keys(server)
    assert other == f"{newest}-2"
    assert [text for _, text in list_messages(server, newest)] == [
        "哈囉",
        "一",
        "早安",
        "二",
        "再見",
        "五",
    ]
    assert [text for _, text in list_messages(server, other)] == ["哈囉", "三", "晚安", "四"]


def test_two_chats_that_begin_alike_at_once_become_two_conversations(
    serve: Serve, openai_client: Client
) -> None:
    server = serve(ScriptedModel(turns=[["一"], ["二"], ["三"], ["四"]]))
    create = openai_client(server).chat.completions.create
    hello = user("哈囉")
    for chat in (
        [hello],
        [hello],
        [hello, assistant("一"), user("我叫小明")],
        [hello, assistant("二"), user("我叫小華")],
    ):
        create(model="turnleaf", messages=chat, user="anna")
    said = sorted([text for _, text in list_messages(server, key)][-2:] for key in keys(server))
    assert said == [["我叫小明", "三"], ["我叫小華", "四"]]


def test_the_same_first_question_is_another_chat_after_a_while(data: Path) -> None:
    start = local_now()
    stores = Stores.open(DataFolder(data, "a test"), now=lambda: start)
    store = stores.conversations
    store.add_exchange("api:1", "哈囉", "一")
    for minute, key in ((1, "api:1"), (3, "api:1-2")):
        now = start + timedelta(minutes=minute)
        assert find_place(store, "api:1", [], "哈囉", is_named=False, now=now).key == key
    stores.close()


def test_an_edited_question_leaves_what_it_replaces_as_another_version(
    serve: Serve, openai_client: Client
) -> None:
    server = serve(ScriptedModel(turns=[["一"], ["二"], ["三"], ["四"]]))
    said = [user("哈囉"), assistant("一"), user("早安"), assistant("二"), user("再見")]
    for number in (1, 3, 5):
        openai_client(server).chat.completions.create(model="turnleaf", messages=said[:number])
    edited = [*said[:2], user("晚安")]
    openai_client(server).chat.completions.create(model="turnleaf", messages=edited)
    [key] = keys(server)
    assert [text for _, text in list_messages(server, key)] == ["哈囉", "一", "晚安", "四"]
    asked = server.assistant.conversations.messages(key)[2]
    assert len(asked.versions) == 2
    assert asked.message.text == "晚安"


def test_a_named_conversation_stays_one_though_its_client_knows_nothing_of_it(
    serve: Serve, openai_client: Client
) -> None:
    server = serve(ScriptedModel())
    for text in ("哈囉", "燈？", "哈囉", "再見"):
        openai_client(server).chat.completions.create(
            model="turnleaf", messages=[user(text)],
            extra_headers={"X-Turnleaf-Conversation": "my:talk"},
        )  # fmt: skip
    assert keys(server) == ["my:talk"]
    assert [text for _, text in list_messages(server, "my:talk")][::2] == [
        "哈囉",
        "燈？",
        "哈囉",
        "再見",
    ]


def test_open_webui_names_its_chats_itself(serve: Serve, openai_client: Client) -> None:
    server = serve(ScriptedModel())
    for chat in ("6f1a", "77b2"):
        openai_client(server).chat.completions.create(
            model="turnleaf", messages=[user("哈囉")], extra_headers={"X-OpenWebUI-Chat-Id": chat}
        )
    assert set(keys(server)) == {"api:6f1a", "api:77b2"}


# What clients ask for by themselves.

CHAT_HISTORY = "<chat_history>\nUSER: 記住客廳的燈叫做小明\nASSISTANT: 好\n</chat_history>"
TASKS: dict[str, list[Any]] = {
    "Open WebUI, a title": [
        user(
            "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat "
            f"history.\n### Guidelines:\n- Be brief.\n### Chat History:\n{CHAT_HISTORY}"
        )
    ],
    "Open WebUI, tags": [
        user(
            "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history"
            f"\n\n### Chat History:\n{CHAT_HISTORY}"
        )
    ],
    "Open WebUI, follow-ups": [
        user(f"### Task:\nSuggest 3-5 relevant follow-up questions\n{CHAT_HISTORY}")
    ],
    "LibreChat, a title": [
        user(
            "Provide a concise, 5-word-or-less title for the conversation, using title case "
            "conventions. Only return the title itself.\n\nConversation:\nUser: 記住我住在台北"
        )
    ],
    "NextChat, a title": [
        user("記住客廳的燈叫做小明"),
        assistant("好"),
        user("使用四到五个字直接返回这句话的简要主题，不要解释、不要标点"),
    ],
    "LobeChat, a title": [
        {
            "role": "system",
            "content": "You are a professional conversation summarizer. Generate a concise title "
            "that captures the essence of the conversation.",
        },
        user("user: 記住客廳的燈叫做小明"),
    ],
}


@pytest.mark.parametrize("messages", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("streams", [False, True])
def test_what_a_client_asks_for_by_itself_is_answered_without_memory_and_not_kept(
    serve: Serve, openai_client: Client, messages: list[Any], *, streams: bool
) -> None:
    model = ScriptedModel(turns=[['{"title": ', '"💡 客廳的燈"}', Usage(90, 5)]])
    server = serve(model)
    server.assistant.memory.add("The cat is called Mimi")
    answer = openai_client(server).chat.completions.create(
        model="turnleaf", messages=messages, user="anna", stream=streams
    )
    text = (
        "".join(chunk.choices[0].delta.content or "" for chunk in answer)
        if isinstance(answer, openai.Stream)
        else answer.choices[0].message.content
    )
    assert text == '{"title": "💡 客廳的燈"}'
    [prompt] = model.prompts
    assert prompt.question == messages[-1]["content"]
    assert "Mimi" not in prompt.system + prompt.text
    assert not prompt.is_learned
    assert keys(server) == []
    assert server.assistant.learning.backlog() == {}
    assert [fact.content for fact in server.assistant.memory.get_all()] == [
        "The cat is called Mimi"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "### Task: Respond to the user query using the provided context\n<context>…</context>",
        "Can you generate a concise, 3-5 word title for my essay?",
        "請幫這段對話取一個標題",
        "What does <chat_history> mean in a prompt?",
    ],
)
def test_what_a_person_asks_about_titles_is_kept(
    serve: Serve, openai_client: Client, text: str
) -> None:
    server = serve(ScriptedModel())
    openai_client(server).chat.completions.create(model="turnleaf", messages=[user(text)])
    [key] = keys(server)
    assert list_messages(server, key)[0] == ("user", text)


def test_who_asks_the_same_again_is_answered_and_kept_once(
    serve: Serve, openai_client: Client
) -> None:
    server = serve(ScriptedModel(turns=[["一"], ["二"], ["三"], ["四"]]))
    create = openai_client(server).chat.completions.create
    first = [user("客廳的燈叫什麼？")]
    for expected in ("一", "二"):
        answer = create(model="turnleaf", messages=first, user="anna")
        assert answer.choices[0].message.content == expected
    [key] = keys(server)
    assert [text for _, text in list_messages(server, key)] == ["客廳的燈叫什麼？", "二"]
    assert server.assistant.learning.count_queued(key) == 2
    # Here the client's history holds the answer: it is said again, not asked again.
    create(model="turnleaf", messages=[*first, assistant("二"), *first], user="anna")
    assert [text for _, text in list_messages(server, key)][2:] == ["客廳的燈叫什麼？", "三"]


def test_who_goes_away_stops_the_model_and_what_was_said_is_kept(
    serve: Serve, openai_client: Client
) -> None:
    model = EndlessModel()
    server = serve(model)
    with openai_client(server).chat.completions.create(
        model="turnleaf", messages=[user("數到永遠")], user="anna", stream=True
    ) as stream:
        next(stream)
    assert model.stopped.wait(DEADLINE_SECONDS)
    wait_for_turns()
    [(_, asked), (_, answered)] = list_messages(server, *keys(server))
    assert asked == "數到永遠"
    assert answered.startswith("more")


def test_who_does_not_wait_for_a_whole_answer_stops_the_model_too(serve: Serve) -> None:
    model = EndlessModel()
    server = serve(model)
    body = {"model": "turnleaf", "messages": [user("數到永遠")], "user": "anna"}
    with closing(HTTPConnection(server.url.removeprefix("http://"))) as connection:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        assert model.begun.wait(DEADLINE_SECONDS)
    assert model.stopped.wait(DEADLINE_SECONDS)
    wait_for_turns()
    assert [role for role, _ in list_messages(server, *keys(server))] == ["user", "assistant"]


# What cannot be done.

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}
HELLO = {"model": "turnleaf", "messages": [user("哈囉")]}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"tools": [TOOL]}, "`tools`"),
    ({"functions": [TOOL["function"]]}, "`functions`"),
    ({"n": 2}, "`n`"),
    ({"n": 0}, "`n`"),
    ({"response_format": {"type": "json_object"}}, "`response_format`"),
    ({"modalities": ["text", "audio"]}, "`modalities`"),
    ({"messages": []}, "messages"),
    ({"messages": [user("哈囉"), assistant("你好")]}, "user"),
    ({"messages": [{"role": "user", "content": [PICTURE]}]}, "image_url"),
    ({"messages": [{"role": "user", "content": [SOUND]}]}, "input_audio"),
    ({"messages": [{"role": "function", "name": "f", "content": "1"}, user("哈囉")]}, "role"),
    ({"messages": [user("")]}, "empty"),
    ({"messages": [user("nul\0"), user("哈囉")]}, "U+0000"),
    ({"messages": "哈囉"}, "messages"),
    ({"user": "a\nb"}, "not text"),
]


def test_what_cannot_be_done_is_refused_in_a_sentence(server: RunningServer) -> None:
    url = f"{server.url}/v1/chat/completions"
    for streams in (False, True):
        for change, complaint in REFUSED:
            answer = ask("POST", url, json={**HELLO, "stream": streams, **change})
            assert answer.status_code == 422, change
            assert answer.headers["content-type"] == "application/problem+json"
            record = answer.json()
            assert complaint in record["detail"], change
            assert record["error"] == {
                "message": record["detail"], "type": "invalid_request_error",
                "param": None, "code": None,
            }  # fmt: skip
    assert ask("POST", url, content=b"{}").status_code == 415
    bad_header = {"X-Turnleaf-Conversation": b"\xff"}
    assert ask("POST", url, json=HELLO, headers=bad_header).status_code == 422
    assert keys(server) == []


def test_parameters_without_an_effect_are_taken(serve: Serve, openai_client: Client) -> None:
    answer = openai_client(serve(ScriptedModel())).chat.completions.create(
        model="turnleaf", messages=[user("哈囉")], n=1, tools=[], temperature=1.5, top_p=0.1,
        presence_penalty=1, frequency_penalty=1, seed=7, stop=["x"], max_completion_tokens=3,
        logit_bias={}, tool_choice="none", response_format={"type": "text"}, store=False,
        extra_body={"something": "new"},
    )  # fmt: skip
    assert answer.choices[0].message.content == "Fine."


def test_another_model_is_not_there(server: RunningServer, openai_client: Client) -> None:
    with pytest.raises(openai.NotFoundError, match=r"gpt-5.*turnleaf, recall"):
        openai_client(server).chat.completions.create(model="gpt-5", messages=[user("哈囉")])


def test_tool_messages_of_an_earlier_model_stay_in_the_history(serve: Serve) -> None:
    model = ScriptedModel()
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [
        user("How warm is it?"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "72°F"},
        assistant("72°F."),
    ]
    body = {"model": "turnleaf", "messages": [*history, user("And now?")]}
    answer = ask("POST", f"{serve(model).url}/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    assert [each.role for each in model.prompts[0].messages[:-1]] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip


def test_a_model_that_fails_is_an_error(serve: Serve, openai_client: Client) -> None:
    client = openai_client(serve(ScriptedModel(turns=[[ModelError("out of order; try later")]])))
    with pytest.raises(openai.InternalServerError, match="out of order; try later") as caught:
        client.chat.completions.create(model="turnleaf", messages=[user("哈囉")])
    assert caught.value.status_code == 502


def test_a_model_that_fails_before_its_first_words_is_an_error_in_the_stream(
    serve: Serve, openai_client: Client
) -> None:
    client = openai_client(serve(ScriptedModel(turns=[[ModelError("out of order; try later")]])))
    stream = client.chat.completions.create(model="turnleaf", messages=[user("哈囉")], stream=True)
    with pytest.raises(openai.APIError, match="out of order; try later"):
        next(stream)


def test_a_stream_begins_before_the_model_says_anything(serve: Serve) -> None:
    model = LateModel()
    body = {**HELLO, "stream": True}
    url = f"{serve(model).url}/v1/chat/completions"
    with make_client() as client, client.stream("POST", url, json=body) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert next(lines).startswith(": ")
        assert not model.go.is_set()
        model.go.set()
        assert "小明" in "".join(lines)


def test_a_model_that_fails_after_its_first_words_is_an_error_in_the_stream(
    serve: Serve, openai_client: Client
) -> None:
    model = ScriptedModel(turns=[["你", ModelError("out of order; try later")]])
    stream = openai_client(serve(model)).chat.completions.create(
        model="turnleaf", messages=[user("哈囉")], stream=True
    )
    heard = [next(stream).choices[0].delta.content for _ in range(2)]
    assert heard == ["", "你"]
    with pytest.raises(openai.APIError, match="out of order; try later"):
        next(stream)


def test_chats_and_completions_share_the_most_at_once(serve: Serve, openai_client: Client) -> None:
    model = PausingModel()
    server = serve(model)
    client = openai_client(server)
    with ExitStack() as stack:
        for number in range(8):
            stack.enter_context(
                client.chat.completions.create(
                    model="turnleaf", messages=[user(f"number {number}")], stream=True
                )
            )
        refused = ask("POST", f"{server.url}/api/chat", json={"message": "one more"})
        assert refused.status_code == 503
        with pytest.raises(openai.InternalServerError, match="8 answers"):
            client.chat.completions.create(model="turnleaf", messages=[user("one more")])
        model.go.set()
    wait_for_turns()
