"""The admin's policy: data that can be changed at run time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from zoe_client.vocabulary import PRIORITY_MAX
from zoe_lib.domain.cluster.cluster import NodeHold
from zoe_lib.domain.executions.limits import (
    EVERY,
    POLICY_OF_TENANTS,
    POLICY_OF_USERS,
    Amounts,
    Limit,
    Limits,
    LimitSubject,
    from_policy_document,
    matches_no_subject,
    to_policy_document,
)
from zoe_lib.domain.values.frozen import value

ORDERS = frozenset(
    {"fifo", "sjf", "size", "srpt", "hrrn", "las", "psbs", "edf", "fair-share"}
    | {"wfp3", "unicef", "f1", "f2", "f3", "f4", "learned-ratio"}
)
LEARNED_ORDERS = frozenset({"learned-ratio"})
"""Orders by learned run times; under them, reservations rely on time limits before learned run times."""
BACKFILLS = frozenset({"none", "easy", "easy-sjbf", "conservative"})
PREEMPTIONS = frozenset({"none", "elastic"})
TENANCIES = frozenset({"none", "drf"})
FILTERS = frozenset({"readiness", "holds", "labels", "devices", "resources"})
WEIGHERS = frozenset({"fewest_containers", "free_memory", "locality", "storage_headroom"})
# Without these filters, placements could choose nodes where a service cannot run, so every policy must include them.
FILTERS_NEEDED = frozenset({"readiness", "labels", "devices", "resources"})

WINDOWS_OF_NODE_MAX = 32
"""Maximum holds of a node: the scheduler examines all of them for each placement, and people read them."""

DEFAULT_FILTERS = ("readiness", "holds", "labels", "devices", "resources")
# The free-memory weight is smaller than one step of the container count, so it only breaks ties: "fewest containers,
# then most free memory". All inputs on a node outweigh 200 containers there; without effect if no node is a host of the
# store.
DEFAULT_WEIGHERS: Mapping[str, float] = {"fewest_containers": 1.0, "free_memory": 1e-4, "locality": 0.05}


@value(frozen=True, slots=True)
class Policy:
    """Rules for the order of the queue and the placement of services.

    The default is the best policy on published logs (decision 3).
    order: name of the queue's order; `ageing_s` seconds of waiting count as one halving of a size.
    backfill: executions that may pass the first one that waits for room: `none`; `easy`, those that by the estimates do
        not delay it; `easy-sjbf`, the same with the shortest first; `conservative`, those that delay no earlier one.
    backfill_depth_max: with `conservative`, this many waiting executions get a reservation; none behind them may pass.
    preemption: what essential services without room may take back: `elastic` services of other executions, or `none`.
    tenants: an outer level above the order: `none`, or `drf`, the tenant with the smallest dominant share first.
    tenant_shares: weights of tenants for `drf` and `fair-share`; 1 by default.
    tenant_limits, user_limits: the limits of tenants and of users in them, as in `Limits`.
    priorities_max: the highest priority that users may give to their executions, by tenant; `*` means all other
        tenants. For a tenant without an entry it is 1000, the maximum. Operators and admins may give any priority.
    usage_half_life_s, fair_share_age_weight: for the order `fair-share`.
    interactive_share: interactive applications come before batch ones while together they hold at most this share of
        the cluster's cores and memory; 0 gives them no precedence.
    default_time_limit_s: the time limit of executions that are submitted without one; 0: none. With it, they start
        before a hold of nodes that begins later.
    node_holds: drained or reserved nodes, by name. node_windows: further holds of nodes, with an end.
    elastic_failures_max: failures after which an elastic service is given up; the pause before each retry is
        `elastic_backoff_s`, doubled each time. retry_backoff_s: the same for the retries of a whole execution.
    start_attempts_max: attempts of an execution that the platform ended (a port taken, a node lost).
    storage_patience_s: how long a starting execution may hold its nodes while the storage controller does not answer.
    idle_after_s: an interactive execution without use for this long gets a warning, and is ended `idle_warning_s`
        later; 0 ends none. idle_cores_milli: a service that uses this many thousandths of a core for a minute counts as
        in use.
    idle_without_ports: also end executions without proxied ports, whose use is invisible.
    submissions_closed: a sentence for users while no submissions are taken; empty: they are taken.
    promise_share: promises may hold at most this share of the cluster's cores, at all times together, and of the read
        bandwidth of the object store; 0: no promises.
    promise_offer_s: how long offers can be accepted, with their room booked.
    queue_scan_max: executions examined in one pass, which limits its time; the others get the reason `scan_limit`.
    placements_per_tick_max: services placed in one pass, which limits the plan.
    """

    order: str = "size"
    backfill: str = "easy-sjbf"
    backfill_depth_max: int = 100
    preemption: str = "elastic"
    ageing_s: float = 36_000.0
    tenants: str = "none"
    tenant_shares: Mapping[str, float] = field(default_factory=dict)
    tenant_limits: Mapping[str, Amounts] = field(default_factory=dict)
    user_limits: Mapping[str, Amounts] = field(default_factory=dict)
    priorities_max: Mapping[str, int] = field(default_factory=dict)
    usage_half_life_s: float = 7 * 86400.0
    fair_share_age_weight: float = 0.06
    interactive_share: float = 0.0
    default_time_limit_s: float = 0.0
    node_holds: Mapping[str, NodeHold] = field(default_factory=dict)
    node_windows: Mapping[str, tuple[NodeHold, ...]] = field(default_factory=dict)
    filters: tuple[str, ...] = DEFAULT_FILTERS
    weighers: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_WEIGHERS))
    promise_share: float = 0.8
    promise_offer_s: float = 120.0
    queue_scan_max: int = 100_000
    placements_per_tick_max: int = 10_000
    start_attempts_max: int = 3
    elastic_failures_max: int = 5
    elastic_backoff_s: float = 5.0
    retry_backoff_s: float = 1.0
    retry_backoff_max_s: float = 300.0
    storage_patience_s: float = 30.0
    idle_after_s: float = 0.0
    idle_warning_s: float = 600.0
    idle_cores_milli: int = 100
    idle_without_ports: bool = False
    submissions_closed: str = ""
    version: int = 0

    @property
    def limits_first(self) -> bool:
        """Return whether reservations rely on time limits before learned run times."""
        return self.order in LEARNED_ORDERS

    @property
    def limits(self) -> Limits:
        """Return all limits of the policy."""
        return Limits(self.tenant_limits, self.user_limits, self.default_time_limit_s)

    def holds_of(self, node: str, now_s: float) -> tuple[NodeHold, ...]:
        """Return the holds of a node that have not ended, earliest first."""
        holds = (*self.node_windows.get(node, ()), *((self.node_holds[node],) if node in self.node_holds else ()))
        return tuple(sorted((hold for hold in holds if not hold.has_ended(now_s)), key=lambda hold: hold.since_s))


def without_ended_holds(policy: Policy, now_s: float) -> Policy:
    """Return the policy without the holds that have ended."""
    holds = {node: hold for node, hold in policy.node_holds.items() if not hold.has_ended(now_s)}
    windows = {
        node: tuple(hold for hold in several if not hold.has_ended(now_s))
        for node, several in policy.node_windows.items()
    }
    return replace(
        policy, node_holds=holds, node_windows={node: several for node, several in windows.items() if several}
    )


def with_limits(policy: Policy, limits: Limits) -> Policy:
    """Return the policy with these limits."""
    return replace(policy, tenant_limits=limits.tenants, user_limits=limits.users)


def shown_limits(policy: Policy) -> tuple[Mapping[str, Amounts], Mapping[str, Amounts]]:
    """Return the limits of tenants and of users in the form of policy documents."""
    return to_policy_document(policy.tenant_limits, POLICY_OF_TENANTS), to_policy_document(
        policy.user_limits, POLICY_OF_USERS
    )


def with_shown_limits(present: Policy, document: Policy) -> Policy:
    """Return the policy of a document; settings that the document does not contain are unchanged."""
    tenants, users = shown_limits(document)
    return replace(
        document,
        tenant_limits=from_policy_document(present.tenant_limits, tenants, POLICY_OF_TENANTS),
        user_limits=from_policy_document(present.user_limits, users, POLICY_OF_USERS),
    )


def priority_max_of(policy: Policy, tenant: str) -> int:
    """Return the highest priority that a tenant's users may set: the tenant's, else the default, else the maximum."""
    limits = policy.priorities_max
    return limits.get(tenant, limits.get(EVERY, PRIORITY_MAX))


def limits_of(policy: Policy, tenant: str, user: str) -> Sequence[tuple[LimitSubject, Limit]]:
    """Return all limits of cores and memory for a user's executions in a tenant, the narrowest subject first."""
    subjects = (LimitSubject(tenant, user), LimitSubject(tenant))
    limits = ((subject, policy.limits.for_subject(*subject)) for subject in subjects)
    return tuple(
        (subject, limit) for subject, limit in limits if limit.cores_milli is not None or limit.memory_bytes is not None
    )


