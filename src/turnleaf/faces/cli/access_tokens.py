"""`token` and `space`: who else may use a server, and how much of it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING

import click

from turnleaf.access_tokens import Tokens
from turnleaf.core.serialization import to_iso
from turnleaf.core.setting_kinds import LARGEST, is_space_name
from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, pass_workspace
from turnleaf.faces.cli.output import (
    flatten,
    format_day,
    format_minute,
    localize,
    note,
    say,
    say_json,
    say_result,
    show_table,
)
from turnleaf.space_limits import SpaceMeter, limit_new_space, read_limits, set_limits
from turnleaf.store.clock_and_ids import local_now

if TYPE_CHECKING:
    from turnleaf.access_tokens import AccessToken

HEADINGS = ("ID", "Space", "Name", "Ends", "Last used")
COUNT = click.IntRange(0, LARGEST)


@click.group()
def token() -> None:
    """Create, list and revoke a server's access tokens.

    A space token gives access to one space. An operator token gives access to everything; its
    requests choose a space with the header Turnleaf-Space. Only a token's hash is stored.

    \b
    turnleaf token add --space bob --name "Bob's phone"
    turnleaf token list
    turnleaf token revoke k7m2q9x4vd
    """  # noqa: D301 - click reads the character, not its name


@token.command()
@click.option("--space", metavar="NAME", type=TEXT, help="Space that the token gives access to.")
@click.option("--operator", is_flag=True, help="Create an operator token.")
@click.option(
    "--name", metavar="TEXT", type=TEXT, default="", help="Name of the token, shown in the list."
)
@click.option(
    "--ends",
    metavar="DATE",
    type=TEXT,
    help="Last day on which the token is valid, such as 2027-01-31.",
)
@as_json
@pass_workspace
def add(
    workspace: Workspace,
    space: str | None,
    name: str,
    ends: str | None,
    *,
    operator: bool,
    as_json: bool,
) -> None:
    """Create a token and print it; it is shown only once.

    A space without limits gets the default ones; turnleaf space limit shows them. Once there is a
    token, the server accepts no request without one, not even from this computer.
    """
    if operator == bool(space):
        message = "a token needs either --space NAME or --operator; add one of them"
        raise InvalidInput(message)
    records = workspace.stores.operator_records
    made, text = Tokens(records).add(space, name=name, ends=_read_day(ends))
    if space:
        limit_new_space(records, space)
    if as_json:
        say_json(_describe(made) | {"token": text})
        return
    note(f"This token is shown only once (to revoke it: turnleaf token revoke {made.id}):")
    say(text)


@token.command("list")
@as_json
@pass_workspace
def list_(workspace: Workspace, *, as_json: bool) -> None:
    """List the tokens that are not revoked.

    The text of a token is never shown again.
    """
    found = Tokens(workspace.stores.operator_records).list_all()
    if as_json:
        say_json([_describe(one) for one in found])
    elif found:
        show_table(HEADINGS, [_make_row(one) for one in found])
    else:
        note("There are no tokens. Try: turnleaf token add --space NAME")


@token.command()
@click.argument("token_id", metavar="ID", type=TEXT)
@as_json
@pass_workspace
def revoke(workspace: Workspace, token_id: str, *, as_json: bool) -> None:
    """Revoke the token with this ID.

    A running server stops accepting the token within seconds.
    """
    gone = Tokens(workspace.stores.operator_records).revoke(token_id)
    say_result({"revoked": gone.id}, f"revoked {gone.id}", as_json=as_json)


def _read_day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        message = f"{text!r:.80} is not a date; write one such as 2027-01-31"
        raise InvalidInput(message) from None


def _describe(one: AccessToken) -> dict[str, str | None]:
    return {
        "id": one.id,
        "space": one.space,
        "name": one.name,
        "createdAt": to_iso(one.created_at),
        "endsAt": to_iso(one.ends_at) if one.ends_at else None,
        "lastUsedAt": to_iso(one.last_used_at) if one.last_used_at else None,
    }


def _make_row(one: AccessToken) -> tuple[str, ...]:
    is_over = one.is_over(local_now())
    ends = format_day(one.ends_at) if one.ends_at else localize("does not expire")
    return (
        one.id,
        one.space or localize("(operator)"),
        flatten(one.name),
        localize("expired") if is_over else ends,
        format_minute(one.last_used_at) if one.last_used_at else localize("not yet"),
    )


@click.group()
def space() -> None:
    """Show and set how much a space may use.

    \b
    turnleaf space limit bob
    turnleaf space limit bob --requests-per-minute 60 --messages 50000
    """  # noqa: D301 - click reads the character, not its name


@space.command()
@click.argument("name", type=TEXT)
@click.option("--requests-per-minute", metavar="N", type=COUNT, help="Maximum requests per minute.")
@click.option("--model-calls-per-day", metavar="N", type=COUNT, help="Maximum model calls per day.")
@click.option(
    "--model-tokens-per-day", metavar="N", type=COUNT, help="Maximum model tokens per day."
)
@click.option("--messages", metavar="N", type=COUNT, help="Maximum stored messages.")
@click.option("--bytes", metavar="N", type=COUNT, help="Maximum bytes of stored conversations.")
@click.option("--turns-at-once", metavar="N", type=COUNT, help="Maximum answers at the same time.")
@as_json
@pass_workspace
def limit(workspace: Workspace, /, name: str, *, as_json: bool, **changes: int | None) -> None:
    """Show the limits of the space NAME, or change some.

    0 means no limit. Days begin at 00:00 UTC. A running server applies changes within seconds.
    """
    if not is_space_name(name):
        message = (
            f"{name!r:.80} cannot be the name of a space; turnleaf token list shows the spaces "
            "that have tokens"
        )
        raise InvalidInput(message)
    records = workspace.stores.operator_records
    is_change = any(value is not None for value in changes.values())
    limits = set_limits(records, name, **changes) if is_change else read_limits(records, name)
    with closing(workspace.stores.open_space(name)) as stores:
        used = SpaceMeter(stores, local_now).read_used()
    if as_json:
        say_json(asdict(limits) | {"used_today": used._asdict()})
        return
    today = {"model_calls_per_day": used.calls, "model_tokens_per_day": used.tokens}
    rows = [
        (
            f"--{field.replace('_', '-')}",
            f"{value:,}" if value else localize("no limit"),
            f"{today[field]:,}" if field in today else "",
        )
        for field, value in asdict(limits).items()
    ]
    show_table(("Limit", "At most", "Today"), rows)
