"""docs/reference/policy.md from the policy, the registries of the scheduler, and the reasons."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from scripts.reference.tables import page, table
from zoe_lib.domain.policy import FILTERS_NEEDED, ORDERS, Policy
from zoe_lib.domain.reasons import ReasonCode
from zoe_lib.wire import PolicyView
from zoe_master.scheduler.filters import FILTERS
from zoe_master.scheduler.weighers import WEIGHERS

INTRODUCTION = """\
The policy says in which order the queue is looked at and where services are placed. It is data: an admin changes it
with `zoe policy set KEY=VALUE...` or `PUT /api/v1/policy`, and the next tick of the master decides by it. A change is
refused when somebody else changed the policy meanwhile.
"""
FIELDS = {
    "order": "which of those that wait is looked at first; see below",
    "backfill": "who may pass the first that waits for room; see below",
    "ageing_s": "order `size`: waiting so many seconds counts as one halving of the size; 0: no ageing",
    "filters": "which nodes are left out, in this order; see below",
    "weighers": "which of the nodes left is taken: scores times weights, added; see below",
    "queue_scan_max": "most executions looked at in one pass; the others are told so (`scan_limit`)",
    "placements_per_tick_max": "most services placed in one pass",
    "start_attempts_max": "most tries of an execution whose ends were the platform's doing",
    "elastic_failures_max": "after so many failures an elastic service is given up",
    "elastic_backoff_s": "pause before a failed elastic service is tried again, doubled each time",
    "retry_backoff_s": "pause before a failed execution is tried again, doubled each time",
    "retry_backoff_max_s": "longest such pause",
    "version": "grows with each change; not to be set",
}
ORDER_MEANINGS = {
    "fifo": "who came first, first",
    "size": "smallest first; the size is the expected run time (`size.run_time_s`, else the time limit, else an hour) "
    "times the reserved cores of all services",
}
BACKFILL_MEANINGS = {
    "none": "nobody passes",
    "easy": "whoever does not delay it, by the estimates of run times, in the order of the queue",
    "easy-sjbf": "the same, the shortest looked at first",
}
REASONS = {
    "no_resources": "the core does not fit now; the counts say how many nodes each filter refused",
    "making_room": "elastic services of others are being stopped to make room for its core",
    "behind_in_queue": "others come first by the policy, and the first of them waits for room",
    "never_fits": "the core can never fit on the present nodes, even empty ones; it does not hold up others",
    "no_nodes": "no node is known: the master has not seen any yet, or all are gone",
    "not_yet_due": "its start time has not come (not used yet)",
    "held": "its user or an admin holds it back (not used yet)",
    "waits_for_execution": "another execution must end first (not used yet)",
    "retry_backoff": "it failed and is tried again after a pause",
    "storage_bandwidth": "the bandwidth that it requires is not free (not used yet)",
    "tenant_limit": "its tenant has reached a limit (not used yet)",
    "image_pulling": "an image of it is being pulled (only back-ends that pull)",
    "scan_limit": "the queue is longer than one pass looks at, or the pass has placed enough",
}
FILTERS_TEXT = """\
## Filters
A filter leaves a node out and says why; `zoe explain` shows it. The needed ones cannot be left out.
"""
WEIGHERS_TEXT = """\
## Weighers
The node with the highest sum of weight times score is taken; a negative weight turns a preference around (spread
becomes pack). Ties go by name.
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
        "## Orders\nA higher priority comes first in every order; ties go to who came first, then by id.\n",
        table(("order", "meaning"), [(f"`{name}`", ORDER_MEANINGS[name]) for name in sorted(ORDERS)]),
        *_backfills(),
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