def problems(policy: Policy, filters: Collection[str] = FILTERS, weighers: Collection[str] = WEIGHERS) -> list[str]:
    """Return all faults of a policy as sentences; empty if it is valid.

    `filters` and `weighers` are the names of the installed ones.
    """
    names = (
        ("order", policy.order, ORDERS),
        ("backfill", policy.backfill, BACKFILLS),
        ("preemption", policy.preemption, PREEMPTIONS),
        ("tenants", policy.tenants, TENANCIES),
    )
    faults = [
        f"{what} {name!r} is unknown: {', '.join(sorted(known))}" for what, name, known in names if name not in known
    ]
    faults += _problems_of_holds(policy)
    faults += [f"the share of tenant {name} must be positive" for name, s in policy.tenant_shares.items() if not s > 0]
    faults += [
        f"filter {name!r} is unknown: {', '.join(sorted(filters))}" for name in policy.filters if name not in filters
    ]
    faults += [f"filter {name!r} is required" for name in sorted(FILTERS_NEEDED - set(policy.filters))]
    faults += [
        f"weigher {name!r} is unknown: {', '.join(sorted(weighers))}"
        for name in policy.weighers
        if name not in weighers
    ]
    faults += [
        f"tenant_limits: {key!r} is not a tenant; write a tenant, or '*' for all others"
        for key in policy.tenant_limits
        if matches_no_subject(key, of_users=False)
    ]
    faults += [
        f"user_limits: {key!r} is not a user; write TENANT/USER, a tenant for each of its users, or '*' for all others"
        for key in policy.user_limits
        if matches_no_subject(key, of_users=True)
    ]
    return faults


def _problems_of_holds(policy: Policy) -> Iterator[str]:
    holds = [*policy.node_holds.items()]
    holds += [(name, hold) for name, windows in policy.node_windows.items() for hold in windows]
    for name, hold in holds:
        if hold.until_s is not None and hold.until_s <= hold.since_s:
            yield f"the hold of node {name} ends before it begins"
    for name, windows in policy.node_windows.items():
        if len(windows) > WINDOWS_OF_NODE_MAX:
            yield f"node {name} has {len(windows)} windows; at most {WINDOWS_OF_NODE_MAX} are possible"
        if any(hold.until_s is None for hold in windows):
            yield f"a window of node {name} has no end; write it as its hold in node_holds"
