"""Contract of every store on the installation: nodes, policy, leadership, news."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest

from tests.support.applications import GIB, execution
from tests.support.limits import tenant_limit, user_limit
from tests.support.store_events import OpenStore
from tests.support.waiting import until
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities, ImageFacts, MountPath, Platform
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.limits import Limit, Limits, LimitSubject
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.errors import ConcurrentUpdate, StoreUnavailable
from zoe_lib.store.values import ExecutionQuery, Leader

NEWS_S_MAX = 5.0


def node(name: str, **changes: object) -> Node:
    return replace(Node(name, Resources(4000, 16 * GIB, {"gpu": 2})), **changes)  # type: ignore[arg-type]


# -- platform and policy -----------------------------------------------------------------------------------------------
def test_the_platform_is_replaced_as_a_whole(open_store: OpenStore) -> None:
    first = node("b", foreign=Resources(500, GIB, {"gpu": 1}), labels={"ssd": "yes"}, containers=3)
    second = node("a", ready=False, message="drained", gateway=Resources(50, 64 * 2**20))
    store = open_store()
    store.set_platform([first, second], 1.0, None)
    assert list(open_store().platform()) == [second, first]
    store.set_platform([first], 2.0, store.try_lead("me"))
    assert list(open_store().platform()) == [first]
    store.set_platform([], 3.0, None)
    assert list(store.platform()) == []


def test_capabilities_are_replaced_and_read_with_the_nodes(open_store: OpenStore) -> None:
    store, reader = open_store(), open_store()
    assert reader.whole_platform() == Platform()
    first = BackendCapabilities(
        images=("zoe/*",),
        host_paths=(),
        mount_points=(MountPath("/sbin", "init", only_named=True),),
        images_there={"zoe/tiny:latest": ImageFacts(made_for="linux/arm64")},
        unavailable=("zoe/gone:latest",),
    )
    for wanted in (first, BackendCapabilities(images=None, images_there={}), first):
        store.set_capabilities(wanted, None, 1.0, None)
        store.set_platform([node("a")], 1.0, None)
        assert reader.whole_platform() == Platform((node("a"),), wanted)


def test_limits_change_with_the_policy_and_by_themselves(open_store: OpenStore) -> None:
    """Limits outside the policy's documents make no new version of it, and stay when it is set."""
    store = open_store()
    quota = store.change_limits(
        lambda limits: limits.with_changed_amounts(LimitSubject("lab"), {"executions": 3}), 1.0, "r1"
    )
    assert (quota.version, quota) == (0, open_store().policy())
    assert list(store.journal(0, 10)) == []
    lab = tenant_limit(cores_milli=8000)
    set_at_once = store.set_policy(Policy(tenant_limits={"lab": lab}, order="fifo"), 0, 2.0, "r2")
    assert open_store().policy() == set_at_once
    assert set_at_once.limits.own_amounts(LimitSubject("lab")) == {"executions": 3, **lab}
    changed = open_store().change_limits(
        lambda limits: limits.without_amounts(LimitSubject("lab"), ["memory_bytes"]), 3.0, "r3"
    )
    assert changed.version == 1, "an amount that is no limit is shown as one that is not set"
    changed = store.change_limits(
        lambda limits: limits.with_changed_amounts(LimitSubject("lab", "ada"), {"cores_milli": 5}), 4.0, "r4"
    )
    assert (changed.version, changed.order, changed) == (2, "fifo", open_store().policy())
    assert [entry.cause_id for entry in store.journal(0, 10)] == ["r2", "r4"]
    last = store.journal(0, 10)[-1].data
    assert last["user_limits"] == {"lab/ada": {"cores_milli": 5}}
    assert store.change_limits(lambda limits: limits, 5.0, "r5").version == 2
    with pytest.raises(ConcurrentUpdate):
        store.set_policy(Policy(), 1, 6.0, "r6")
    assert store.set_policy(Policy(), 2, 7.0, "r7").limits == Limits({"lab": {"executions": 3}})
    assert open_store().policy().limits.for_subject("lab") == Limit(3)


def test_a_policy_is_versioned_and_journaled(open_store: OpenStore) -> None:
    store = open_store()
    assert store.policy() == Policy()
    wanted = Policy(
        order="size",
        ageing_s=5.0,
        tenant_limits={"lab": tenant_limit(cores_milli=8000)},
        user_limits={"lab": user_limit(cores_milli=2000), "*": user_limit(memory_bytes=GIB)},
        filters=("readiness",),
        weighers={"free_memory": -1.5},
    )
    stored = store.set_policy(wanted, 0, 7.0, "admin-1")
    assert stored == replace(wanted, version=1)
    assert open_store().policy() == stored
    assert open_store().set_policy(Policy(), 1, 8.0, "admin-2").version == 2
    first, second = store.journal(0, 10)
    assert (first.kind, first.at_s, first.cause_id, second.cause_id) == ("policy_set", 7.0, "admin-1", "admin-2")
    assert (first.execution_id, first.tenant, first.version) == (None, None, None)
    assert (first.data["order"], first.data["version"], first.data["filters"]) == ("size", 1, ["readiness"])


