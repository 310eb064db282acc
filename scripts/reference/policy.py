"""Generate docs/reference/policy.md from the policy, the registries of the scheduler, and the reasons."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from scripts.reference.tables import page, table
from zoe_client.wire import PolicyView
from zoe_lib.domain.cluster.policy import FILTERS_NEEDED, ORDERS, TENANCIES, Policy
from zoe_lib.domain.values.reasons import ReasonCode
from zoe_master.scheduler.placement.filters import FILTERS
from zoe_master.scheduler.placement.weighers import WEIGHERS

INTRODUCTION = """\
The policy defines the order of the queue and where services are placed. It is data: an admin changes it with
`zoe policy set KEY=VALUE...` or `PUT /api/v1/policy`, and the next tick of the master uses it. Zoe refuses a change if
the policy has been changed since the admin read it.
"""
FIELDS = {
    "order": "order of the waiting executions; see below",
    "backfill": "which executions may start before the first one that waits for room; see below",
    "backfill_depth_max": "with `conservative`, how many executions get a reservation; executions behind them do not "
    "pass",
    "preemption": "what essential services that find no room may take back: `elastic` services of other "
    "executions, or `none`. Essential services are never taken back",
    "ageing_s": "each such period of waiting, in seconds, halves the size or run time in the order; 0 turns ageing off",
    "tenants": "an outer level above the order; see below",
    "tenant_shares": "weights of tenants for `drf` and `fair-share`; tenants that are not named have 1",
    "tenant_limits": "maximum `cores_milli` and `memory_bytes` that a tenant's services may reserve, and maximum "
    "`read_bytes_per_s` and `write_bytes_per_s` that may be guaranteed to it; `*` stands for all other tenants. "
    "Executions beyond the limit wait (`tenant_limit`) and block no others",
    "priorities_max": "highest priority that users may give to their executions, by tenant; if it is below 0, it is "
    "also the default priority. `*` stands for all other tenants; without it their users may give up to 1000. "
    "Operators and admins may give any",
    "user_limits": "maximum `cores_milli` and `memory_bytes` that the services of each user may reserve in a tenant, "
    "by tenant; `*` stands for all other tenants. The limits of the user and of the tenant both apply. Executions "
    "beyond the user's limit wait (`user_limit`) and block no others",
    "usage_half_life_s": "order `fair-share`: time after which past use counts half, in seconds",
    "fair_share_age_weight": "order `fair-share`: what `ageing_s` seconds of waiting add to the factor (at most 1)",
    "interactive_share": "interactive applications come before batch applications of the same priority while they "
    "hold at most this share of the cluster's cores and memory, not counting elastic services that can be taken back; "
    "0 gives them no precedence",
    "default_time_limit_s": "time limit of executions that are submitted without one, in seconds, at most the longest "
    "of the tenant; 0 gives none. Executions without a time limit start on no node that will be drained or reserved",
    "node_holds": "nodes that are drained (`tenant` null) or reserved for a tenant, with `since_s`, `until_s`, `note`; "
    "set by `zoe nodes drain` and `reserve`. The filter `holds` always applies them",
    "node_windows": "further holds of nodes, which have an end: at most 32 of each node; set by `zoe nodes drain` and "
    "`reserve` with `--for`",
    "filters": "filters that leave out nodes, in this order; see below",
    "weighers": "weighers that choose among the remaining nodes, by the sum of scores times weights; see below",
    "promise_share": "promises may hold at most this share of the cluster's cores, and of the bandwidth to read that "
    "the object store can guarantee, all of them together; with 0 none is made",
    "promise_offer_s": "how long offers of other promises can be accepted, and their room is kept, in seconds",
    "queue_scan_max": "maximum executions considered in one pass; the others have the reason `scan_limit`",
    "placements_per_tick_max": "maximum services placed in one pass",
    "start_attempts_max": "maximum attempts of an execution that the platform ended",
    "elastic_failures_max": "number of failures after which an elastic service is not tried again",
    "elastic_backoff_s": "pause before a failed elastic service is tried again, doubled each time",
    "retry_backoff_s": "pause before a failed execution is tried again, doubled each time",
    "retry_backoff_max_s": "longest such pause",
    "storage_patience_s": "how many seconds an execution may hold its nodes while the storage controller does not "
    "enforce the bandwidth that it requires, or makes no view. Zoe keeps asking; then the execution is queued again, "
    "or reads the plain objects. Views of a controller that has been away for so long already are not waited for",
    "idle_after_s": "seconds without use after which an interactive execution gets a warning (`idle_warned`); 0 turns "
    "this off. Use is a page opened, a change or a message sent through the proxy, or work (`idle_cores_milli`); "
    "time before this was turned on does not count",
    "idle_warning_s": "seconds after the warning until it ends with the cause `idle`, unless somebody uses it",
    "idle_cores_milli": "a service that uses this many thousandths of a core, on average over a minute, counts as use "
    "of its execution; 0: CPU time does not count as use",
    "submissions_closed": "a sentence for users while no submissions are taken: they are refused with "
    "`submissions_closed`, those of schedules too; operators and admins may submit; empty: submissions are taken",
    "idle_without_ports": "apply this also to executions without a proxied port, whose use Zoe cannot see; time "
    "counts from when they are ready",
    "version": "increases with each change; cannot be set",
}
ORDERS_TEXT = """\
## Orders
In every order a higher priority comes first; ties are broken by submission time, then by id. The scheduler considers
waiting executions in this order, and gives elastic services to running executions in this order. When essential
services need room, elastic services are taken back in the opposite order. No order takes back essential services. The
expected run time is the declared one (`size.run_time_s`); otherwise the mean of the most similar successful runs of the
same program, the user's own first ([run times](../use/deadlines.md)); otherwise the time limit; otherwise an hour.
`zoe explain` says which. A run time below one second counts as one second: declared run times are not checked against
actual ones, so a smaller value must give no advantage. For waiting executions `sjf` and `srpt` are equal. For rigid
applications that were never tried before, `las` and `fifo` are equal.
"""
PSBS_TEXT = """\
`psbs` is practical size-based scheduling (Dell'Amico, Carra and Michiardi, "PSBS: Practical Size-Based Scheduling",
IEEE Transactions on Computers 65(7), 2016), adapted to essential services, which start together and are not taken back.
In the paper, a single server that can be shared freely serves the job that would end first in an emulated processor
sharing, and all late jobs at once. Here, the emulation shares the usable cores of the present nodes. An execution takes
part in it from its submission until it would have ended. All of them progress at the same rate: the usable cores
divided by the cores that they request together, at most 1. Each pass computes the emulation again from the waiting and
the running executions and the last 2,000 that ended. The order decides which execution starts next and which gets
elastic services; running executions keep their essential services. Late executions take turns by least attained
service instead of sharing. So an execution that runs much longer than expected comes first only until others are late
by their own expected run times. For rigid applications that were never tried before, late executions keep the order of
the emulation.
"""
ORDER_MEANINGS = {
    "fifo": "earliest submission first",
    "sjf": "shortest expected run time first; waiting halves it",
    "size": "smallest area first: the expected run time times the largest share of the cluster that all services ask "
    "for, of cores, memory or a kind of device; waiting halves it",
    "srpt": "shortest remaining run time first: the time since the placement of a running execution is subtracted; "
    "waiting halves it",
    "hrrn": "highest response ratio first: (waiting + run time) / run time, so that waiting counts the "
    "more the shorter it is; ages by itself",
    "las": "least attained service first: fewest core-seconds held so far, in all tries",
    "psbs": "first the execution that would end first if all ran at once, slowed down equally, by the expected run "
    "times. Executions that would have ended by now are late and come before all others, by fewest core-seconds so "
    "far; ages by itself",
    "edf": "earliest deadline first; those without one after all others",
    "wfp3": "largest (waiting / run time)^3 times cores first: of two that waited alike, the wider",
    "unicef": "largest waiting / (log2(cores) times run time) first: small ones that wait come first",
    "f1": "least log10(run time) times cores + 870 log10(arrival) first",
    "f2": "least sqrt(run time) times cores + 25,600 log10(arrival) first",
    "f3": "least run time times cores + 6,860,000 log10(arrival) first",
    "f4": "least run time times sqrt(cores) + 530,000 log10(arrival) first",
    "learned-ratio": "largest (waiting + 4 hours) / (run time + 10 minutes) first, by learned run times where none are "
    "declared; time limits, not learned run times, make reservations. Newly submitted executions, however short, pass "
    "one only until it has waited for 24 times its run time "
    "([decision 54](../decisions/0054-the-order-learned-ratio.md))",
    "fair-share": "the tenant that used the smallest part of its share first: 2^-(share of use / share due), plus the "
    "weight of its waiting (after the multifactor priority of Slurm)",
}
PUBLISHED_TEXT = """\
`wfp3` and `unicef` are from Tang, Lan, Desai and Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P
systems", IEEE CLUSTER 2009; `f1` to `f4` from Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies
with simulation and machine learning", SC 2017, learned from simulated jobs. Cores are the largest share of the cluster
that is asked for, in cores, as in `size`; `ageing_s` plays no part. `unicef` is infinite on one core or less, so these
come before all others, by waiting over run time. The arrival is in seconds, from 15 days ago on, since an
installation has no start of a log; executions that arrived before come first by `f1` to `f4`.
"""
TENANCY_TEXT = """\
## Tenants
With `drf` tenants take turns (dominant resource fairness, Ghodsi et al., NSDI 2011). The next turn goes to the tenant
whose running services hold the least dominant share, divided by its weight, and to its first execution by the order.
This applies to waiting essential services, and to elastic services, which are given one per turn. Elastic services that
the last turns would give are taken back first. In the turns for essential services, elastic services that can be taken
back do not count.
"""
TENANCIES_MEANINGS = {"none": "the order alone counts", "drf": "dominant resource fairness above the order"}
BACKFILL_MEANINGS = {
    "none": "no execution passes",
    "easy": "executions pass if they do not delay the first one by the estimates of run times, in the order of the "
    "queue. Elastic services are taken back for it, as for any essential service; with `preemption: none` they get "
    "nothing that would delay it",
    "easy-sjbf": "the same, shortest first",
    "conservative": "executions pass if they delay none before them. Each in turn reserves the earliest room by the "
    "estimates, and each pass makes these reservations again. With `preemption: none` elastic services get nothing "
    "that would delay any of them",
}
REASONS = {
    "no_resources": "the essential services do not fit now; the counts say how many nodes each filter refused. If the "
    "hint says that Zoe could not show that they fit even on empty nodes, the execution blocks no others",
    "making_room": "it has its nodes, but the services there have not ended yet: elastic services that are taken back, "
    "also within the limit of its tenant or user, or services of an execution that is stopping",
    "behind_in_queue": "others come first by the policy, and the first of them waits for room",
    "never_fits": "the essential services cannot fit on the present nodes, even if these were empty; it blocks no "
    "others",
    "no_nodes": "no node can be used: the master has not seen any yet, or all are gone, down or drained",
    "nodes_away": "the essential services need nodes that are down, drained or reserved for others, and would not fit "
    "on the other nodes even if these were empty. It blocks no others, and has its place in the order when the nodes "
    "are back",
    "window_ahead": "nodes that it needs will be drained or reserved, and neither a time limit nor a declared run time "
    "says that it ends before; the hint tells the longest time limit with which it would start. It blocks no others",
    "foreign_use": "the essential services fit only after programs outside Zoe use less of the nodes, even if Zoe ran "
    "nothing there. The reason names the nodes and how much these programs use. It keeps its turn and blocks no others",
    "retry_backoff": "it failed and is tried again after a pause",
    "storage_bandwidth": "the bandwidth that it requires is not free; it blocks no execution that can start",
    "storage_refused": "the storage controller refuses the bandwidth that it requires, and says why; Zoe asks again",
    "tenant_limit": "its tenant has reached a limit of the policy without elastic services that could be taken back, "
    "or the rest of the limit is kept for an execution of the tenant that comes first. It blocks no other tenants",
    "user_limit": "its user has reached a limit of the policy in this tenant without elastic services that could be "
    "taken back, or the rest of the limit is kept for an execution of the user that comes first. It blocks no other "
    "users",
    "image_pulling": "one of its images is being pulled (only back-ends that pull images)",
    "locating_inputs": "Zoe asks the object store where its inputs are, for a second at most; it blocks no others",
    "scan_limit": "the queue is longer than one pass considers, the pass has placed as many services as it may, or "
    "more executions may fit beside the first waiting one than it examines; the next passes examine the others",
    "held": "its user or an operator holds it, or it can no longer run after the executions that it names",
    "begin_time": "it is not to begin before a certain time",
    "promise": "it is not decided yet whether it can be promised to end in time, or offers wait for an answer",
    "booked": "the room for it is kept for promised executions that begin before it is expected to end; it blocks no "
    "others",
    "dependencies": "it runs after other executions, which have not ended",
    "credential": "it has its nodes, and its services wait for its credential of the object store: the storage "
    "controller has not answered (only in `zoe explain`, while it starts)",
    "prologue": "it has its nodes, and its services wait for the prologue of the admin (only in `zoe explain`, while "
    "it starts)",
}
FILTERS_TEXT = """\
## Filters
A filter excludes a node and says why; `zoe explain` shows the reason. A policy must name the required filters.
[Plugins](../build/extending.md#a-filter-or-a-weigher) bring more; `zoe policy get` lists the installed ones.
"""
WEIGHERS_TEXT = """\
## Weighers
The node with the highest sum of weight times score is chosen. A negative weight reverses a preference (spread becomes
pack). Ties are broken by name. [Plugins](../build/extending.md#a-filter-or-a-weigher) bring more.
"""
REASONS_TEXT = """\
## Reasons of waiting
Stable codes; they never change their meaning. `zoe ls` shows the code, `zoe explain` a sentence and the nodes.
"""


def policy_page() -> str:
    """Return the page."""
    described = Policy()
    fields = [(f"`{name}`", _value(getattr(described, name)), FIELDS[name]) for name in PolicyView.model_fields]
    return page(
        "The policy",
        "`zoe_lib/domain/cluster/policy.py` and `zoe_master/scheduler`",
        INTRODUCTION,
        "## Settings\n",
        table(("setting", "default", "meaning"), fields),
        ORDERS_TEXT,
        table(("order", "meaning"), [(f"`{name}`", ORDER_MEANINGS[name]) for name in sorted(ORDERS)]),
        PSBS_TEXT,
        PUBLISHED_TEXT,
        *_backfills(),
        TENANCY_TEXT,
        table(("tenants", "meaning"), [(f"`{name}`", TENANCIES_MEANINGS[name]) for name in sorted(TENANCIES)]),
        FILTERS_TEXT,
        table(("filter", "meaning"), _registry(FILTERS, FILTERS_NEEDED)),
        WEIGHERS_TEXT,
        table(("weigher", "meaning"), _registry(WEIGHERS)),
        REASONS_TEXT,
        table(("code", "meaning"), [(f"`{code.value}`", REASONS[code.value]) for code in ReasonCode]),
    )


def _backfills() -> list[str]:
    if "backfill" not in PolicyView.model_fields:
        return []
    rows = [(f"`{name}`", meaning) for name, meaning in BACKFILL_MEANINGS.items()]
    return ["## Backfill\n", table(("backfill", "meaning"), rows)]


def _registry(
    functions: Mapping[str, Callable[..., object]], needed: frozenset[str] = frozenset()
) -> list[tuple[str, str]]:
    return [
        (f"`{name}`" + (" (needed)" if name in needed else ""), (function.__doc__ or "").strip())
        for name, function in functions.items()
    ]


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        value = dict(value)
    return f"`{json.dumps(value)}`" if not isinstance(value, str) else f"`{value}`"
