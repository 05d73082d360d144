"""What a new fact is to those that are known, judged by what they say and not by how they look."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given

from tests.strategies import texts, thorough
from turnleaf.core.candidates import Candidate
from turnleaf.core.memories import Memory
from turnleaf.core.reconciling import Verdict, concerns, judged
from turnleaf.core.rules import facts_in

MOMENT = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


def memory(content: str) -> Memory:
    return Memory(content, content, MOMENT, MOMENT)


def said(message: str) -> Candidate:
    (candidate,) = facts_in(message)
    return candidate


def verdict(message: str, *known: str) -> Verdict:
    return judged(said(message), [memory(content) for content in known])


@pytest.mark.parametrize(
    ("message", "known"),
    [
        ("I like tea", "I like tea."),
        ("by the way, I LIKE tea!", "I like tea"),
        ("my name's ann", "User's name is Ann"),
        ("I'm Ann", "My name is Ann"),
        ("our dog's name is Rex", "User's dog is called Rex"),
        ("I am vegetarian", "I'm vegetarian"),
        ("I work at Acme", "User works at Acme as a nurse"),
        ("I live in Taipei", "The user lives in Taipei, Xinyi District"),
        ("I work at TSMC", "I live in Taipei and work at TSMC"),
        ("I'm allergic to peanuts", "I'm allergic to peanuts and shrimp"),
        ("I love coffee", "Likes coffee"),
        ("I use Neovim", "I use Neovim for Rust"),
        ("I'm a nurse", "I'm a nurse at Mercy"),
        ("my birthday is on March 14th", "My birthday is 14 March"),
        ("我的生日是3月14日", "我生日是三月十四號"),
        ("垃圾車星期二會來", "垃圾車星期二來"),
        ("actually, my name is Ann", "My name is Ann"),
        ("我喜歡咖啡", "我喜欢咖啡。"),
        ("我喜歡喝紅茶", "喜歡喝紅茶"),
        ("我太太叫美玲", "我老婆叫美玲"),
        ("客廳燈叫小明", "客廳的燈叫做小明"),
        ("小明就是客廳的燈", "客廳的燈叫做小明"),
        ("我住台北", "使用者住在台北市信義區"),
        ("我對花生過敏", "我對花生和蝦子過敏"),
        ("我的生日是三月十四號", "用戶的生日是三月十四號"),
    ],
)
def test_what_a_known_fact_already_says_is_the_same(message: str, known: str) -> None:
    other = "The boiler was serviced in May"
    assert verdict(message, other, known) == Verdict("same", memory(known))


@pytest.mark.parametrize(
    ("message", "known"),
    [
        ("Actually our dog is called Max", "User's dog is called Rex"),
        ("I no longer like coffee", "I like coffee"),
        ("I don't like coffee anymore", "The user loves coffee"),
        ("I just moved to Tainan", "I live in Taipei"),
        ("my favourite colour is blue now", "My favourite colour is green"),
        ("I've switched from VS Code to Zed", "I use VS Code"),
        ("I wake up at 6 now", "I wake up at 7"),
        ("I don't work at Acme anymore, I work at Globex now", "I work at Acme"),
        ("We renamed the bedroom lamp to Stella", "The bedroom lamp is called Ming"),
        ("我不喜歡咖啡了", "我喜歡咖啡"),
        ("我搬到台南了", "我住在台北"),
        ("客廳的燈改叫小華", "客廳的燈叫做小明"),
        ("我女兒不是叫小安，是叫小恩", "我女兒叫小安"),
        ("其實我的生日是三月十五號", "我的生日是三月十四號"),
        ("我現在改六點起床", "我每天七點起床"),
        ("更正：我太太叫美玲", "使用者的老婆叫美齡"),
        ("I'm no longer allergic to cats", "I'm allergic to cats"),
        ("I'm not vegetarian anymore", "The user is vegetarian"),
        ("no, my favourite color is blue", "My favourite colour is green"),
        ("the bins go out on Wednesdays now", "The bins go out on Tuesday"),
        ("the cleaner comes every Friday now", "The cleaner comes every Thursday"),
        ("我不吃素了", "我吃素"),
        ("垃圾車現在改星期三來", "垃圾車星期二來"),
    ],
)
def test_a_correction_replaces_the_one_fact_that_it_is_about(message: str, known: str) -> None:
    other = "I like tea"
    assert verdict(message, other, known) == Verdict("supersedes", memory(known))


@pytest.mark.parametrize(
    ("message", "known"),
    [
        ("My editor is Neovim", "prefers dark mode in the editor"),
        ("I like coffee", "I don't like coffee"),
        ("I don't like coffee", "I like coffee"),
        ("I live in Tainan", "I live in Taipei"),
        ("I live in York", "I live in New York"),
        ("I'm allergic to peanuts and shrimp", "I'm allergic to peanuts"),
        ("I use Zed", "I use VS Code"),
        ("my brother lives in Oslo", "I live in Oslo"),
        ("the bedroom lamp is called Ming", "The living room lamp is called Ming"),
        ("actually I like tea", "I like coffee"),
        ("My favourite band is Radiohead", "My favourite colour is green"),
        ("I use Neovim for Go", "I use Neovim for Rust"),
        ("I'm a nurse at Mercy", "I'm a nurse"),
        ("At home we use Jira", "At work we use Jira"),
        ("my wife is 40", "My wife is 4"),
        ("my birthday is 14 March 1988", "My birthday is 14 March"),
        ("我在台積電當工程師", "我在台積電上班"),
        ("我下午七點起床", "我早上七點起床"),
        ("我媽的生日是農曆五月初五", "我媽的生日是農曆五月初三"),
        ("我喜歡咖啡", "我不喜歡咖啡"),
        ("我不喜歡咖啡", "我喜歡咖啡"),
        ("我喜歡咖啡", "我喜歡咖啡色的牆"),
        ("臥室的燈叫小華", "客廳的燈叫做小明"),
        ("我住在台南", "我住在台北"),
        ("我女兒叫小安", "我女兒叫小安安"),
        ("我媽住在淡水", "我住在淡水"),
        ("我用 Neovim 寫程式", "我習慣在編輯器用深色模式"),
    ],
)
def test_facts_that_share_words_are_both_kept(message: str, known: str) -> None:
    assert verdict(message, known) == Verdict("new")


def test_a_correction_that_could_mean_two_facts_replaces_none() -> None:
    assert verdict("Actually my son is called Tim", "My son is Leo", "My son is Max").kind == "new"


def test_a_correction_of_nothing_known_is_new() -> None:
    assert verdict("Actually my name is Jon").kind == "new"


@pytest.mark.parametrize(
    "known", ["I live in Taipei and work at TSMC", "I live in Taipei. The rent is 900."]
)
def test_a_fact_that_says_more_than_what_is_corrected_is_not_lost(known: str) -> None:
    assert verdict("I moved to Tainan", known).kind == "new"


def test_a_candidate_that_says_more_than_what_is_known_is_not_lost() -> None:
    longer = Candidate("I live in Taipei. The rent is 900.", "Taipei", attribute="home|user")
    assert judged(longer, [memory("I live in Taipei")]) == Verdict("new")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("See https://a.example", "See https://b.example"),
        ('Motto: "never. ever."', 'Motto: "always. yes."'),
        ("😀", "😎"),
        ("Costs $5", "Costs €5"),
        ("Likes C", "Likes C++"),
        ("x" * 9_000, "x" * 9_000 + "y"),
        ("The limit is 1.5", "The limit is 15"),
    ],
)
def test_texts_that_differ_anywhere_are_not_the_same(one: str, other: str) -> None:
    assert judged(Candidate(one, one), [memory(other)]) == Verdict("new")


def test_a_candidate_with_words_of_its_own_is_compared_by_them() -> None:
    known = [memory("I like tea")]
    assert judged(Candidate("I like tea", "tea"), known) == Verdict("same", known[0])
    assert judged(Candidate("Tea at five", "tea", is_correction=True), known) == Verdict("new")


@thorough
@given(texts, texts)
def test_any_two_texts_can_be_compared(text: str, known: str) -> None:
    found = judged(Candidate(text, text, is_correction=True), [memory(known)])
    assert found.target in {None, memory(known)}
    assert judged(Candidate(text, text), [memory(text)]).kind == "same"


@pytest.mark.parametrize(
    ("said", "known", "expected"),
    [
        ("My dog is called Max", "The user's dog is called Rex", True),
        ("I moved to Tainan", "I live in Taipei", True),
        ("I like green tea in the morning", "I like green tea", True),
        ("客廳的燈叫做小華", "客廳的燈叫做小明", True),
        ("My editor is Neovim", "My wife is called Anna", False),
        ("My editor is Neovim", "Prefers dark mode in the editor", False),
        ("我的編輯器是 Neovim", "我太太叫小玲", False),
    ],
)
def test_a_fact_may_replace_only_what_it_is_about(said: str, known: str, *, expected: bool) -> None:
    memory = Memory("id0", known, MOMENT, MOMENT)
    assert concerns(Candidate(said, said), memory) is expected
