"""Each fact is found on its line."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from turnleaf.core import json_facts, markdown
from turnleaf.core.memories import Memory
from turnleaf.store.files.facts.memory_file import find_fact_lines

MOMENT = datetime(2026, 11, 15, tzinfo=UTC)
LAMP = Memory("lamp", "客廳的燈叫做小明", MOMENT, MOMENT)
TEA = Memory("tea", "oolong\nin the morning", MOMENT, MOMENT)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_fact_of_a_page_stands_where_its_bullet_does(end: str, bom: str) -> None:
    rendered = f"# Memory\n\n{markdown.render(TEA)}\nprose\n\n## 家\n\n{markdown.render(LAMP)}"
    text = bom + rendered.replace("\n", end)
    assert find_fact_lines(text, markdown.parse(text, MOMENT)) == {"tea": 3, "lamp": 11}
    assert LAMP.content in text.split(end)[11 - 1]


def test_a_fact_in_json_stands_where_its_record_does() -> None:
    text = json_facts.EMPTY
    for memory in (LAMP, TEA):
        page = json_facts.parse(text, MOMENT)
        text = page.apply(page.insert(memory))
    assert find_fact_lines(text, json_facts.parse(text, MOMENT)) == {"lamp": 2, "tea": 3}
    assert LAMP.content in text.split("\n")[2 - 1]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_fact_in_json_of_another_layout_has_no_line(indent: int | None) -> None:
    records = [{"id": "lamp", "content": LAMP.content}, {"id": "tea", "content": TEA.content}]
    text = json.dumps(records, indent=indent, ensure_ascii=False)
    assert find_fact_lines(text, json_facts.parse(text, MOMENT)) == {}
