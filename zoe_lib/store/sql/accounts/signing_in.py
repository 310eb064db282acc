"""API tokens, sessions of browsers, and failed sign-ins."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.documents.rows import from_row, row_of
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import ConcurrentUpdate, NotFound, TooManyTokens
from zoe_lib.store.people import (
    AppAccess,
    AuditEntry,
    EndedAccess,
    Limits,
    Principal,
    Session,
    SignInAttempt,
    Token,
    User,
)
from zoe_lib.store.sql.accounts.waiting import WaitingBounds, make_room
from zoe_lib.store.sql.connection.prepared import Prepared
from zoe_lib.store.sql.installation.installation import TERMS_VERSIONS, TermsVersions, versions_of
from zoe_lib.store.sql.visible.audit import add as add_audit
from zoe_lib.store.sql.visible.people import check_member
from zoe_lib.store.sql.visible.shares import may_open
from zoe_lib.store.tables.accounts import (
    app_accesses,
    machine_sign_ins,
    memberships,
    sessions,
    sign_in_failures,
    sign_ins,
    tokens,
    users,
)

TOKENS_OF_USER_MAX = 1000
"""Maximum valid tokens of a user, in all tenants; the user alone fills and exhausts it."""
SESSIONS_OF_USER_MAX = 200
"""Maximum browsers in which a user is signed in, in all tenants; only the user fills it."""
SIGN_IN_LOCK = 0x5A6F65_04
_HELD_BY = "tokens.user_name, tokens.tenant, tokens.scopes, tokens.secret_hash, memberships.role"
_IF_VALID = """
    FROM tokens
    JOIN memberships ON memberships.user_name = tokens.user_name AND memberships.tenant = tokens.tenant
    JOIN users ON users.name = tokens.user_name AND NOT users.disabled
    WHERE tokens.id = :id AND (tokens.expires_at_s IS NULL OR tokens.expires_at_s > :now_s)
