"""The installation in the store in memory: platform, policy, leader, ticks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.domain.cluster.policy import Policy, shown_limits, with_limits, with_shown_limits
from zoe_lib.domain.executions.execution import ACTIVE_STATES
from zoe_lib.domain.executions.limits import Limits
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.lifecycle.idleness import counts_anew
from zoe_lib.store.documents.codec import encode
from zoe_lib.store.errors import ConcurrentUpdate, NotLeader, StoreUnavailable
from zoe_lib.store.memory.state import Fact, State
from zoe_lib.store.values import Leader, StoreLimits, TickRecord


class MemoryInstallation:
    """A handle on the state; `available = False` makes every call raise StoreUnavailable."""

    def __init__(self, limits: StoreLimits | None = None, state: State | None = None) -> None:
        self._limits = limits or StoreLimits()
        self._state = state or State()
        self.available = True

    # -- installation ----------------------------------------------------------------------------------------------
    def set_platform(self, nodes: Sequence[Node], at_s: float, leader_epoch: int | None) -> None:  # noqa: ARG002
        """Replace the nodes."""
        with self._reached() as state:
            self._check_leader(leader_epoch)
            state.platform = sorted(nodes, key=lambda node: node.name)

    def platform(self) -> Sequence[Node]:
        """Return the nodes."""
        with self._reached() as state:
            return state.platform

    def set_capabilities(
        self,
        capabilities: BackendCapabilities,
        storage: StoreCapacity | None,
        at_s: float,  # noqa: ARG002
        leader_epoch: int | None,
    ) -> None:
        """Store the back-end's capabilities and the possible bandwidth guarantees."""
        with self._reached() as state:
            self._check_leader(leader_epoch)
            state.capabilities = capabilities
            state.storage_capacity = storage or state.storage_capacity

    def whole_platform(self) -> Platform:
        """Return nodes, capabilities and bandwidth."""
        with self._reached() as state:
            return Platform(tuple(state.platform), state.capabilities, state.storage_capacity)

    def policy(self) -> Policy:
        """Return the policy in force."""
        with self._reached() as state:
            return state.policy

    def set_policy(self, policy: Policy, expected_version: int, at_s: float, cause_id: str) -> Policy:
        """Put a policy in force."""
        with self._reached() as state:
            if state.policy.version != expected_version:
                raise ConcurrentUpdate(
                    f"version {expected_version} of the policy is not in force any more; read it again"
                )
            present = state.policy
            state.policy = with_shown_limits(present, replace(policy, version=expected_version + 1))
            if counts_anew(present, state.policy):
                active = (one.id for one in state.executions.values() if one.state in ACTIVE_STATES)
                state.last_uses |= {id_: max(at_s, state.last_uses.get(id_, at_s)) for id_ in active}
            state.record_fact(Fact("policy_set", at_s, cause_id, json.loads(json.dumps(encode(state.policy)))))
            new = state.policy
        state.notify_subscribers()
        return new

    def change_limits(self, change: Callable[[Limits], Limits], at_s: float, cause_id: str) -> Policy:
        """Change limits."""
        with self._reached() as state:
            present = state.policy
            state.policy = with_limits(present, change(present.limits))
            if shown_limits(state.policy) == shown_limits(present):
                return state.policy
            return self.set_policy(state.policy, present.version, at_s, cause_id)

    # -- leadership ------------------------------------------------------------------------------------------------
    def try_lead(self, holder: str, endpoint: str = "") -> int | None:
        """Take the leader lock."""
        with self._reached() as state:
            if state.leader is None:
                state.leader = self
                state.epoch += 1
                state.lead = Leader(state.epoch, holder, endpoint, 0)
            return state.epoch if state.leader is self else None

    def leader(self) -> Leader | None:
        """Return the last leader."""
        with self._reached() as state:
            return state.lead

    def renew_lead(self, epoch: int) -> bool:
        """Renew the lease."""
        with self._reached() as state:
            if state.leader is not self or state.lead is None or state.epoch != epoch:
                return False
            state.lead = replace(state.lead, renewals=state.lead.renewals + 1)
            return True

    def depose(self, seen: Leader) -> bool:
        """Release the leader's lock."""
        with self._reached() as state:
            if state.leader is None or state.lead != seen:
                return False
            state.leader = None
            return True

    def still_leading(self, epoch: int) -> bool:
        """Return whether this handle holds the lock."""
        return self.available and self._state.leader is self and self._state.epoch == epoch

    def stop_leading(self) -> None:
        """Release the lock."""
        with self._state.lock:
            if self._state.leader is self:
                self._state.leader = None

    def _check_leader(self, leader_epoch: int | None) -> None:
        if leader_epoch is not None and leader_epoch != self._state.epoch:
            raise NotLeader(f"epoch {leader_epoch} has ended: the newest is {self._state.epoch}")

    # -- ticks -----------------------------------------------------------------------------------------------------
    def add_tick(self, tick: TickRecord, leader_epoch: int) -> None:
        """Store the record of a tick."""
        with self._reached() as state:
            self._check_leader(leader_epoch)
            state.ticks.append(tick)

    def ticks(self, from_s: float, to_s: float) -> Sequence[TickRecord]:
        """Return records of ticks."""
        with self._reached() as state:
            starts = [number for number, tick in enumerate(state.ticks) if tick.whole and tick.at_s <= from_s]
            return [tick for tick in state.ticks[starts[-1] :] if tick.at_s <= to_s] if starts else ()

    def ticks_from_s(self) -> float | None:
        """Return the time of the first complete record."""
        with self._reached() as state:
            return next((tick.at_s for tick in state.ticks if tick.whole), None)

    def ping(self) -> None:
        """Raise StoreUnavailable if this handle is set unavailable."""
        with self._reached():
            pass

    def close(self) -> None:
        """Release the leader lock; the state stays with the other handles."""
        self.stop_leading()

    def _reached(self) -> State:
        if not self.available:
            raise StoreUnavailable("this store was made unavailable")
        return self._state
