"""The causes of waiting that no end of another execution removes, found once for each kind of core in a pass."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from zoe_lib.domain.applications.exact_packing import StepBudget
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.executions.gateway import core_groups
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_master.scheduler.placement.admission import core_requests, lasting_refusal
from zoe_master.scheduler.placement.core_columns import ServiceColumns
from zoe_master.scheduler.placement.placement import ServicePlacer
from zoe_master.scheduler.placement.quick_reasons import QuickReasons

# An execution that waits for one of these reasons blocks no other, nor do equal ones in the same pass.
LASTING = (ReasonCode.NEVER_FITS, ReasonCode.NODES_AWAY, ReasonCode.WINDOW_AHEAD, ReasonCode.FOREIGN_USE)
# Kinds of cores with such a reason that a pass looks at node by node; of further ones it says less (`QuickReasons`).
_KINDS_MAX = 8
# Nodes of all kinds together that a pass looks at for mixed cores, of which `QuickReasons` is not sure: a tenth of a
# second.
_MIXED_LOOKS = 4_000


class LastingReasons:
    """The lasting reasons of one pass. They change no account, and use none of the search steps of the pass."""

    def __init__(self, placer: ServicePlacer, now_s: float) -> None:
        self._placer = placer.with_ledger(placer.ledger)
        self._placer.steps = StepBudget()
        self._quick = QuickReasons(placer, now_s)
        self._known: dict[Hashable, Reason] = {}  # by the common properties of equal cores
        self._mixed: dict[Hashable, Reason | None] = {}
        self._mixed_max = max(_MIXED_LOOKS // max(len(placer.ledger.nodes), 1), 1)

    def keep(self, execution: Execution, reason: Reason) -> None:
        """Keep the reason of a core for equal ones."""
        self._known[self._alike(execution)] = reason

    def known(self, execution: Execution) -> Reason | None:
        """Return the reason of the first equal core; thousands may need the same nodes."""
        return self._known.get(self._alike(execution)) if self._known else None

    def quick(self, execution: Execution) -> Reason | None:
        """Return a reason once enough kinds were looked at node by node; None if it is not sure to last."""
        if len(self._known) < _KINDS_MAX or not self._quick.is_lasting(execution):
            return None
        return self._quick.reason(execution)

    def unsettled(self, columns: ServiceColumns) -> Sequence[int]:
        """Return the places of executions for which `behind_others` may have a reason, by their columns."""
        if self._placer.has_plugins:
            return range(len(columns.plain))
        places: list[int] = self._quick.unsettled(columns).nonzero()[0].tolist()
        return places

    def behind_others(self, execution: Execution) -> Reason | None:
        """Return the reason of an execution behind the first waiting one; None if an end of others may help."""
        if not self._quick.is_lasting(execution):
            return self._of_mixed(execution)
        reason = self.known(execution) or self.quick(execution)
        if reason is None:
            reason = self._look(execution) or self._quick.reason(execution)
            self.keep(execution, reason)
        return reason if reason.code in LASTING else None

    def _of_mixed(self, execution: Execution) -> Reason | None:
        """Return the exact reason of a core that fits by its amounts; None also for kinds beyond the bound."""
        groups = core_groups(execution.application, self._placer.ledger.gateway)
        if len(groups) < 2 and not self._placer.has_plugins:
            return None
        kind = self._alike(execution)
        if kind not in self._mixed:
            if len(self._mixed) >= self._mixed_max:
                return None
            self._mixed[kind] = _without_counts(self._look(execution))
        return self._mixed[kind]

    def _look(self, execution: Execution) -> Reason | None:
        requests = core_requests(execution, self._placer)
        return lasting_refusal(execution, requests[0], self._placer) if requests else None

    def _alike(self, execution: Execution) -> Hashable:
        groups = core_groups(execution.application, self._placer.ledger.gateway)
        wanted = tuple((component.name, component.demand, count) for component, count in groups)
        return execution.tenant, self._placer.leaves_s(execution), wanted


def _without_counts(reason: Reason | None) -> Reason | None:
    """Return a lasting reason without its numbers of nodes, which change with each end of another execution."""
    return replace(reason, counts={}) if reason is not None and reason.code in LASTING else None
