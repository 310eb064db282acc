"""Responses that several routers share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from zoe_client.wire import EventView, ExecutionView, TokenView
from zoe_lib.domain.cluster.cluster import Node, NodeHold
from zoe_lib.domain.cluster.policy import Policy, shown_limits
from zoe_lib.domain.executions.events import Modified
from zoe_lib.domain.executions.execution import Execution, ServiceState
from zoe_lib.domain.executions.limits import EVERY
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.documents.codec import decode, encode
from zoe_lib.store.people import Principal, Token
from zoe_lib.store.values import JournalEntry


def visible_policy(policy: Policy, principal: Principal) -> Policy:
    """Return the policy with entries of the user's own tenant only; in full for operators."""
    if principal.operator:
        return policy
    tenants, users = shown_limits(policy)
    own = f"{principal.tenant}/{principal.user}"
    return replace(
        policy,
        tenant_shares={name: share for name, share in policy.tenant_shares.items() if name == principal.tenant},
        tenant_limits={name: limit for name, limit in tenants.items() if name == principal.tenant},
        user_limits={name: limit for name, limit in users.items() if name in (principal.tenant, own)},
        priorities_max={
            name: most for name, most in policy.priorities_max.items() if name in (principal.tenant, EVERY)
        },
        node_holds={node: _visible_hold(hold, principal) for node, hold in policy.node_holds.items()},
        node_windows={
            node: tuple(_visible_hold(hold, principal) for hold in windows)
            for node, windows in policy.node_windows.items()
        },
    )


def _visible_hold(hold: NodeHold, principal: Principal) -> NodeHold:
    """Return a reservation as shown to other tenants: like a drained node."""
    return hold if hold.tenant in (None, principal.tenant) else replace(hold, tenant=None, note="")


_PAGE = 500
POLICY_SET = "policy_set"
DETAIL = "detail"
"""The key of events with the platform's own messages, which contain addresses and the like."""


def all_entries(store: ExecutionStore, execution_id: str) -> Iterator[JournalEntry]:
    """Return all journal entries of an execution, in order."""
    after = 0
    while entries := store.journal(after, _PAGE, execution_id=execution_id):
        after = entries[-1].id
        yield from entries


def event_view(entry: JournalEntry, principal: Principal) -> EventView:
    """Return a journal entry, without the operators' fields for other users."""
    data = dict(entry.data if principal.operator else _for_members(entry, principal))
    if entry.kind == Modified.kind:
        # Descriptions contain values of environment variables, which shares exclude.
        data = {key: _without_application(value) for key, value in data.items()}
    return EventView.model_validate(replace(entry, data=data))


def _without_application(value: object) -> object:
    return {key: entry for key, entry in value.items() if key != "application"} if isinstance(value, Mapping) else value


# Users of a shared execution see neither the platform's own messages nor its dependencies, which the owner finds in the
# execution itself.
_NOT_FOR_MEMBERS = (DETAIL, "on", "conditions")


def _for_members(entry: JournalEntry, principal: Principal) -> Mapping[str, Any]:
    if entry.execution_id is not None:
        return {key: value for key, value in entry.data.items() if key not in _NOT_FOR_MEMBERS}
    if entry.kind != POLICY_SET:
        return {}  # no other fact of the installation is known to be public
    try:
        return dict(encode(visible_policy(decode(Policy, entry.data), principal)))
    except ValueError:  # written by a version with other fields
        return {}


def with_details(view: ExecutionView, entries: Iterable[JournalEntry], principal: Principal) -> ExecutionView:
    """Add the platform's own messages to the execution and its services, for operators."""
    if not principal.operator:
        return view
    details = {entry.data.get("service_id"): entry.data[DETAIL] for entry in entries if entry.data.get(DETAIL)}
    services = [service.model_copy(update={DETAIL: details.get(service.id, "")}) for service in view.services]
    return view.model_copy(update={"services": services, DETAIL: details.get(None, "")})


def node_texts(texts: Mapping[str, Mapping[str, str]], nodes: Iterable[Node], principal: Principal) -> dict[str, Any]:
    """Return why each node refuses each component; for operators, also the problems of nodes that are not ready."""
    wrong = {node.name: node.message for node in nodes if principal.operator and not node.ready and node.message}
    return {
        name: {part: f"{text}: {wrong[name]}" if name in wrong else text for part, text in by_part.items()}
        for name, by_part in texts.items()
    }


def waited_for(execution: Execution, nodes: Iterable[Node], principal: Principal) -> dict[str, Any]:
    """Return the nodes that are not ready and have placed services that have not started, per component."""
    away = {node.name: node for node in nodes if not node.ready}
    texts: dict[str, dict[str, str]] = {}
    for service in execution.services:
        if service.state is ServiceState.STARTING and service.node in away:
            texts.setdefault(service.node, {})[service.component] = "the node is not ready"
    return node_texts(texts, away.values(), principal)


def token_view(token: Token) -> TokenView:
    """Return a token without its secret."""
    return TokenView.model_validate(token).model_copy(update={"scopes": sorted(token.scopes)})
