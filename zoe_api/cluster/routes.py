"""The cluster: nodes, usage, policy, status."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import Response
from pydantic import ValidationError

from zoe_api.access.access import AsOperator, AsReader, Reader, check
from zoe_api.access.views import visible_policy
from zoe_api.access.wire_forms import node_view, policy_of, policy_view
from zoe_api.cluster.policy_changes import Installed, mistakes
from zoe_api.cluster.replays import replay
from zoe_api.http.audit_changes import note_changes
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import MASTER_AWAY_HINT, ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.questions.bounded import Bound, question
from zoe_api.services.dependencies import (
    ClockDep,
    IfMatch,
    MasterDep,
    StoreDep,
    ask,
    check_if_match,
    etag,
)
from zoe_api.services.master_status import MasterStatus
from zoe_api.services.plugins import plugins_of, policy_problems
from zoe_client.wire import (
    Diagnostic,
    DryRunView,
    NodeList,
    PluginList,
    PluginView,
    PolicyView,
    ReplayRequest,
    ReplayView,
    StatusView,
)
from zoe_client.words.plain_errors import sentence
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.cluster.cluster import gateway_reservation
from zoe_lib.domain.cluster.policy import Policy, without_ended_holds
from zoe_lib.domain.executions.gateway import HeldOnNode
from zoe_lib.messaging.client import MasterClient, MasterRefused, MasterUnreachable
from zoe_lib.store.documents.codec import encode
from zoe_lib.store.errors import NotFound
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore

router = api_router(tag="cluster")


@router.get("/nodes", response_model=NodeList)
def list_nodes(clock: ClockDep, principal: Reader, store: StoreDep) -> NodeList:
    """List the nodes from the master's last observation, with Zoe's reservations on them.

    `message` is for operators: it may name addresses inside the cluster.
    """
    nodes = store.platform()
    there = store.held_on_nodes(gateway_reservation(nodes))
    policy, now_s = visible_policy(store.policy(), principal), clock.now_s()
    views = []
    for node in nodes:
        here = there.get(node.name, HeldOnNode())
        shown = node if principal.operator else replace(node, message="")
        views.append(node_view(shown, here.reserved, here.elastic, here.services, policy.holds_of(node.name, now_s)))
    return NodeList(nodes=views)


@router.get("/policy", response_model=PolicyView)
def get_policy(principal: Reader, store: StoreDep, response: Response) -> PolicyView:
    """Return the policy in force. Users see shares, limits and reserved nodes of their own tenant only; operators see
    all.
    """
    policy = store.policy()
    response.headers["ETag"] = etag(policy.version)
    return policy_view(visible_policy(policy, principal))


@router.get("/plugins", response_model=PluginList)
def list_plugins(_who: Reader, master: MasterDep) -> PluginList:
    """List the filters, weighers and back-ends that policy and settings can name, with the distribution of each.

    `problem`: why a plugin cannot be used, by the API's installation and, while the master answers, by the master's.
    """
    return PluginList(plugins=[PluginView.model_validate(plugin) for plugin in plugins_of(master)])


@router.put("/policy", response_model=PolicyView)
def set_policy(
    clock: ClockDep,
    body: PolicyView,
    caller: AsOperator,
    store: StoreDep,
    master: MasterDep,
    response: Response,
    if_match: IfMatch = None,
) -> PolicyView:
    """Put a policy in force at once; with If-Match, only if it has not changed meanwhile.

    Operators may only change which nodes are drained or reserved. Expired holds are dropped.
    """
    present, now_s = store.policy(), clock.now_s()
    policy = _sound(without_ended_holds(policy_of(body, present), now_s), master)
    check_if_match(if_match, present.version)
    _check_names(body, present, store, now_s)
    as_held = replace(policy, node_holds=present.node_holds, node_windows=present.node_windows)
    if replace(as_held, version=present.version) != present:
        check(caller.principal, Scope.ADMIN)
    stored = store.set_policy(policy, present.version, now_s, caller.request_id)
    note_changes(
        caller.request, policy_view(present).model_dump(mode="json"), policy_view(stored).model_dump(mode="json")
    )
    master.hint()
    response.headers["ETag"] = etag(stored.version)
    return policy_view(stored)


@router.post("/policy/dry-run", response_model=DryRunView)
@question(Bound.STEPS_OF_MASTER)
def try_policy(clock: ClockDep, body: PolicyView, caller: AsOperator, store: StoreDep, master: MasterDep) -> DryRunView:
    """Compare a proposed policy with the one in force on the present queue; nothing changes."""
    _check_names(body, store.policy(), store, clock.now_s())
    return DryRunView(
        **ask(
            master,
            "dry_run",
            {"policy": encode(_sound(policy_of(body), master))},
            caller.request,
            caller.user,
        )
    )


@router.post("/replays", response_model=ReplayView)
@question(Bound.CHILD)
def replay_journal(body: ReplayRequest, caller: AsOperator) -> ReplayView:
    """Replay the journal since a time unchanged, and with another policy, other limits or nodes; nothing changes."""
    if body.policy:
        try:
            fields = {**policy_view(caller.store.policy()).model_dump(), **body.policy}
            policy = _sound(policy_of(PolicyView.model_validate(fields)), caller.services.master)
        except ValidationError as error:
            errors = [
                Diagnostic(
                    pointer=f"/policy/{'/'.join(map(str, details['loc']))}",
                    code=details["type"],
                    message=sentence(details),
                )
                for details in error.errors()
            ]
            raise ApiProblem(Code.INVALID_POLICY, errors=errors) from None
        whole = encode(policy)
        body = body.model_copy(update={"policy": {name: whole[name] for name in body.policy}})
    now_s = caller.services.clock.now_s()
    return ReplayView(**replay(caller.services.settings, body, min(body.to_s or now_s, now_s)))


@router.get("/status", response_model=StatusView)
def get_status(caller: AsReader, store: StoreDep) -> StatusView:
    """Return the state of the installation; this works while the master is down."""
    answer, message = _master_status(caller.services.master_status)
    return StatusView(
        version=caller.request.app.version,
        executions=dict(store.counts()),
        master=answer,
        master_message=message,
        submissions_closed=store.policy().submissions_closed,
        journal_id=store.last_journal_id(),
    )


def _check_names(body: PolicyView, present: Policy, store: PostgresStore, now_s: float) -> None:
    tenants = {tenant.name for tenant in store.accounts.tenants()}
    there = Installed(tenants, {node.name for node in store.platform()}, partial(_is_user, store.accounts))
    found = list(mistakes(body, policy_view(present), there, now_s))
    if found:
        raise ApiProblem(Code.INVALID_POLICY, errors=found)


def _is_user(accounts: AccountStore, user: str) -> bool:
    try:
        accounts.user(user)
    except NotFound:
        return False
    return True


def _sound(policy: Policy, master: MasterClient) -> Policy:
    faults = policy_problems(policy, master)
    if faults:
        errors = [Diagnostic(pointer="", code="invalid_policy", message=text) for text in faults]
        raise ApiProblem(Code.INVALID_POLICY, errors=errors)
    return policy


def _master_status(status: MasterStatus) -> tuple[dict[str, Any] | None, str]:
    try:
        return status.read(), ""
    except MasterUnreachable as error:
        return None, f"{error}; submissions are accepted and run later. {MASTER_AWAY_HINT}"
    except MasterRefused as error:
        return None, f"{error}; submissions are accepted and run later"
