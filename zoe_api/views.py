"""What of the store goes over the wire in more than one place."""

from __future__ import annotations

from dataclasses import replace

from zoe_lib.domain.cluster import NodeHold
from zoe_lib.domain.policy import Policy
from zoe_lib.store.people import Principal, Token
from zoe_lib.wire import TokenView


def visible_policy(policy: Policy, who: Principal) -> Policy:
    """Return the policy with what it says of the own tenant; with all that it says for operators."""
    if who.operator:
        return policy
    return replace(
        policy,
        tenant_shares={name: share for name, share in policy.tenant_shares.items() if name == who.tenant},
        tenant_limits={name: limit for name, limit in policy.tenant_limits.items() if name == who.tenant},
        user_limits={name: limit for name, limit in policy.user_limits.items() if name == who.tenant},
        node_holds={node: _visible_hold(hold, who) for node, hold in policy.node_holds.items()},
    )


def _visible_hold(hold: NodeHold, who: Principal) -> NodeHold:
    """For others than its tenant, a reserved node is as closed as one that is drained."""
    return hold if hold.tenant in (None, who.tenant) else replace(hold, tenant=None, note="")


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
