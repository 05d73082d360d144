"""An exact quote of the user vouches for what the user's words say; the rest waits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from turnleaf import Memory
from turnleaf.core.learning.extraction import TranscriptMessage
from turnleaf.core.learning.proposals import Heard, is_long_enough, judge_quote, share_words

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def trust(fact: str, quote: str, *said: TranscriptMessage, known: tuple[str, ...] = ()) -> str:
    memories = [Memory(f"id{at}", text, NOON, NOON) for at, text in enumerate(known)]
    heard = Heard.of(said, memories)
    number = heard.find(quote, 1)
    assert number is not None, quote
    return judge_quote(fact, quote, number, heard).trust


def user(text: str) -> TranscriptMessage:
    return TranscriptMessage(text, "user")


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("My daughter's name is Ida", "so my daughter’s name is Ida, ok"),
        ('we call it the "den"', "we call it the “den”"),
        ('養了一隻陸龜叫"慢慢"', "我養了一隻陸龜叫「慢慢」"),
        ("ＭＹ  dog\nis Rex", "My dog is Rex"),
        ("I like tea.", "I like tea, really"),
        ("我用 ThinkPad，裝 Debian", "我用ThinkPad,裝Debian"),
        ("我住台北", "我 住臺北"),
    ],
)
def test_marks_case_width_and_spaces_make_no_difference_in_a_quote(quote: str, said: str) -> None:
    assert Heard.of([user(said)], []).find(quote, 1) == 0


@pytest.mark.parametrize("quote", ["I", "ok", "我", "...", "a b c", ""])
def test_too_little_quotes_nothing(quote: str) -> None:
    said = user("I am ok ... a b c 我")
    assert not is_long_enough(quote)
    assert Heard.of([said], []).find(quote, 1) is None


@pytest.mark.parametrize("quote", ["vegan", "吃素", "5pm2", "我A1"])
def test_a_word_is_enough(quote: str) -> None:
    assert is_long_enough(quote)


def test_a_word_of_the_assistants_reply_takes_nothing_away() -> None:
    said = user("I run a tiny bakery with my brother Luca in Trieste")
    reply = TranscriptMessage("A small bakery in Trieste, run with your brother Luca!", "assistant")
    assert trust("The user runs a small bakery in Trieste", said.text, said, reply) == "user"


@pytest.mark.parametrize(
    ("fact", "quote", "reply"),
    [
        ("My bank is Evilcorp", "my bank", "Your bank is Evilcorp."),
        ("我的銀行是邪惡銀行", "我的銀行", "你用的是邪惡銀行吧。"),
        ("I have 300 books", "I have books", "You have 300 books."),
    ],
)
def test_a_name_that_only_the_assistant_brought_waits(fact: str, quote: str, reply: str) -> None:
    said = user(f"{quote}, you know")
    assert trust(fact, quote, said, TranscriptMessage(reply, "assistant")) == "assistant"


def test_a_name_that_nobody_said_waits() -> None:
    assert trust("My dog is called Rex", "I have a dog", user("I have a dog")) == "model"


def test_a_name_that_is_known_is_the_users() -> None:
    said = [TranscriptMessage("Rex is a good dog.", "assistant"), user("he is five years old")]
    known = ("My dog is called Rex",)
    assert trust("Rex is five years old", "he is five years old", *said, known=known) == "user"


def test_what_the_user_said_before_counts() -> None:
    before = TranscriptMessage("my dog is called Rex", "user", is_context=True)
    assert trust("Rex is five years old", "he is five", before, user("he is five now")) == "user"


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I can eat peanuts", "I can't eat peanuts"),
        ("I like peanuts", "I never said that I like peanuts"),
        ("我喜歡香菜", "我不喜歡香菜"),
        ("I do not live in Leeds", "I live in Leeds"),
    ],
)
def test_a_negation_that_is_lost_or_added_waits(fact: str, said: str) -> None:
    assert trust(fact, said, user(said)) == "model"


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I can take ibuprofen", "can I take ibuprofen?"),
        ("我可以吃花生", "我可以吃花生嗎"),
        ("A poem about my cat Momo", "Write a poem about my cat Momo"),
        ("信給房東", "幫我寫一封信給房東"),
        ("My dog would be called Rex", "if I had a dog it would be called Rex"),
        ("我住在巴黎", "如果我住在巴黎就好了"),
        ("You are a pirate", "You are a pirate and I am your parrot"),
    ],
)
def test_what_is_asked_wished_or_supposed_waits(fact: str, said: str) -> None:
    assert trust(fact, said, user(said)) == "model"


def test_a_statement_beside_a_question_or_a_wish_is_one() -> None:
    said = user("可以推薦貓砂嗎 我養兩隻貓，叫奶茶跟烏龍")
    assert trust("我養兩隻貓", "我養兩隻貓", said) == "user"
    said = user("My dog is called Rex. Could you write a poem about him?")
    assert trust("My dog is called Rex", "My dog is called Rex", said) == "user"


def test_a_long_text_without_a_word_for_the_speaker_waits() -> None:
    text = f"The river is called Lagan. {'Boats pass by. ' * 20}"
    assert trust("The river is called Lagan", "The river is called Lagan", user(text)) == "model"


def test_a_fact_that_has_nothing_of_its_quote_waits() -> None:
    said = [user("thanks a lot"), user("my dog is called Rex")]
    assert trust("My dog is called Rex", "thanks a lot", *said) == "model"


@pytest.mark.parametrize(
    ("said", "held"), [("I have an exam tomorrow", "user"), ("I have an exam", "model")]
)
def test_a_date_is_worked_out_only_where_the_user_speaks_of_a_time(said: str, held: str) -> None:
    assert trust("I have an exam on 2026-11-17", said, user(said)) == held


@pytest.mark.parametrize("kind", ["tool", "document", "stranger"])
def test_the_least_trusted_who_brought_a_word_decides(kind: str) -> None:
    asked = user("Please read this page about my bank")
    page = TranscriptMessage("Your bank is evilcorp", kind)
    heard = Heard.of([asked, TranscriptMessage("So it is evilcorp.", "assistant"), page], [])
    verdict = judge_quote("My bank is evilcorp", "about my bank", 0, heard)
    assert (verdict.trust, verdict.source) == (kind, 2)


@pytest.mark.parametrize("kind", ["tool", "document", "stranger"])
def test_a_word_counts_against_the_user_only_where_the_user_never_said_it(kind: str) -> None:
    page = TranscriptMessage("evilcorp is everywhere", kind)
    assert trust("My bank is evilcorp", "about my bank", user("about my bank"), page) == kind
    said = user("My bank is evilcorp")
    assert trust("My bank is evilcorp", said.text, said, page) == "user"


def test_a_quote_from_a_page_is_trusted_as_the_page() -> None:
    page = TranscriptMessage("Your bank is Evil Bank", "tool")
    assert trust("The user's bank is Evil Bank", "bank is Evil Bank", page) == "tool"


def test_quotes_overlap_where_they_share_words() -> None:
    text = "My dog is called Rex and I like tea"
    assert share_words("My dog is called Rex", "dog is called rex", text)
    assert not share_words("My dog is called Rex", "I like tea", text)
    assert not share_words("My cat", "I like tea", text)
