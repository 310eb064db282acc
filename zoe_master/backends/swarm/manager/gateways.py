"""The gateways of all running attempts: create, find, replace and remove them. Only the managers' thread changes
them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.base import BackendError
from zoe_master.backends.engine.daemon.container_facts import seconds
from zoe_master.backends.engine.errors import NOTHING, UNREACHABLE, ErrorText, error_text, error_text_of, status_of
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt, attempt_labels, attempt_of
from zoe_master.backends.engine.spec.naming.names import gateway_name
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.swarm.facts import TaskFacts
from zoe_master.backends.swarm.manager.infrastructure import AttemptInfrastructure
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.services.task_records import TaskRecord
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.spec.gateways.secrets import GatewaySecrets
from zoe_master.backends.swarm.spec.gateways.specification import PORT, gateway_spec
from zoe_master.backends.swarm.spec.specification import AttemptContext

Json = Mapping[str, Any]
_log = logging.getLogger(__name__)
_HASTE_S = 30.0
"""How long a gateway that does not run yet is polled often."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A Swarm service with one task. `port` is its port on its node, None until it runs."""

    service_id: str
    attempt: Attempt
    fingerprint: str
    node: str
    made_at_s: float
    port: int | None = None
    message: str = ""


class Gateways:
    """Level-triggered: every look compares the existing gateways with the services that bear one."""

    def __init__(
        self,
        managers: Managers,
        shared: AttemptInfrastructure,
        secrets: GatewaySecrets,
        settings: SwarmSettings,
        fetch: Callable[[str], None],
        discard: Callable[[str, Sequence[str]], None],
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._managers = managers
        self._shared = shared
        self._secrets = secrets
        self._settings = settings
        self._fetch = fetch
        self._discard = discard
        self._known: Mapping[str, Gateway] = {}
        self._failures: dict[Attempt, tuple[float, ErrorText]] = {}

    def update_list(self, services: Iterable[Json], tasks: Iterable[TaskFacts]) -> None:
        """Process the managers' present list of gateways."""
        newest = {task.group_id: task for task in sorted(tasks, key=lambda task: task.at_s)}
        found = [_gateway(service, newest.get(service["ID"])) for service in services if _is_one(service)]
        self._known = {gateway.service_id: gateway for gateway in found}

    def keep(self, records: Sequence[TaskRecord], node_ids: Mapping[str, str]) -> None:
        """Remove the gateways of ended attempts and create missing ones."""
        running = {record.attempt for record in records if not record.leaving}
        for gateway in list(self._known.values()):
            if gateway.attempt not in running or gateway.fingerprint != self._secrets.fingerprint:
                self._remove(gateway)
        if not self._settings.gateway_image:
            return
        served = {gateway.attempt for gateway in self._known.values()}
        for record in records:
            if record.wants_gateway and record.attempt not in served and record.node in node_ids:
                self._try(record, node_ids[record.node])

    def address(self, attempt: Attempt) -> tuple[str, int]:
        """Return node and port; BackendError says why there is none yet."""
        gateway = next((gateway for gateway in self._known.values() if gateway.attempt == attempt), None)
        if gateway is not None and gateway.port is not None and gateway.fingerprint == self._secrets.fingerprint:
            return gateway.node, gateway.port
        words = gateway.message if gateway is not None else ""
        _, why = self._failures.get(attempt, (0.0, error_text("Swarm has not started it", words) if words else NOTHING))
        text = why.message and f": {why.message}"
        raise BackendError(f"the gateway of execution {attempt.execution_id} is not running yet{text}")

    def by_node(self) -> Counter[str]:
        """Return the number of gateways on each node."""
        return Counter(gateway.node for gateway in self._known.values())

    @property
    def settling(self) -> bool:
        """Return whether a recent one does not run yet."""
        now_s = self._clock.now_s()
        return any(gateway.port is None and now_s < gateway.made_at_s + _HASTE_S for gateway in self._known.values())

    def _try(self, record: TaskRecord, node_id: str) -> None:
        attempt, now_s = record.attempt, self._clock.monotonic_s()
        last_s, last = self._failures.get(attempt, (float("-inf"), NOTHING))
        if now_s < last_s + self._settings.engine_retry_s:
            return
        self._fetch(self._settings.gateway_image)
        try:
            gateway = self._make(record, node_id, self._clock.now_s())
        except (CannotStartError, *UNREACHABLE) as error:
            why = (
                ErrorText(str(error))
                if isinstance(error, CannotStartError)
                else error_text_of("it could not be made", error)
            )
            self._failures[attempt] = now_s, why
            if why != last:
                _log.warning("cannot make the gateway of %s: %s", attempt.execution_id, why.detail or why.message)
            self._shared.forget(attempt)
            return
        self._failures.pop(attempt, None)
        self._known = {**self._known, gateway.service_id: gateway}

    def _make(self, record: TaskRecord, node_id: str, now_s: float) -> Gateway:
        attempt, fingerprint = record.attempt, self._secrets.fingerprint
        name = gateway_name(self._settings.installation, attempt, fingerprint)
        shared = attempt_labels(attempt, record.tenant, self._settings.installation)
        kept = self._secrets.hash_for(attempt)
        secret_id = self._shared.named_secret(name, attempt, shared, lambda: kept)
        around = AttemptContext(node_id, self._shared.network(attempt, shared), (secret_id, name))
        tags = {**shared, labels.GATEWAY: fingerprint, labels.NODE: record.node}
        spec = gateway_spec(name, tags, record.targets, around, self._settings)
        made = self._managers.change(lambda api: api.create_service(**spec))
        return Gateway(str(made["ID"]), attempt, fingerprint, record.node, now_s)

    def _remove(self, gateway: Gateway) -> None:
        try:
            self._managers.change(lambda api: api.remove_service(gateway.service_id))
        except UNREACHABLE as error:
            if status_of(error) != 404:
                return  # the next poll retries
        attempt = gateway.attempt
        own = {labels.EXECUTION: attempt.execution_id, labels.GENERATION: attempt.number}
        # Otherwise Swarm would keep its container for some seconds, and the network with it.
        self._discard(gateway.node, [f"{name}={value}" for name, value in own.items()] + [labels.GATEWAY])
        self._known = {text: kept for text, kept in self._known.items() if text != gateway.service_id}
        self._failures.pop(gateway.attempt, None)


def _is_one(service: Json) -> bool:
    return labels.GATEWAY in service["Spec"]["Labels"]


def _gateway(service: Json, task: TaskFacts | None) -> Gateway:
    tags = service["Spec"]["Labels"]
    runs = task is not None and task.state == "running" and task.wanted == "running"
    return Gateway(
        service_id=service["ID"],
        attempt=attempt_of(tags),
        fingerprint=tags[labels.GATEWAY],
        node=tags[labels.NODE],
        made_at_s=seconds(service["CreatedAt"]) or 0.0,
        port=task.published.get(PORT) if task is not None and runs else None,
        message=task.message if task is not None else "",
    )
