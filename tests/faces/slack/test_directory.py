"""Slack is asked about people and channels once in a while; what it does not know stays closed."""

from __future__ import annotations

import pytest

from tests.faces.slack.conftest import World
from turnleaf.core.keys import EVERYONE, make_own_audience
from turnleaf.faces.slack.client import KNOWN_SECONDS, Channels, Patience, People, fetch_identity
from turnleaf.settings import Settings


def test_a_person_is_asked_for_once_in_a_while(world: World) -> None:
    now = 0.0
    settings = Settings(slack_allowed_channels="C07,C08")
    me, patiently = fetch_identity(world.client), Patience(world.waits.append)
    people = People(world.client, me, lambda: settings, patiently, clock=lambda: now)
    world.slack.people["U05"] = {"real_name": "王小安"}
    assert people.is_allowed("U05", "C07")
    assert people.is_allowed("U05", "C08")
    assert people.find_name("U05") == "王小安"
    assert len(world.slack.bodies_of("users.info")) == 1
    world.slack.people["U05"]["is_restricted"] = True
    now = KNOWN_SECONDS
    assert not people.is_allowed("U05", "C07")


def test_whom_slack_does_not_describe_is_let_in_by_the_list_alone(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(slack_allowed_users="U06", slack_allowed_channels="C07")
    me, patiently = fetch_identity(world.client), Patience(world.waits.append)
    people = People(world.client, me, lambda: settings, patiently)
    world.slack.refused["users.info"] = "missing_scope"
    assert people.is_allowed("U06", "C01")
    assert not people.is_allowed("U05", "C07")
    assert people.find_name("U05") == "U05"
    assert "cannot get the Slack user U05: missing_scope" in caplog.text


def make_channels(world: World) -> Channels:
    return Channels(world.client, Patience(world.waits.append))


@pytest.mark.parametrize(
    ("kind", "audience"),
    [
        ("channel", EVERYONE),
        ("group", make_own_audience("slack:C07")),
        ("mpim", make_own_audience("slack:C07")),
        ("im", make_own_audience("slack:C07")),
        ("something new", make_own_audience("slack:C07")),
    ],
)
def test_an_event_tells_of_its_channel_and_slack_is_not_asked(
    world: World, kind: str, audience: str
) -> None:
    channels = make_channels(world)
    channels.note({"type": "message", "channel": "C07", "channel_type": kind})
    channels.note({"type": "app_mention", "channel": "C07"})
    assert channels.find_audience("C07") == audience
    assert world.slack.bodies_of("conversations.info") == []


@pytest.mark.parametrize(
    ("about", "audience"),
    [
        ({}, EVERYONE),
        ({"is_private": True}, make_own_audience("slack:C07")),
        ({"is_mpim": True, "is_channel": False}, make_own_audience("slack:C07")),
        ({"is_channel": False}, make_own_audience("slack:C07")),
    ],
)
def test_where_no_event_told_slack_is_asked_once_in_a_while(
    world: World, about: dict[str, bool], audience: str
) -> None:
    now = 0.0
    channels = Channels(world.client, Patience(world.waits.append), clock=lambda: now)
    world.slack.channels["C07"] = about
    assert [channels.find_audience("C07"), channels.find_audience("C07")] == [audience, audience]
    assert len(world.slack.bodies_of("conversations.info")) == 1
    world.slack.channels["C07"] = {"is_private": True}
    now = KNOWN_SECONDS
    assert channels.find_audience("C07") == make_own_audience("slack:C07")


def test_a_channel_of_which_slack_says_nothing_is_taken_for_private(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.slack.refused["conversations.info"] = "missing_scope"
    assert make_channels(world).find_audience("C07") == make_own_audience("slack:C07")
    assert "cannot get the Slack channel C07: missing_scope" in caplog.text


def test_a_direct_message_is_private_without_asking(world: World) -> None:
    assert make_channels(world).find_audience("D1") == make_own_audience("slack:D1")
    assert world.slack.bodies_of("conversations.info") == []
