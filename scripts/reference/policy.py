"""docs/reference/policy.md from the policy, the registries of the scheduler, and the reasons."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from scripts.reference.tables import page, table
from zoe_lib.domain.policy import FILTERS_NEEDED, ORDERS, TENANCIES, Policy
from zoe_lib.domain.reasons import ReasonCode
from zoe_lib.wire import PolicyView
from zoe_master.scheduler.placement.filters import FILTERS
from zoe_master.scheduler.placement.weighers import WEIGHERS

INTRODUCTION = """\
The policy says in which order the queue is looked at and where services are placed. It is data: an admin changes it
with `zoe policy set KEY=VALUE...` or `PUT /api/v1/policy`, and the next tick of the master decides by it. A change is
refused when somebody else changed the policy meanwhile.
"""
FIELDS = {
    "order": "which of those that wait is looked at first; see below",
    "backfill": "who may pass the first that waits for room; see below",
    "backfill_depth_max": "most reservations with `conservative`; nobody behind them passes",
    "preemption": "what essential services that find no room may take back: `elastic` services of others, or "
    "`none`, so that it "
    "waits until they end with their applications. Cores are never taken back",
    "ageing_s": "waiting so many seconds counts as one halving of a size or run time; 0: no ageing",
    "tenants": "an outer level above the order; see below",
    "tenant_shares": "weights of tenants for `drf` and `fair-share`; 1 for who is not named",
    "tenant_limits": "most `cores_milli` and `memory_bytes` that a tenant's services may reserve, and most "
    "`read_bytes_per_s` and `write_bytes_per_s` that may be guaranteed to it; `*` stands for all others. Who has "
    "reached its limit waits (`tenant_limit`) and holds up nobody",
    "priorities_max": "highest priority that users may give to their executions, by tenant, and below 0 what they get "
    "without asking for any; `*` stands for all others, and who is not named may give up to 1000; operators and admins "
    "may give any",
    "user_limits": "most `cores_milli` and `memory_bytes` that the services of each user may reserve in a tenant, by "
    "tenant; `*` stands for all others. Both limits hold, the user's and the tenant's. Who has reached its own waits "
    "(`user_limit`) and holds up nobody",
    "usage_half_life_s": "order `fair-share`: use counts half after so many seconds",
    "fair_share_age_weight": "order `fair-share`: what `ageing_s` of waiting add to the factor of use (at most 1)",
    "interactive_share": "interactive applications come before batch ones of the same priority while they hold, "
    "without elastic services that give way, "
    "at most this share of the cluster's cores and memory; 0: no precedence",
    "node_holds": "nodes that are drained (`tenant` null) or reserved for a tenant, with `since_s`, `until_s`, `note`; "
    "set by `zoe nodes drain` and `reserve`. The filter `holds` sees to them, named or not",
    "filters": "which nodes are left out, in this order; see below",
    "weighers": "which of the nodes left is taken: scores times weights, added; see below",
    "queue_scan_max": "most executions looked at in one pass; the others are told so (`scan_limit`)",
    "placements_per_tick_max": "most services placed in one pass",
    "start_attempts_max": "most tries of an execution whose ends were the platform's doing",
    "elastic_failures_max": "after so many failures an elastic service is given up",
    "elastic_backoff_s": "pause before a failed elastic service is tried again, doubled each time",
    "retry_backoff_s": "pause before a failed execution is tried again, doubled each time",
    "retry_backoff_max_s": "longest such pause",
    "storage_patience_s": "so many seconds an execution may hold its nodes while the storage controller does not put "
    "in force what it requires, or makes no view; then it is queued again, or reads the plain objects",
    "idle_after_s": "an interactive execution that nobody used for so many seconds is warned (`idle_warned`); 0: none. "
    "A use is a page opened, a change or a message sent through the proxy, or work (`idle_cores_milli`)",
    "idle_warning_s": "so many seconds after the warning it ends with the cause `idle`, unless somebody uses it",
    "idle_cores_milli": "a service that uses so many thousandths of a core, on average over a minute, is at work, and "
    "its execution in use though nobody looks at it; 0: work is no use",
    "idle_without_ports": "also those without a proxied port, whose use nobody sees; counted since they are ready",
    "version": "grows with each change; not to be set",
}
ORDERS_TEXT = """\
## Orders
A higher priority comes first in every order; ties go to who came first, then by id. What waits is looked at in this
sequence, and what runs gets elastic services in it; when essential services need room, elastic ones go in the opposite
sequence. No order ever takes back essential services. The expected run time is the declared one (`size.run_time_s`),
else the mean of the last two successful runs of the same user's application of the same name, else the time limit,
else an hour;
`zoe explain` says which. A run time of less than a second counts as one: nothing is checked against what is declared,
so a smaller one must not be worth more. For what waits `sjf` and `srpt` coincide; for rigid applications that were
never tried before, `las` and `fifo` do.
"""
PSBS_TEXT = """\
`psbs` is practical size-based scheduling (Dell'Amico, Carra and Michiardi, "PSBS: Practical Size-Based Scheduling",
IEEE Transactions on Computers 65(7), 2016), adapted to cores that start as a whole and are not taken back. There, a
single server that can be shared at will serves whoever ends first in an emulated processor sharing, and all late jobs
at once. Here, the emulation shares the usable cores of the present nodes: everybody from its submission on, at a pace
of cores there are over cores wanted by all that are virtually there, at most 1. It is computed anew at each pass from
what waits, what runs and the last 2,000 executions that ended. The sequence decides who starts next and who gets
elastic services; what runs keeps its essential services. Sharing among the late becomes taking turns by least
attained service. So one that runs far longer than was expected goes first only until others are late, too: by their
own expected run
times, never by its true one. For rigid applications that were never tried before, the late are served in the sequence
of the emulation.
"""
ORDER_MEANINGS = {
    "fifo": "who came first, first",
    "sjf": "shortest expected run time first; waiting halves it",
    "size": "smallest area first: the expected run time times the largest share of the cluster that all services ask "
    "for, of cores, memory or a kind of device; waiting halves it",
    "srpt": "shortest remaining run time first: what runs has the time since its placement taken off; "
    "waiting halves it",
    "hrrn": "highest response ratio first: (waiting + run time) / run time, so that waiting counts the "
    "more the shorter it is; ages by itself",
    "las": "least attained service first: fewest core-seconds held so far, in all tries",
    "psbs": "who would end first if all ran at once, slowed down equally, by the expected run times; those that would "
    "have ended by now (they are late) before all others, taking turns: fewest core-seconds so far; ages by itself",
    "edf": "earliest deadline first; those without one after all others",
    "wfp3": "largest (waiting / run time)^3 times cores first: of two that waited alike, the wider",
    "unicef": "largest waiting / (log2(cores) times run time) first: small ones that wait come first",
    "f1": "least log10(run time) times cores + 870 log10(arrival) first",
    "f2": "least sqrt(run time) times cores + 25,600 log10(arrival) first",
    "f3": "least run time times cores + 6,860,000 log10(arrival) first",
    "f4": "least run time times sqrt(cores) + 530,000 log10(arrival) first",
    "fair-share": "the tenant that used least of what is due to it first: 2^-(share of use / share due), plus the "
    "weight of its waiting (after the multifactor priority of Slurm)",
}
PUBLISHED_TEXT = """\
`wfp3` and `unicef` are from Tang, Lan, Desai and Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P
systems", IEEE CLUSTER 2009; `f1` to `f4` from Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies
with simulation and machine learning", SC 2017, learned from simulated jobs. Cores are the largest share of the cluster
that is asked for, in cores, as in `size`; `ageing_s` plays no part. `unicef` is infinite on one core or less, so these
come before all others, by waiting over run time. The arrival is in seconds, from 15 days ago on, since an
installation has no start of a log; what has waited for longer comes before all others by `f1` to `f4`.
"""
TENANCY_TEXT = """\
## Tenants
With `drf` tenants take turns (dominant resource fairness, Ghodsi et al., NSDI 2011): always the one whose running cores
and services hold the least dominant share, over its weight, with its first by the order. So it goes for the cores that
wait, and for elastic services, which are given one a turn; those that the last turns would give are taken back first.
For turns of cores, elastic services that give way to cores do not count.
"""
TENANCIES_MEANINGS = {"none": "the order alone counts", "drf": "dominant resource fairness above the order"}
BACKFILL_MEANINGS = {
    "none": "nobody passes",
    "easy": "whoever does not delay it, by the estimates of run times, in the order of the queue; elastic services "
    "give way as to any essential service, and with `preemption: none` get nothing that would delay it",
    "easy-sjbf": "the same, the shortest looked at first",
    "conservative": "whoever delays nobody before it: everybody in turn keeps the earliest room by the estimates, and "
    "these reservations are made anew at each pass; with `preemption: none` elastic services get nothing that would "
    "delay any",
}
REASONS = {
    "no_resources": "the essential services do not fit now; the counts say how many nodes each filter refused. "
    "Where the "
    "hint says that it was not shown to fit even on empty nodes, it does not hold up others",
    "making_room": "it has its places, and what leaves them has not ended: elastic services that give way, also "
    "within the limit of its tenant or user, or services of an execution that stops",
    "behind_in_queue": "others come first by the policy, and the first of them waits for room",
    "never_fits": "it is proven that the essential services cannot fit on the present nodes, even empty ones; "
    "it does not hold up "
    "others",
    "no_nodes": "no node is known: the master has not seen any yet, or all are gone; or all are down or drained",
    "nodes_away": "the essential services need nodes that are down, drained or reserved for others, and would "
    "not fit on those that "
    "are there even if they were empty; it holds up nobody, and is first again by the order once they are back",
    "foreign_use": "the essential services fit only once programs that Zoe does not run use less of the nodes, "
    "even if nothing of "
    "Zoe's ran there; the reason names the nodes and how much these programs use. It keeps its turn and "
    "holds up nobody",
    "retry_backoff": "it failed and is tried again after a pause",
    "storage_bandwidth": "the bandwidth that it requires is not free; it holds up nobody who can start",
    "storage_refused": "the storage controller refuses the bandwidth that it requires, and says why; it is asked again",
    "tenant_limit": "its tenant has reached a limit of the policy, and not by elastic services that would give way, "
    "or what is left is for one of the tenant that comes first; it holds up nobody of other tenants",
    "user_limit": "its user has reached a limit of the policy in this tenant, and not by elastic services that would "
    "give way, or what is left is for one of the user that comes first; it holds up nobody else",
    "image_pulling": "an image of it is being pulled (only back-ends that pull)",
    "locating_inputs": "the object store is asked where its inputs lie, for a second at most; it holds up nobody",
    "scan_limit": "the queue is longer than one pass looks at, or the pass has placed enough",
}
FILTERS_TEXT = """\
## Filters
A filter leaves a node out and says why; `zoe explain` shows it. The needed ones cannot be left out.
[Plugins](../extending.md#a-filter-or-a-weigher) bring more; `zoe policy get` lists what is installed.
"""
WEIGHERS_TEXT = """\
## Weighers
The node with the highest sum of weight times score is taken; a negative weight turns a preference around (spread
becomes pack). Ties go by name. [Plugins](../extending.md#a-filter-or-a-weigher) bring more.
"""
REASONS_TEXT = """\
## Reasons of waiting
Stable codes; they never change their meaning. `zoe ls` shows the code, `zoe explain` a sentence and the nodes.
"""


def policy_page() -> str:
    """The page."""
    described = Policy()
    fields = [(f"`{name}`", _value(getattr(described, name)), FIELDS[name]) for name in PolicyView.model_fields]
    return page(
        "The policy",
        "`zoe_lib/domain/policy.py` and `zoe_master/scheduler`",
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