"""
_PARAMETERS = {"id": "text", "now_s": "double precision"}
_TOKEN = Prepared("zoe_token", _PARAMETERS, f"SELECT {_HELD_BY} {_IF_VALID}")
_TOKEN_AND_TERMS = Prepared("zoe_token_and_terms", _PARAMETERS, f"SELECT {_HELD_BY}, {TERMS_VERSIONS} {_IF_VALID}")


def add_token(connection: Connection, token: Token) -> None:
    """Store a token; ConcurrentUpdate if the id is taken.

    Raises NotFound if its user is not a member of its tenant, or if the token that creates it does not exist, and
    TooManyTokens.
    """
    check_member(connection, token.user, token.tenant)
    # Locked, so that no two calls take the last place.
    connection.execute(select(users.c.name).where(users.c.name == token.user).with_for_update(key_share=True))
    valid = or_(tokens.c.expires_at_s.is_(None), tokens.c.expires_at_s > token.created_at_s)
    mine = select(func.count()).select_from(tokens).where(tokens.c.user_name == token.user, valid)
    if connection.execute(mine).scalar_one() >= TOKENS_OF_USER_MAX:
        raise TooManyTokens(f"{token.user} has {TOKENS_OF_USER_MAX} tokens, which is the maximum; revoke one")
    if token.made_by is not None:
        # Locked, so that a concurrent revocation of the creating token also removes the new one.
        maker = select(tokens.c.id).where(tokens.c.id == token.made_by).with_for_update(read=True, key_share=True)
        if connection.execute(maker).first() is None:
            raise NotFound(f"token {token.made_by} does not exist")
    if connection.execute(insert(tokens).values(row_of(token)).on_conflict_do_nothing()).rowcount != 1:
        raise ConcurrentUpdate(f"the token id {token.id} already exists")


def revoke_token(connection: Connection, token_id: str) -> None:
    """Remove a token and, recursively, all tokens that it created; NotFound."""
    check_names(token_id)
    if connection.execute(delete(tokens).where(tokens.c.id == token_id)).rowcount != 1:
        raise NotFound(f"token {token_id} does not exist")


def end_access(connection: Connection, user: str) -> EndedAccess:
    """Remove all tokens and sessions of a user; NotFound."""
    check_names(user)
    if connection.execute(select(users.c.name).where(users.c.name == user)).first() is None:
        raise NotFound(f"user {user} does not exist")
    # Sessions last: without tokens and sessions, no request can create another.
    ended = [connection.execute(delete(table).where(table.c.user_name == user)) for table in (tokens, sessions)]
    return EndedAccess(*(result.rowcount for result in ended))


def read_tokens(connection: Connection, user: str | None = None) -> Sequence[Token]:
    """Return the tokens of one user or of all."""
    if not storable(user):
        return ()
    statement = select(tokens).order_by(tokens.c.created_at_s, tokens.c.id)
    if user is not None:
        statement = statement.where(tokens.c.user_name == user)
    return [replace(from_row(Token, row), scopes=frozenset(row.scopes)) for row in connection.execute(statement)]


def principal(connection: Connection, token_id: str, now_s: float) -> tuple[Principal, str] | None:
    """Return the principal of a token, and the hash to compare its secret with.

    None if the token is unknown or expired at `now_s`, or its user is disabled.
    """
    if not storable(token_id):
        return None
    for row in _TOKEN.rows(connection, id=token_id, now_s=now_s):
        return _holder(row, token_id), row.secret_hash
    return None


def principal_and_terms(
    connection: Connection, token_id: str, now_s: float
) -> tuple[tuple[Principal, str] | None, TermsVersions | None]:
    """Return the result of `principal` and, if there is one, the versions of the terms of submissions at the same
    moment.

    A submission needs both, and each statement is a round trip.
    """
    if storable(token_id):
        for row in _TOKEN_AND_TERMS.rows(connection, id=token_id, now_s=now_s):
            return (_holder(row, token_id), row.secret_hash), versions_of(row)
    return None, None


def add_session(connection: Connection, session: Session) -> None:
    """Store a session; NotFound if its user is not a member of its tenant. Beyond the maximum, the oldest sessions of
    the user end, so that a sign-in is never refused.
    """
    check_member(connection, session.user, session.tenant)
    connection.execute(insert(sessions).values(row_of(session)))
    mine = select(sessions.c.id).where(sessions.c.user_name == session.user)
    newest_first = mine.order_by(sessions.c.created_at_s.desc(), sessions.c.id)
    surplus = newest_first.offset(SESSIONS_OF_USER_MAX).scalar_subquery()
    connection.execute(delete(sessions).where(sessions.c.id.in_(surplus)))


def read_session(connection: Connection, session_id: str, now_s: float) -> Principal | None:
    """Return the principal of a session; None if the session is unknown or expired, or its user is disabled."""
    found = read_sessions(connection, [session_id], now_s).get(session_id)
    return None if found is None else found[0]


def read_sessions(
    connection: Connection, ids: Collection[str], now_s: float
) -> Mapping[str, tuple[Principal, str | None]]:
    """Return the valid ones of these sessions, by id, each with the hash of its proof."""
    held = (
        select(sessions, memberships.c.role)
        .join(memberships, _member_of(sessions))
        .join(users, _is_enabled_owner(sessions))
    )
    return {
        row.id: (Principal.of_member(row.user_name, row.tenant, row.role, session_id=row.id), row.proof_hash)
        for row in connection.execute(held.where(sessions.c.id.in_(ids), sessions.c.expires_at_s > now_s))
    }


def session_end(connection: Connection, session_id: str) -> float:
    """Return the end of a session, in seconds since the epoch; 0 if it is unknown."""
    found = connection.execute(select(sessions.c.expires_at_s).where(sessions.c.id == session_id))
    return float(found.scalar_one_or_none() or 0.0)


def end_session(connection: Connection, session_id: str) -> None:
    """Remove a session; do nothing if it is unknown."""
    connection.execute(delete(sessions).where(sessions.c.id == session_id))


def claim_unconfirmed(
    connection: Connection, provider: str, before_s: float, now_s: float, at_most: int
) -> Sequence[User]:
    """Return users of a provider with live sessions whom it has not confirmed since `before_s`, and mark them as
    confirmed at `now_s`, so that no other process asks about them.
    """
    signed_in = select(sessions.c.id).where(sessions.c.user_name == users.c.name, sessions.c.expires_at_s > now_s)
    due = (users.c.provider == provider, users.c.confirmed_at_s < before_s, signed_in.exists())
    oldest = select(users.c.name).where(*due).order_by(users.c.confirmed_at_s).limit(at_most)
    claimed = users.c.name.in_(oldest.with_for_update(skip_locked=True).scalar_subquery())
    changed = update(users).where(claimed).values(confirmed_at_s=now_s).returning(users)
    return [from_row(User, row) for row in connection.execute(changed)]


def unconfirm(connection: Connection, names: Collection[str]) -> None:
    """Undo the confirmation of users, since their provider gave no answer."""
    connection.execute(update(users).where(users.c.name.in_(names)).values(confirmed_at_s=0.0))


def end_unknown(connection: Connection, user: str, entry: AuditEntry) -> int:
    """End all sessions of a user whom the provider no longer knows, and return their number; `entry` records it."""
    ended = connection.execute(delete(sessions).where(sessions.c.user_name == user)).rowcount
    if ended:
        add_audit(connection, replace(entry, changes={"sessions": [ended, 0]}))
    return ended


def add_sign_in(
    connection: Connection, attempt: SignInAttempt, replaced: Collection[str], bounds: WaitingBounds, now_s: float
) -> None:
    """Store a sign-in attempt in place of others of its browser, named by the hashes of their cookies;
    TooManyWaiting.
    """
    if replaced:
        connection.execute(delete(sign_ins).where(sign_ins.c.browser.in_(replaced)))
    make_room(connection, sign_ins, attempt.network, now_s, bounds)
    connection.execute(insert(sign_ins).values(row_of(attempt)))


def take_sign_in(connection: Connection, attempt_id: str, now_s: float) -> SignInAttempt | None:
    """Remove an attempt and return it; None if it is unknown, already taken, or expired."""
    taken = delete(sign_ins).where(sign_ins.c.id == attempt_id).returning(sign_ins)
    row = connection.execute(taken).one_or_none()
    return from_row(SignInAttempt, row) if row is not None and row.expires_at_s > now_s else None


def add_app_access(connection: Connection, access: AppAccess) -> None:
    """Store a ticket; NotFound if its session or token no longer exists."""
    for holder, wanted in ((sessions, access.session_id), (tokens, access.token_id)):
        if wanted is not None and connection.execute(select(holder.c.id).where(holder.c.id == wanted)).first() is None:
            raise NotFound("the session or token no longer exists")
    connection.execute(insert(app_accesses).values(row_of(access)))


def enter_app(
    connection: Connection, ticket_id: str, access_id: str, now_s: float, expires_at_s: float
) -> AppAccess | None:
    """Turn a ticket into an access; None if it is unknown, used or expired. Of two concurrent calls, one succeeds."""
    here = (app_accesses.c.id == ticket_id, ~app_accesses.c.entered, app_accesses.c.expires_at_s > now_s)
    changed = update(app_accesses).where(*here).values(id=access_id, entered=True, expires_at_s=expires_at_s)
    row = connection.execute(changed.returning(app_accesses)).one_or_none()
    return None if row is None else from_row(AppAccess, row)


def read_app_access(connection: Connection, access_id: str, now_s: float) -> AppAccess | None:
    """Return a redeemed access.

    None if it, its session or its token has expired, if its user is disabled or may no longer submit there, or if the
    execution is neither the user's nor shared at a level that opens it.
    """
    here = (app_accesses.c.id == access_id, app_accesses.c.entered, app_accesses.c.expires_at_s > now_s)
    row = connection.execute(select(app_accesses).where(*here)).one_or_none()
    if row is None:
        return None
    holder = read_session(connection, row.session_id, now_s) if row.session_id else None
    if row.token_id:
        token_holder = principal(connection, row.token_id, now_s)
        holder = None if token_holder is None else token_holder[0]
    if holder is None or Scope.SUBMIT not in holder.scopes:
        return None
    return from_row(AppAccess, row) if may_open(connection, row.execution_id, row.tenant, row.user_name) else None


def app_accesses_among(connection: Connection, ids: Collection[str], execution_id: str, number: int) -> Collection[str]:
    """Return which of these ids are stored for that port of that execution, valid or not."""
    here = (app_accesses.c.id.in_(ids), app_accesses.c.execution_id == execution_id, app_accesses.c.number == number)
    return set(connection.execute(select(app_accesses.c.id).where(*here)).scalars())


def add_failure(connection: Connection, key: str, at_s: float) -> None:
    """Count a failed sign-in."""
    connection.execute(insert(sign_in_failures).values(key=key, at_s=at_s))


def take_guess(connection: Connection, keys: Sequence[str], limits: Limits, at_s: float) -> str | None:
    """Count a guess under all keys before it is checked, and return None.

    If the count of a key has reached its limit, count nothing and return that key. No two calls, of any process, take
    the last place of a key.
    """
    # Guesses of all processes are serialised: each sees those counted before.
    connection.execute(select(func.pg_advisory_xact_lock(SIGN_IN_LOCK)))
    for key, (since_s, most) in limits.items():
        if read_failures(connection, [key], since_s).get(key, 0) >= most:
            return key
    connection.execute(insert(sign_in_failures), [{"key": key, "at_s": at_s} for key in keys])
    return None


def give_back_guess(connection: Connection, keys: Sequence[str], at_s: float) -> None:
    """Remove a counted guess with these keys and that time, since it was right."""
    failures = sign_in_failures.c
    connection.execute(delete(sign_in_failures).where(failures.key.in_(keys), failures.at_s == at_s))


def read_failures(connection: Connection, keys: Sequence[str], since_s: float) -> Mapping[str, int]:
    """Return the count of each of these keys; zeros are missing."""
    key = sign_in_failures.c.key
    counted = select(key, func.count()).where(key.in_(keys), sign_in_failures.c.at_s >= since_s).group_by(key)
    return {row[0]: row[1] for row in connection.execute(counted)}


def prune(connection: Connection, sessions_to_s: float, failures_to_s: float) -> None:
    """Remove expired sessions and old failures."""
    connection.execute(delete(sessions).where(sessions.c.expires_at_s <= sessions_to_s))
    connection.execute(delete(app_accesses).where(app_accesses.c.expires_at_s <= sessions_to_s))
    connection.execute(delete(sign_ins).where(sign_ins.c.expires_at_s <= sessions_to_s))
    connection.execute(delete(machine_sign_ins).where(machine_sign_ins.c.expires_at_s <= sessions_to_s))
    connection.execute(delete(sign_in_failures).where(sign_in_failures.c.at_s <= failures_to_s))


def _holder(row: Row[Any], token_id: str) -> Principal:
    return Principal.of_member(row.user_name, row.tenant, row.role, frozenset(row.scopes), token_id)


def _member_of(holder: Table) -> ColumnElement[bool]:
    return and_(holder.c.user_name == memberships.c.user_name, holder.c.tenant == memberships.c.tenant)


def _is_enabled_owner(holder: Table) -> ColumnElement[bool]:
    return and_(holder.c.user_name == users.c.name, users.c.disabled.is_(False))
