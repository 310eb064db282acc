"""Credentials of the object store for single executions, which end with them.

Level-triggered like SLOs: each poll makes the controller's executions equal to the active ones that use the store, with
the guarantees in force. A starting master requests all of them again, and gets the same credentials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import (
    BandwidthSlo,
    EndedTransfers,
    ExecutionBandwidth,
    StorageRefusedError,
    StorageUnavailableError,
    StoreExecution,
)
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.executions.promises import Rates
from zoe_lib.domain.values.storage import Credential

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ExecutionCredentials:
    """The credentials from a controller, by execution.

    offered: whether the controller issues any; None while unknown.
    """

    offered: bool | None = None
    known: Mapping[ExecutionId, Credential] = field(default_factory=dict)


class CredentialReconciler:
    """Polls the executions of a controller."""

    def __init__(self, controller: StorageController) -> None:
        self._controller = controller
        self._last = ExecutionCredentials()
        self.moved: Mapping[ExecutionId, ExecutionBandwidth] = {}
        """Guarantees and transfers of executions at the last poll."""
        self.ended: tuple[EndedTransfers, ...] = ()
        """Transfers of ended credentials that the journal does not have yet."""

    def look(
        self,
        tenants: Mapping[ExecutionId, str] | None,
        guaranteed: Mapping[ExecutionId, Rates],
        told: frozenset[int] = frozenset(),
    ) -> ExecutionCredentials:
        """Make the controller's executions equal to these, by their tenants (None: unknown, or no service accepts such
        credentials, so request nothing).

        guaranteed: the rates of those whose guarantee is in force. told: generations of ended credentials that the
        controller may forget. While the controller is away, the last state stays.
        """
        try:
            if tenants is not None:
                self._last = self._poll(tenants, guaranteed)
                self.ended = self._transfers(told) if self._last.offered else ()
        except StorageUnavailableError as error:
            log.warning("cannot reconcile the credentials of executions", why=str(error))
        return self._last

    def _poll(
        self, tenants: Mapping[ExecutionId, str], guaranteed: Mapping[ExecutionId, Rates]
    ) -> ExecutionCredentials:
        there = self._controller.executions()
        self.moved = there or {}
        if there is None:
            return ExecutionCredentials(offered=False)
        for text in sorted(there.keys() - tenants.keys()):
            self._controller.drop_execution(text)
        known = {text: credential for text, credential in self._last.known.items() if text in tenants and text in there}
        for entry, tenant in sorted(tenants.items()):
            rates = guaranteed.get(entry, Rates())
            slo = BandwidthSlo(rates.read or None, rates.write or None)
            if entry in known and there[entry].slo == slo:
                continue
            credential = self._request_credential(StoreExecution(entry, tenant, slo))
            if credential is not None:
                known[entry] = credential
        return ExecutionCredentials(True, known)

    def _transfers(self, told: frozenset[int]) -> tuple[EndedTransfers, ...]:
        """Let the controller forget journalled transfers; return the rest."""
        there = self._controller.ended_transfers()
        for transfers in there:
            if transfers.generation in told:
                self._controller.forget_transfers(transfers.generation)
        return tuple(transfers for transfers in there if transfers.generation not in told)

    def _request_credential(self, execution: StoreExecution) -> Credential | None:
        """Request a credential, and return it; without the guarantee if that is refused, None if the execution is."""
        for slo in dict.fromkeys((execution.slo, BandwidthSlo())):
            try:
                return self._controller.set_execution(StoreExecution(execution.id, execution.tenant, slo))
            except StorageRefusedError as error:
                log.warning("the storage controller refuses an execution", execution=execution.id, why=str(error))
        return None
