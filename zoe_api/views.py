"""What of the store goes over the wire in more than one place."""

from __future__ import annotations

from zoe_lib.store.people import Token
from zoe_lib.wire import TokenView


def token_view(token: Token) -> TokenView:
    """A token without its secret."""
    return TokenView(
        id=token.id,
        user=token.user,
        tenant=token.tenant,
        scopes=sorted(token.scopes),
        created_at_s=token.created_at_s,
        expires_at_s=token.expires_at_s,
        note=token.note,
        made_by=token.made_by,
    )
