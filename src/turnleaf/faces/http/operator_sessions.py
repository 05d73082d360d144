"""Operator sessions: who came by a one-time link, and what only they may do."""

from __future__ import annotations

import hashlib
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from turnleaf.faces.http.problems import Refused, document_problems
from turnleaf.faces.http.schemas import JsonModel
from turnleaf.faces.operator_links import SECRET_BYTES, redeem_link

if TYPE_CHECKING:
    from pathlib import Path

router = APIRouter(tags=["models"])

OPERATOR = "turnleaf.operator"
"""Where a request's scope says whether it is the operator's."""
HAS_SPACE_TOKEN = "turnleaf.has-space-token"  # noqa: S105 - the name of an entry
"""Where a request's scope says whether it came with the token of a space."""
SESSIONS = "turnleaf.sessions"
"""Where a request's scope has the sessions."""
MOST_SESSIONS = 16
ONLY_OPERATOR = (
    "only the operator may change this; run turnleaf link on the server's computer, and open "
    "the printed address"
)
SPENT = (
    "this link has been used or has expired; run turnleaf link on the server's computer for "
    "a new one"
)


class OperatorSessions:
    """The browsers that came by a link, for as long as the server runs."""

    def __init__(self, links: Path, port: int) -> None:
        self._links = links
        self._known: list[bytes] = []
        self.cookie = f"turnleaf-operator-{port}"
        """The cookie's name: browsers keep one jar for all ports of a host."""

    def begin(self, link: str) -> str | None:
        """Return the secret of a new session; None where the link is no good."""
        if not redeem_link(self._links, link):
            return None
        secret = secrets.token_urlsafe(SECRET_BYTES)
        self._known = [*self._known, _hash(secret)][-MOST_SESSIONS:]
        return secret

    def is_known(self, secret: str | None) -> bool:
        """Whether a session has this secret."""
        # Hashes are compared, so that the time it takes tells nothing of a secret.
        return secret is not None and _hash(secret) in self._known

    def end(self, secret: str | None) -> None:
        """End a session."""
        gone = _hash(secret or "")
        self._known = [one for one in self._known if one != gone]


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def is_operator(request: Request) -> bool:
    """Whether a request is the operator's."""
    return bool(request.scope.get(OPERATOR))


def has_space_token(request: Request) -> bool:
    """Whether a request came with the token of a space, and so from somebody who runs nothing."""
    return bool(request.scope.get(HAS_SPACE_TOKEN))


def refuse_others(request: Request) -> None:
    """Refuse a request that is not the operator's."""
    refuse_unless(is_operator(request))


def refuse_unless(is_operator: bool) -> None:  # noqa: FBT001 - it is all that this is about
    """Refuse what only the operator may do."""
    if not is_operator:
        raise Refused(HTTPStatus.FORBIDDEN, ONLY_OPERATOR, code="operator-only")


OPERATOR_ONLY = Depends(refuse_others)
IsOperator = Annotated[bool, Depends(is_operator)]
HasSpaceToken = Annotated[bool, Depends(has_space_token)]


class OperatorState(JsonModel):
    """Whether the client is the operator."""

    operator: bool


@router.get("/operator/{link}", include_in_schema=False)
def open_link(link: str, request: Request) -> Response:
    """Begin an operator session and go to the page; a link works once."""
    sessions: OperatorSessions | None = request.scope.get(SESSIONS)
    secret = sessions.begin(link) if sessions else None
    if sessions is None or secret is None:
        raise Refused(HTTPStatus.FORBIDDEN, SPENT, code="operator-only")
    answer = RedirectResponse("../", HTTPStatus.SEE_OTHER)
    # No script of a page can read it, and no request that another site causes carries it.
    answer.set_cookie(sessions.cookie, secret, httponly=True, samesite="strict")
    return answer


@router.get("/api/operator", summary="Check whether this client is the operator")
def get_operator(operator: IsOperator) -> OperatorState:
    """Return whether keys, addresses and models may be changed."""
    return OperatorState(operator=operator)


@router.delete(
    "/api/operator",
    summary="End the operator session",
    status_code=204,
    response_class=Response,
    responses=document_problems(403),
    dependencies=[OPERATOR_ONLY],
)
def end_operator(request: Request) -> Response:
    """End the session of this browser."""
    sessions: OperatorSessions | None = request.scope.get(SESSIONS)
    answer = Response(status_code=204)
    if sessions is not None:
        sessions.end(request.cookies.get(sessions.cookie))
        answer.delete_cookie(sessions.cookie, httponly=True, samesite="strict")
    return answer
