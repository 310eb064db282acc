"""Names on engines, derived from their objects, so that no object ever gets two names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.engine.spec.naming.attempts import Attempt

_LABEL_MAX = 63  # of a DNS label, and of the name of a Swarm service


def host_name(component: str, index: int) -> str:
    """Return the name of an instance inside its execution's network."""
    suffix = f"-{index}"
    if len(component) + len(suffix) <= _LABEL_MAX:
        return component + suffix
    short = _digest(component, 8)
    return f"{component[: _LABEL_MAX - len(suffix) - len(short) - 1]}-{short}{suffix}"


def group_name(installation: str, component: str, services: Sequence[ServiceId]) -> str:
    """Return the name of these services' Swarm service; the digest makes it unique, the rest is for people."""
    return f"zoe-{component[:32].rstrip('-')}-{_digest(' '.join((installation, *services)), 16)}"


def attempt_name(installation: str, attempt: Attempt) -> str:
    """Return the name of the network and the secret of an attempt."""
    return f"zoe-{_digest(f'{installation} {attempt.number} {attempt.execution_id}', 20)}"


def gateway_name(installation: str, attempt: Attempt, fingerprint: str) -> str:
    """Return the name of an attempt's gateway and of its secret, by the key of the secret."""
    return f"zoe-gateway-{_digest(f'{installation} {attempt.number} {attempt.execution_id} {fingerprint}', 20)}"


def volume_name(installation: str, tenant: str, volume: str) -> str:
    """Return the name of a tenant's named volume; the digest keeps tenants apart, even with odd names."""
    return f"zoe-{_digest(f'{installation} {tenant} {volume}', 12)}-{volume}"


def scratch_name(installation: str, service: ServiceId) -> str:
    """Return the name of a service's own volume."""
    return f"zoe-scratch-{_digest(f'{installation} {service}', 20)}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
