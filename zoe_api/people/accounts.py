"""The client, and API tokens."""

from __future__ import annotations

from fastapi import Response

from zoe_api.access.access import AsSubmitter, Reader, check
from zoe_api.access.views import token_view
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import AccountsDep, Caller
from zoe_client.wire import PrincipalView, TokenList, TokenRequest, TokenView
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Token
from zoe_lib.tokens.api_tokens import TokenText

router = api_router(tag="people")


@router.get("/me", response_model=PrincipalView)
def get_me(principal: Reader) -> PrincipalView:
    """Return the user, tenant and scopes of the token."""
    return PrincipalView(
        user=principal.user,
        tenant=principal.tenant,
        role=principal.role,
        admin=Scope.ADMIN in principal.scopes,
        scopes=sorted(principal.scopes),
    )


@router.get("/tokens", response_model=TokenList)
def list_tokens(principal: Reader, accounts: AccountsDep) -> TokenList:
    """List your tokens, without their secrets."""
    return TokenList(tokens=[token_view(token) for token in accounts.tokens(principal.user)])


@router.post("/tokens", status_code=201, response_model=TokenView)
def add_token(body: TokenRequest, caller: AsSubmitter) -> TokenView:
    """Make a token. Its scopes and lifetime are at most those of the token used, and both end together; a token made by
    a session always expires. The response shows the secret once.
    """
    accounts = caller.services.accounts
    missing = set(body.scopes) - caller.principal.scopes
    if missing:
        raise ApiProblem(Code.SCOPE_MISSING, f"the token used lacks: {', '.join(sorted(missing))}")
    now_s, text = caller.services.clock.now_s(), TokenText.new()
    token = Token(
        id=text.id,
        user=caller.user,
        tenant=caller.tenant,
        secret_hash=text.secret_hash,
        scopes=frozenset(body.scopes),
        created_at_s=now_s,
        expires_at_s=_end_of(body.lifetime_s, now_s, caller),
        note=body.note,
        made_by=caller.principal.token_id or None,
    )
    accounts.add_token(token)
    return token_view(token).model_copy(update={"secret": str(text)})


@router.delete("/tokens/{token_id}", status_code=204)
def revoke_token(token_id: str, principal: Reader, accounts: AccountsDep) -> Response:
    """Revoke one of your tokens and all tokens made with it. A token may revoke itself; others need the scope
    `submit`.
    """
    if all(token.id != token_id for token in accounts.tokens(principal.user)):
        raise NotFound(f"token {token_id} does not exist")
    if token_id != principal.token_id:
        check(principal, Scope.SUBMIT)
    accounts.revoke_token(token_id)
    return Response(status_code=204)


def _end_of(lifetime_s: float | None, now_s: float, caller: Caller) -> float | None:
    """Return when a new token ends: never after its maker, or a leaked token could be renewed forever."""
    ends = [
        token.expires_at_s
        for token in caller.services.accounts.tokens(caller.user)
        if token.id == caller.principal.token_id
    ]
    if caller.principal.session_id:
        ends.append(now_s + caller.services.settings.session_token_lifetime_s_max)
    ends.append(None if lifetime_s is None else now_s + lifetime_s)
    return min((end_s for end_s in ends if end_s is not None), default=None)