def test_a_policy_of_an_old_version_is_refused(any_store: ExecutionStore) -> None:
    any_store.set_policy(Policy(order="size"), 0, 1.0, "admin")
    for version in (0, 2):
        with pytest.raises(ConcurrentUpdate):
            any_store.set_policy(Policy(), version, 1.0, "admin")
    assert any_store.policy().order == "size"
    assert len(any_store.journal(0, 10)) == 1


# -- leadership --------------------------------------------------------------------------------------------------------
def test_leadership_is_handed_over_with_a_higher_epoch(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    epoch = first.try_lead("first")
    assert epoch is not None
    assert first.try_lead("first") == epoch
    assert first.still_leading(epoch)
    assert second.try_lead("second") is None
    assert not second.still_leading(epoch)
    first.stop_leading()
    first.stop_leading()
    assert not first.still_leading(epoch)
    # The server frees the lock when it sees that the connection of the former has ended.
    next_epoch = until(lambda: second.try_lead("second"))
    assert next_epoch > epoch
    assert second.still_leading(next_epoch)
    assert not second.still_leading(epoch)


def test_a_leader_says_where_it_answers_and_renews_its_lease(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    assert second.leader() is None
    epoch = first.try_lead("first", "tcp://host:1")
    assert epoch is not None
    assert second.leader() == Leader(epoch, "first", "tcp://host:1", 0)
    assert first.renew_lead(epoch)
    assert second.leader() == Leader(epoch, "first", "tcp://host:1", 1)
    assert not second.renew_lead(epoch)
    assert not first.renew_lead(epoch + 1)
    first.stop_leading()
    assert not first.renew_lead(epoch)
    next_epoch = until(lambda: second.try_lead("second"))
    assert first.leader() == Leader(next_epoch, "second", "", 0)


def test_a_leader_is_deposed_only_as_it_was_seen(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    epoch = first.try_lead("first")
    assert epoch is not None
    seen = second.leader()
    assert seen is not None
    assert first.renew_lead(epoch)
    assert not second.depose(seen)
    assert first.still_leading(epoch)
    now = second.leader()
    assert now is not None
    assert second.depose(now)
    # PostgreSQL ends the session a moment later.
    until(lambda: second.try_lead("second") == epoch + 1)
    assert not first.still_leading(epoch)
    assert not first.renew_lead(epoch)
    assert first.try_lead("first") is None
    assert not first.depose(now)


def test_a_closed_store_leads_no_more(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    assert first.try_lead("first")
    first.close()
    until(lambda: second.try_lead("second"))


def test_of_many_one_leads(open_store: OpenStore) -> None:
    stores = [open_store() for _ in range(5)]
    with ThreadPoolExecutor(5) as pool:
        epochs = list(pool.map(lambda store: store.try_lead("me"), stores))
    assert len([epoch for epoch in epochs if epoch is not None]) == 1


# -- news --------------------------------------------------------------------------------------------------------------
def test_commits_are_told_to_subscribers(open_store: OpenStore) -> None:
    listening, writing = open_store(), open_store()
    first, second = Event(), Event()
    subscriptions = [listening.subscribe(first.set), listening.subscribe(second.set)]
    writing.submit(execution(1), "request")
    assert first.wait(NEWS_S_MAX)
    assert second.wait(NEWS_S_MAX)
    subscriptions[0].close()
    first.clear()
    second.clear()
    writing.append(execution(1).id, [ev.Queued(at_s=1.0)], 1, None)
    assert second.wait(NEWS_S_MAX)
    second.clear()
    writing.set_policy(Policy(), 0, 1.0, "admin")
    assert second.wait(NEWS_S_MAX)
    assert not first.is_set()
    subscriptions[1].close()
    subscriptions[1].close()


def test_a_subscription_can_be_taken_again_and_closed_with_the_store(open_store: OpenStore) -> None:
    store = open_store()
    store.subscribe(lambda: None).close()
    told = Event()
    store.subscribe(told.set)
    store.submit(execution(1), "request")
    assert told.wait(NEWS_S_MAX)
    store.close()


# -- availability ------------------------------------------------------------------------------------------------------
CALLS: list[Callable[[ExecutionStore], object]] = [
    lambda store: store.submit(execution(), "request"),
    lambda store: store.append("e", [ev.Queued(at_s=1.0)], 1, None),
    lambda store: store.execution("e"),
    lambda store: store.executions(ExecutionQuery()),
    lambda store: store.active(),
    lambda store: store.counts(),
    lambda store: store.journal(0, 1),
    lambda store: store.last_journal_id(),
    lambda store: store.set_platform([], 1.0, None),
    lambda store: store.platform(),
    lambda store: store.set_capabilities(BackendCapabilities(), None, 1.0, None),
    lambda store: store.whole_platform(),
    lambda store: store.policy(),
    lambda store: store.set_policy(Policy(), 0, 1.0, "admin"),
    lambda store: store.try_lead("me"),
    lambda store: store.prune(1.0),
    lambda store: store.ping(),
]


def test_without_a_database_every_call_says_so(unreachable_store: ExecutionStore) -> None:
    for call in CALLS:
        with pytest.raises(StoreUnavailable):
            call(unreachable_store)
    assert not unreachable_store.still_leading(1)
    unreachable_store.stop_leading()


def test_ping(any_store: ExecutionStore) -> None:
    before_s = time.monotonic()
    any_store.ping()
    assert time.monotonic() - before_s < NEWS_S_MAX
