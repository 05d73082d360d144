"""Slack is asked about people once in a while, and whom it does not know is not let in."""

from __future__ import annotations

import pytest

from tests.faces.slack.conftest import World
from turnleaf.faces.slack.client import Patience, identity
from turnleaf.faces.slack.people import KNOWN_SECONDS, People
from turnleaf.settings import Settings


def test_a_person_is_asked_for_once_in_a_while(world: World) -> None:
    now = 0.0
    settings = Settings(slack_allowed_channels="C07,C08")
    me, patiently = identity(world.client), Patience(world.waits.append)
    people = People(world.client, me, lambda: settings, patiently, clock=lambda: now)
    world.slack.people["U05"] = {"real_name": "王小安"}
    assert people.is_allowed("U05", "C07")
    assert people.is_allowed("U05", "C08")
    assert people.name_of("U05") == "王小安"
    assert len(world.slack.called("users.info")) == 1
    world.slack.people["U05"]["is_restricted"] = True
    now = KNOWN_SECONDS
    assert not people.is_allowed("U05", "C07")


def test_whom_slack_does_not_describe_is_let_in_by_the_list_alone(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(slack_allowed_users="U06", slack_allowed_channels="C07")
    me, patiently = identity(world.client), Patience(world.waits.append)
    people = People(world.client, me, lambda: settings, patiently)
    world.slack.refused["users.info"] = "missing_scope"
    assert people.is_allowed("U06", "C01")
    assert not people.is_allowed("U05", "C07")
    assert people.name_of("U05") == "U05"
    assert "Slack did not say who U05 is: missing_scope" in caplog.text
