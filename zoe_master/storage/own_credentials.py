"""Choose the credential of an execution's services: its own, or its tenant's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import structlog

from zoe_lib.domain.executions.execution import Execution, ExecutionId
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.storage import Credential
from zoe_master.storage.execution_credentials import ExecutionCredentials

log = structlog.get_logger(__name__)


class OwnCredentials:
    """Holds the result of the last poll, for starting services.

    needs: returns whether an execution would use its own credential; called once for each. enabled: whether any service
    accepts such credentials. An execution waits for its own, but not longer than for other answers of the controller
    (`storage_patience_s`); then its services get the tenant's, and the log and the journal record it.
    """

    def __init__(self, needs: Callable[[Execution], bool], enabled: bool = True) -> None:
        self._decide = needs
        self._enabled = enabled
        self._needed: dict[ExecutionId, bool] = {}
        self._now = ExecutionCredentials()
        self._since_s: dict[ExecutionId, float] = {}
        self._without: set[ExecutionId] = set()

    def wanted_credentials(self, active: Sequence[Execution]) -> Mapping[ExecutionId, str] | None:
        """Return the tenants of the active executions that need one, by execution; None if no service accepts any."""
        if not self._enabled:
            return None
        self._needed = {execution.id: self._needs_credential(execution) for execution in active}
        found = {execution.id: execution.tenant for execution in active if self._needs_credential(execution)}
        self._since_s = {text: at_s for text, at_s in self._since_s.items() if text in found}
        self._without &= found.keys()
        return found

    def take(self, brought: ExecutionCredentials) -> None:
        """Store the result of a poll."""
        self._now = brought

    def credential_of(self, execution: Execution) -> Credential | None:
        """Return the execution's own credential, if it exists."""
        return self._now.known.get(execution.id) if self._enabled else None

    def is_awaited(self, execution: Execution, now_s: float, patience_s: float) -> bool:
        """Return whether to start its services later, because its credential may still come."""
        if self._now.offered is False or execution.id in self._now.known or not self._needs_credential(execution):
            return False
        if now_s < self._since_s.setdefault(execution.id, now_s) + patience_s:
            return True
        if execution.id not in self._without:
            self._without.add(execution.id)
            log.warning(
                "an execution uses the credential of its tenant: none of its own came in time", execution=execution.id
            )
        return False

    def gave_up(self, execution: Execution) -> bool:
        """Return whether its services get the tenant's credential because no own one came in time."""
        return execution.id in self._without and execution.id not in self._now.known

    def waiting_reason(self, execution_id: ExecutionId, now_s: float, patience_s: float) -> Reason | None:
        """Return the reason if the services of an execution wait for its credential; None if they do not. For any
        thread.
        """
        since_s = self._since_s.get(execution_id)
        if since_s is None or self._now.offered is False or execution_id in self._now.known:
            return None
        left_s = since_s + patience_s - now_s
        if left_s <= 0:
            return None
        return Reason(
            ReasonCode.CREDENTIAL,
            "It has its nodes, and waits for its own credential for the object store, which the storage controller has "
            f"not issued. Its services start with its tenant's in {left_s:.0f} s.",
        )

    def _needs_credential(self, execution: Execution) -> bool:
        if not self._enabled:
            return False
        if execution.id not in self._needed:
            self._needed[execution.id] = self._decide(execution)
        return self._needed[execution.id]
