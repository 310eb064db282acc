"""The caller's own executions that hold what a waiting one lacks."""

from __future__ import annotations

from zoe_api.services.dependencies import Caller
from zoe_client.vocabulary import ACTIVE_STATES, ReasonCode
from zoe_client.wire import OwnUseView
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import gateway_reservation
from zoe_lib.domain.executions.limits import reserved_resources
from zoe_lib.domain.executions.own_use import own_use
from zoe_lib.domain.values.resources import total
from zoe_lib.store.values import ExecutionQuery

_FOR_ROOM = (ReasonCode.NO_RESOURCES, ReasonCode.BEHIND_IN_QUEUE, ReasonCode.SCAN_LIMIT)
_EXAMINED_MAX = 200
_SHOWN_MAX = 5


def own_use_view(caller: Caller, application: Application, code: str | None) -> OwnUseView | None:
    """Return which of the caller's executions hold what the application lacks; None unless it waits for room."""
    if code not in _FOR_ROOM:
        return None
    query = ExecutionQuery(
        visibility=caller.principal.visibility, user=caller.user, states=ACTIVE_STATES, limit=_EXAMINED_MAX
    )
    own = {execution.id: reserved_resources(execution) for execution in caller.store.executions(query).executions}
    if not own:
        return None
    nodes, now_s = caller.store.platform(), caller.services.clock.now_s()
    usable = [node for node in nodes if node.open_to(caller.tenant, now_s, now_s)]
    held = caller.store.held_on_nodes(gateway_reservation(nodes))
    reserved = total(held[node.name].reserved for node in usable if node.name in held)
    found = own_use(application.core_resources(), total(node.usable for node in usable), reserved, own)
    if found is None:
        return None
    return OwnUseView(
        ids=list(found.ids[:_SHOWN_MAX]), count=len(found.ids), what=found.what, held=found.held, total=found.total
    )
