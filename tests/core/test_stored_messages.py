"""Messages as a store keeps them."""

from __future__ import annotations

import pytest

from turnleaf.core.messages import ROLES, STATUSES, TRUSTS, Message, NewMessage, find_trust
from turnleaf.errors import InvalidInput

SAID = Message("user", "你好")


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("trust", [None, *TRUSTS])
def test_a_message_says_how_it_ended_and_whose_words_it_holds(
    status: str, trust: str | None
) -> None:
    new = NewMessage(SAID, status=status, trust=trust)
    assert (new.status, new.trust) == (status, trust)


@pytest.mark.parametrize("status", ["", "done", "Complete"])
def test_an_unknown_status_is_refused(status: str) -> None:
    with pytest.raises(InvalidInput, match="status must be one of complete, stopped, failed"):
        NewMessage(SAID, status=status)


@pytest.mark.parametrize("trust", ["", "nobody", "User"])
def test_an_unknown_trust_is_refused(trust: str) -> None:
    with pytest.raises(InvalidInput, match="trust must be one of user, assistant, tool"):
        NewMessage(SAID, trust=trust)


def test_trust_follows_the_role_where_nobody_says_otherwise() -> None:
    assert {role: find_trust(role) for role in ROLES} == {
        "system": "tool",
        "developer": "tool",
        "user": "user",
        "assistant": "assistant",
        "tool": "tool",
    }
