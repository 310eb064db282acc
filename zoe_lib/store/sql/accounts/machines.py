"""Machines' requests for tokens, which a signed-in user allows in a browser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.store.documents.rows import from_row, row_of
from zoe_lib.store.documents.text import storable
from zoe_lib.store.errors import ConcurrentUpdate, NotFound
from zoe_lib.store.people import MachineSignIn, Token
from zoe_lib.store.sql.accounts.signing_in import add_token, read_session
from zoe_lib.store.sql.accounts.waiting import WaitingBounds, make_room
from zoe_lib.store.tables.accounts import machine_sign_ins

_IT = machine_sign_ins.c


def ask(connection: Connection, wanted: MachineSignIn, bounds: WaitingBounds) -> None:
    """Store a request, and remove expired ones; TooManyWaiting, or ConcurrentUpdate if the code is taken."""
    make_room(connection, machine_sign_ins, wanted.network, wanted.asked_at_s, bounds)
    if connection.execute(insert(machine_sign_ins).values(row_of(wanted)).on_conflict_do_nothing()).rowcount != 1:
        raise ConcurrentUpdate("the code is taken")


def read(connection: Connection, code: str, now_s: float) -> MachineSignIn | None:
    """Return the undecided request with this code; None if there is none, or it has expired."""
    if not storable(code):
        return None
    row = connection.execute(select(machine_sign_ins).where(*_open(code, now_s))).one_or_none()
    return None if row is None else _request(row)


def decide(connection: Connection, code: str, session_id: str | None, now_s: float) -> None:
    """Allow a request by a session, or refuse it without one; NotFound if it is no longer open."""
    values = {"session_id": session_id, "refused": session_id is None}
    changed = storable(code) and connection.execute(update(machine_sign_ins).where(*_open(code, now_s)).values(values))
    if not changed or changed.rowcount != 1:
        raise NotFound("no machine is waiting with this code, or its request has expired")


def redeem(connection: Connection, token: Token, request_id: str, now_s: float) -> Token | MachineSignIn | None:
    """Store the token of an allowed request, remove the request, and return the token with its owner.

    Return the request while it waits, or if it is refused; None if it is unknown or has expired, or if the session that
    allowed it has ended. `token` has the id, the secret's hash and the latest end. Of two calls at the same time, one
    gets a token.
    """
    found = connection.execute(select(machine_sign_ins).where(_IT.id == request_id).with_for_update()).one_or_none()
    if found is None or found.expires_at_s <= now_s:
        return None
    if found.session_id is None:
        return _request(found)
    connection.execute(delete(machine_sign_ins).where(_IT.id == request_id))
    holder = read_session(connection, found.session_id, now_s)
    if holder is None:
        return None
    ends = (token.expires_at_s, None if found.lifetime_s is None else now_s + found.lifetime_s)
    made = replace(
        token,
        user=holder.user,
        tenant=holder.tenant,
        scopes=_request(found).scopes & holder.scopes,
        expires_at_s=min(end_s for end_s in ends if end_s is not None),
        note=f"zoe login on {found.machine}",
    )
    add_token(connection, made)
    return made


def _open(code: str, now_s: float) -> tuple[Any, ...]:
    return (_IT.code == code, _IT.expires_at_s > now_s, _IT.session_id.is_(None), _IT.refused.is_(False))


def _request(row: Row[Any]) -> MachineSignIn:
    return replace(from_row(MachineSignIn, row), scopes=frozenset(row.scopes))
