"""Who is asking, and API tokens."""

from __future__ import annotations

import secrets
import time

from fastapi import APIRouter, Response

from zoe_api.dependencies import TOKEN_PREFIX, Reader, StoreDep, secret_hash
from zoe_api.problems import ApiProblem
from zoe_lib.store.base import NotFound, Token
from zoe_lib.wire import PrincipalView, TokenList, TokenRequest, TokenView

router = APIRouter(tags=["people"])


@router.get("/me", response_model=PrincipalView)
def me(who: Reader) -> PrincipalView:
    """The user, tenant and scopes of the token."""
    return PrincipalView(user=who.user, tenant=who.tenant, admin=who.admin, scopes=sorted(who.scopes))


@router.get("/tokens", response_model=TokenList)
def tokens(who: Reader, store: StoreDep) -> TokenList:
    """The own tokens, without their secrets."""
    return TokenList(tokens=[_view(token) for token in store.tokens(who.user)])


@router.post("/tokens", status_code=201, response_model=TokenView)
def add_token(body: TokenRequest, who: Reader, store: StoreDep) -> TokenView:
    """Make a token with no more scopes than the one used. Its secret is shown this once."""
    missing = set(body.scopes) - who.scopes
    if missing:
        raise ApiProblem(403, "scope_missing", f"Your token lacks: {', '.join(sorted(missing))}")
    now_s, secret = time.time(), secrets.token_hex(24)
    token = Token(
        id=secrets.token_hex(6),
        user=who.user,
        tenant=who.tenant,
        secret_hash=secret_hash(secret),
        scopes=frozenset(body.scopes),
        created_at_s=now_s,
        expires_at_s=None if body.lifetime_s is None else now_s + body.lifetime_s,
        note=body.note,
    )
    store.add_token(token)
    return _view(token).model_copy(update={"secret": f"{TOKEN_PREFIX}_{token.id}_{secret}"})


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: str, who: Reader, store: StoreDep) -> Response:
    """Make an own token worthless at once."""
    if all(token.id != token_id for token in store.tokens(who.user)):
        raise NotFound(f"no token {token_id}")
    store.revoke_token(token_id)
    return Response(status_code=204)


def _view(token: Token) -> TokenView:
    return TokenView(
        id=token.id,
        user=token.user,
        tenant=token.tenant,
        scopes=sorted(token.scopes),
        created_at_s=token.created_at_s,
        expires_at_s=token.expires_at_s,
        note=token.note,
    )
