"""A schema is written out as a form that a small model can follow."""

from __future__ import annotations

from turnleaf.core.model_dialogue import describe_form, request_form

SCHEMA = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "fact": {"type": "string"},
                    "until": {"type": ["string", "null"]},
                    "kind": {"type": "string", "enum": ["new", "舊"]},
                },
            },
        }
    },
}


def test_a_form_names_every_field_and_what_it_may_be() -> None:
    assert describe_form(SCHEMA) == (
        '{"facts": [{"fact": string, "until": string | null, "kind": "new" | "舊"}, …]}'
    )


def test_the_form_follows_the_system_prompt() -> None:
    asked = request_form("Find facts.", SCHEMA)
    assert asked.startswith("Find facts.\n\nAnswer with one JSON object")
    assert asked.endswith(describe_form(SCHEMA))
