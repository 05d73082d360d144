"""Which conversation a client's chat is, and where in it the client stands.

A client of the OpenAI API sends the whole chat each time and names it by how it began. So chats
that begin with the same words are told apart by what was answered, and a question that was edited
by the message that it follows.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from turnleaf.core.messages import Message, StoredMessage
    from turnleaf.store.contracts import Conversations

MOST_ALIKE = 50
"""How many chats with the same beginning are told apart."""
LOOKED_AT = 100
"""In how many of a conversation's newest messages the client's last answer is looked for."""
EXCHANGE = 2
NEAR = 8
AGAIN = timedelta(minutes=2)
"""Who asks the same first question so soon asks again; later, or elsewhere, it is another chat."""


class ChatPlace(NamedTuple):
    """A conversation, and the message that is followed if that is not the newest one."""

    key: str
    after: int | None = None


def find_place(
    store: Conversations,
    key: str,
    history: Sequence[Message],
    question: str,
    *,
    is_named: bool,
    now: datetime,
) -> ChatPlace:
    """Return the conversation that a chat continues, among those that begin like it.

    A chat that its client named is that conversation, whatever the client knows of it.
    """
    known = [key] if is_named else list(_list_keys_alike(store, key))
    answer = next((one.text for one in reversed(history) if one.role == "assistant"), None)
    if answer is None and is_named:
        return ChatPlace(key)
    if answer is None:
        return ChatPlace(_find_begun(store, known, now) or _number_key(key, len(known)))
    for one in reversed(known):
        shown = store.messages(one, limit=LOOKED_AT)
        places = [place for place, stored in enumerate(shown) if stored.message.text == answer]
        if places:
            return ChatPlace(one, _find_followed(shown, places[-1], question))
    if any(_was_replaced(store, one, answer) for one in known) and len(known) < MOST_ALIKE:
        # What was taken for the same question again was another chat, so this one goes on alone.
        return ChatPlace(_number_key(key, len(known)))
    return ChatPlace(known[-1] if known else key)


def _was_replaced(store: Conversations, key: str, answer: str) -> bool:
    """Whether a conversation began with this answer, and another one stands there now."""
    for asked in store.messages(key, limit=LOOKED_AT)[:1]:
        for version in asked.versions:
            # An answer is stored soon after its question, so its number is near.
            near = map(store.find_message, range(version + 1, version + 1 + NEAR))
            said = [found[1] for found in near if found and found[1].parent == version]
            if any(one.message.text == answer for one in said):
                return True
    return False


def _list_keys_alike(store: Conversations, key: str) -> Iterator[str]:
    for number in range(MOST_ALIKE):
        numbered = _number_key(key, number)
        if store.summary(numbered) is None:
            return
        yield numbered


def _number_key(key: str, number: int) -> str:
    return f"{key}-{number + 1}" if number else key


def _find_begun(store: Conversations, known: Sequence[str], now: datetime) -> str | None:
    """Return the chat that is started again: its first question was asked just now, and no more."""
    summary = store.summary(known[-1]) if known else None
    if summary is None:
        return None
    is_again = summary.turns < EXCHANGE or now - summary.updated_at <= AGAIN
    is_full = len(known) == MOST_ALIKE
    return summary.key if is_full or (summary.turns <= EXCHANGE and is_again) else None


def _find_followed(shown: Sequence[StoredMessage], place: int, question: str) -> int | None:
    """Return the message that is followed, unless it is the newest or its question is repeated."""
    later = shown[place + 1 :]
    is_repeated = len(later) <= EXCHANGE and [one.message.text for one in later[:1]] == [question]
    return shown[place].id if later and not is_repeated else None
