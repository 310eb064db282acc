"""Secrets of the proxy for ports of services: derived from one key, so that none is stored."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping

from zoe_lib.domain.executions.execution import Execution, ServiceId

PURPOSE = "sign in at applications"


class PortSecrets:
    """Derives secrets; every master of an installation has the same key, and therefore derives the same secrets."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or os.urandom(32)

    def secret(self, execution: Execution) -> str:
        """Return the secret of the present attempt, as 64 hexadecimal digits; every attempt has another one."""
        return hmac.new(self._key, f"{execution.attempt} {execution.id}".encode(), hashlib.sha256).hexdigest()

    def headers(self, execution: Execution | None, service_id: ServiceId, port_name: str) -> Mapping[str, str]:
        """Return the headers that a request to a port needs; none for ports without sign-in."""
        service = next((s for s in execution.services if s.id == service_id), None) if execution else None
        if execution is None or service is None:
            return {}
        port = next((port for port in execution.component_of(service).ports if port.name == port_name), None)
        if port is None or port.sign_in is None:
            return {}
        return {port.sign_in.header: port.sign_in.value(self.secret(execution))}
