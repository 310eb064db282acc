"""Users, tenants, memberships and API tokens."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, or_, select
from sqlalchemy.dialects.postgresql import insert

from zoe_lib.store.base import ConcurrentUpdate, NotFound, Principal, Token
from zoe_lib.store.rows import to_token, token_values
from zoe_lib.store.tables import memberships, tenants, tokens, users

ADMIN = "admin"


def ensure_member(connection: Connection, user: str, tenant: str, role: str) -> None:
    """Make user, tenant and membership, or change the role."""
    connection.execute(insert(users).values(name=user).on_conflict_do_nothing())
    connection.execute(insert(tenants).values(name=tenant).on_conflict_do_nothing())
    member = insert(memberships).values(user_name=user, tenant=tenant, role=role)
    key = [memberships.c.user_name, memberships.c.tenant]
    connection.execute(member.on_conflict_do_update(index_elements=key, set_={"role": role}))


def read_tenants(connection: Connection) -> Sequence[str]:
    """All tenants by name."""
    return connection.execute(select(tenants.c.name).order_by(tenants.c.name)).scalars().all()


def add_token(connection: Connection, token: Token) -> None:
    """Keep a token of a member."""
    member = (memberships.c.user_name == token.user, memberships.c.tenant == token.tenant)
    if connection.execute(select(memberships.c.role).where(*member)).first() is None:
        raise NotFound(f"{token.user} is no member of {token.tenant}")
    if connection.execute(insert(tokens).values(token_values(token)).on_conflict_do_nothing()).rowcount != 1:
        raise ConcurrentUpdate(f"the token id {token.id} is taken")


def revoke_token(connection: Connection, token_id: str) -> None:
    """Forget a token."""
    if connection.execute(delete(tokens).where(tokens.c.id == token_id)).rowcount != 1:
        raise NotFound(f"there is no token {token_id}")


def read_tokens(connection: Connection, user: str | None) -> Sequence[Token]:
    """Tokens of a user, or all; oldest first."""
    statement = select(tokens).order_by(tokens.c.created_at_s, tokens.c.id)
    if user is not None:
        statement = statement.where(tokens.c.user_name == user)
    return [to_token(row) for row in connection.execute(statement)]


def principal(connection: Connection, token_id: str, now_s: float) -> tuple[Principal, str] | None:
    """Who holds a token that is not expired, and the hash of its secret."""
    same_member = (tokens.c.user_name == memberships.c.user_name) & (tokens.c.tenant == memberships.c.tenant)
    in_time = or_(tokens.c.expires_at_s.is_(None), tokens.c.expires_at_s > now_s)
    row = connection.execute(
        select(tokens, memberships.c.role).join(memberships, same_member).where(tokens.c.id == token_id, in_time)
    ).one_or_none()
    if row is None:
        return None
    who = Principal(row.user_name, row.tenant, row.role == ADMIN, frozenset(row.scopes), row.id)
    return who, row.secret_hash
