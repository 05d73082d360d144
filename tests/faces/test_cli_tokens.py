"""`token` and `space`: tokens that are shown once, and limits."""

from __future__ import annotations

import json

import pytest

from tests.faces.conftest import Cli
from turnleaf.access_tokens import Tokens
from turnleaf.store.contracts import Stores


def find_space(cli: Cli, text: str) -> str | None:
    """Return whose token a text is; "" for nobody's."""
    with Stores.open(cli.data) as stores:
        found = Tokens(stores.operator_records).find(text)
    return found.space if found else ""


def test_a_token_is_printed_once_and_only_its_hash_is_kept(cli: Cli) -> None:
    text = cli("token", "add", "--space", "bob", "--name", "手機").out.strip()
    assert find_space(cli, text) == "bob"
    listed = cli("token", "list")
    assert "bob" in listed.out
    assert "手機" in listed.out
    assert text not in listed.out
    assert [
        one for one in cli.data.rglob("*") if one.is_file() and text.encode() in one.read_bytes()
    ] == []
    assert (cli.data / "operator.db").stat().st_mode & 0o077 == 0


def test_a_revoked_token_is_nobodys(cli: Cli) -> None:
    made = json.loads(cli("token", "add", "--operator", "--json").out)
    assert find_space(cli, made["token"]) is None
    assert cli("token", "revoke", made["id"]).code == 0
    assert find_space(cli, made["token"]) == ""
    again = cli("token", "revoke", made["id"])
    assert (again.code, "turnleaf token list" in again.err) == (3, True)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--space", "bob", "--operator"),
        ("--space", "../bob"),
        ("--space", "_operator"),
        ("--space", "bob", "--ends", "2001-01-01"),
        ("--space", "bob", "--ends", "soon"),
        ("--space", "bob", "--name", "x" * 101),
        ("--space", "bob", "--name", "a\x1bb"),
    ],
)
def test_what_is_no_token_is_refused_and_leaves_nothing(cli: Cli, options: tuple[str, ...]) -> None:
    assert cli("token", "add", *options).code == 2
    assert json.loads(cli("token", "list", "--json").out) == []


def test_the_last_day_of_a_token_is_the_one_that_is_listed(cli: Cli) -> None:
    cli("token", "add", "--space", "bob", "--ends", "2999-12-31")
    assert "2999-12-31" in cli("token", "list").out


def test_a_space_has_the_usual_limits_with_its_first_token_and_the_operators_none(
    cli: Cli,
) -> None:
    for name in ("bob", "default"):
        cli("token", "add", "--space", name)
    bob, own = (json.loads(cli("space", "limit", one, "--json").out) for one in ("bob", "default"))
    assert (bob["requests_per_minute"], own["requests_per_minute"]) == (120, 0)
    cli("space", "limit", "bob", "--messages", "5", "--bytes", "0")
    cli("token", "add", "--space", "bob")
    changed = json.loads(cli("space", "limit", "bob", "--json").out)
    assert (changed["messages"], changed["bytes"], changed["turns_at_once"]) == (5, 0, 4)
    assert cli("space", "limit", "bob", "--messages", "-1").code == 2
    assert cli("space", "limit", "../bob").code == 2
