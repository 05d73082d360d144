"""Answers as they appear in a thread, over the real client and a Web API on loopback."""

from __future__ import annotations

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.faces.slack.conftest import Switch
from tests.standins.slack_api import SlackApi
from turnleaf.faces.slack.answers import ThreadAnswer, ThreadPlace

LONG = "\n\n".join(f"第{number}段。" + "客廳的燈叫做小明。" * 30 for number in range(30))


class Scene:
    """One answer in a thread of its own; the time passes with every piece."""

    def __init__(self, slack: SlackApi, client: WebClient) -> None:
        self.slack = slack
        self.thread = f"thread-{len(slack.posts)}"
        self._seconds = 0.0
        place = ThreadPlace("C01", self.thread, "U01", "T1")
        self.answer = ThreadAnswer(client, place, clock=lambda: self._seconds)

    def add(self, *pieces: str, seconds: float = 5.0) -> None:
        for piece in pieces:
            self._seconds += seconds
            self.answer.add(piece)

    @property
    def texts(self) -> list[str]:
        return [post.text for post in self.slack.thread(self.thread)]

    @property
    def methods(self) -> list[str]:
        return [call.method.partition(".")[2] for call in self.slack.calls]


@pytest.fixture
def scene(slack_link: tuple[SlackApi, WebClient, Switch]) -> Scene:
    slack, client, _ = slack_link
    slack.calls.clear()
    slack.refused.clear()
    return Scene(slack, client)


def test_a_quick_answer_is_one_message(scene: Scene) -> None:
    scene.answer.think()
    scene.add("你好", "！", seconds=0.1)
    scene.answer.end()
    assert scene.texts == ["你好！"]
    assert scene.methods == ["threads.setStatus", "postMessage"]
    status, sent = scene.slack.calls
    assert status.body["status"] == "is thinking…"
    assert (sent.body["unfurl_links"], sent.body["unfurl_media"]) == (False, False)


def test_a_slow_answer_is_streamed(scene: Scene) -> None:
    scene.add("客廳的燈", "叫做")
    assert scene.texts == ["客廳的燈叫做"]
    scene.add("小明", seconds=0.1)
    assert scene.texts == ["客廳的燈叫做"]
    scene.answer.end()
    assert scene.texts == ["客廳的燈叫做小明"]
    assert scene.methods == ["startStream", "appendStream", "stopStream"]
    assert scene.slack.calls[0].body["recipient_user_id"] == "U01"
    assert scene.slack.calls[0].body["recipient_team_id"] == "T1"


def test_where_there_are_no_streams_the_message_is_edited(scene: Scene) -> None:
    scene.slack.refused["chat.startStream"] = "method_not_supported_for_channel_type"
    scene.add("One, ", "two, ")
    scene.add("three.", seconds=1.5)
    assert scene.texts == ["One, two, "]
    scene.answer.end()
    assert scene.texts == ["One, two, three."]
    assert scene.methods == ["startStream", "postMessage", "update", "update"]


def test_without_a_status_a_message_shows_that_it_thinks(scene: Scene) -> None:
    scene.slack.refused["assistant.threads.setStatus"] = "not_allowed"
    scene.answer.think()
    assert scene.texts == ["…"]
    scene.add("Done.", seconds=0.1)
    scene.answer.end()
    assert scene.texts == ["Done."]


@pytest.mark.parametrize("method", ["chat.appendStream", "chat.stopStream"])
def test_a_stream_that_slack_ended_goes_on_by_editing(scene: Scene, method: str) -> None:
    scene.add("One, ", "two, ")
    scene.slack.posts[-1].is_streaming = False
    scene.add("three.", seconds=5.0 if method == "chat.appendStream" else 0.1)
    scene.answer.end()
    assert scene.texts == ["One, two, three."]
    assert scene.methods[-1] == "update"


def test_a_piece_that_was_lost_on_the_way_is_not_shown_twice(scene: Scene) -> None:
    scene.add("One, ")
    scene.slack.once("chat.appendStream", "gone")
    scene.add("two, ", "three.")
    scene.answer.end()
    assert scene.texts == ["One, two, three."]


def test_a_stream_that_could_not_be_ended_is_ended_before_the_message_is_edited(
    scene: Scene,
) -> None:
    scene.add("One, ")
    for method in ("chat.appendStream", "chat.stopStream", "chat.stopStream"):
        scene.slack.once(method, "fatal_error")
    scene.add("two, ", "three.")
    assert scene.texts == ["One, "]
    scene.answer.end()
    assert scene.texts == ["One, two, three."]
    assert not scene.slack.posts[-1].is_streaming
    assert scene.methods[-2:] == ["stopStream", "update"]


def test_while_it_is_too_quick_what_comes_meanwhile_is_left_out(scene: Scene) -> None:
    scene.slack.once("assistant.threads.setStatus", "429:9")
    scene.answer.think()
    assert scene.texts == []
    scene.slack.once("chat.startStream", "429:9")
    scene.add("One, ")
    assert scene.texts == []
    scene.add("two, ")
    scene.slack.once("chat.appendStream", "429:9")
    scene.add("three, ")
    assert scene.texts == ["One, two, "]
    scene.slack.once("chat.stopStream", "429:9")
    with pytest.raises(SlackApiError):
        scene.answer.end()
    scene.answer.end()
    assert scene.texts == ["One, two, three, "]
    assert scene.methods == [
        "threads.setStatus", "startStream", "startStream", "appendStream", "stopStream",
        "stopStream",
    ]  # fmt: skip


def test_while_slack_takes_nothing_the_answer_goes_on(scene: Scene) -> None:
    scene.slack.refused |= {"chat.startStream": "fatal_error", "chat.postMessage": "fatal_error"}
    scene.add("One, ", "two.")
    with pytest.raises(SlackApiError):
        scene.answer.end()
    scene.slack.refused.clear()
    scene.answer.end()
    assert scene.texts == ["One, two."]


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("size", [7, 100_000])
def test_a_long_answer_is_several_messages_between_paragraphs(
    scene: Scene, size: int, *, streams: bool
) -> None:
    if not streams:
        scene.slack.refused["chat.startStream"] = "not_allowed"
    pieces = [LONG[start : start + size] for start in range(0, len(LONG), size)]
    scene.add(*pieces, seconds=0.1)
    scene.answer.end()
    assert "\n\n".join(scene.texts) == LONG
    assert len(scene.texts) == 3
    assert not any(post.is_streaming for post in scene.slack.thread(scene.thread))


def test_a_long_answer_is_whole_and_in_order_when_slack_took_nothing_for_a_while(
    scene: Scene,
) -> None:
    scene.slack.refused |= {"chat.startStream": "fatal_error", "chat.postMessage": "fatal_error"}
    half = len(LONG) // 2
    scene.add(LONG[:half])
    assert scene.texts == []
    scene.slack.refused.clear()
    scene.add(LONG[half:])
    scene.answer.end()
    assert "\n\n".join(scene.texts) == LONG


def test_nothing_in_a_stream_calls_anybody_however_it_is_cut(scene: Scene) -> None:
    scene.add("a<", "!chan", "nel> & ", "@every", "one &l", "t;!here&gt; <", "@U02> x<y @here")
    scene.answer.end()
    (shown,) = scene.texts
    calm = (
        "a&lt;!channel&gt; & @\u200beveryone &amp;lt;!here&amp;gt; &lt;@U02&gt; x&lt;y @\u200bhere"
    )
    assert shown == calm


def test_an_answer_that_is_only_white_space_is_not_sent(scene: Scene) -> None:
    scene.add(" \n ")
    scene.answer.end()
    assert scene.methods == []
