"""What an execution shares on the swarm besides its services: a network and a secret. Used by one thread only."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from zoe_lib.domain.execution import ExecutionId
from zoe_master.backends.base import Start
from zoe_master.backends.failures import CannotStart
from zoe_master.backends.swarm import labels
from zoe_master.backends.swarm.engines import UNREACHABLE, Managers, status_of
from zoe_master.backends.swarm.names import execution_name
from zoe_master.backends.swarm.settings import SwarmSettings

_SECRET_BYTES = 32
Json = Mapping[str, Any]


class Infrastructure:
    """Made before the first service that needs it, removed after the last one; what a crash left is found by label."""

    def __init__(self, managers: Managers, settings: SwarmSettings) -> None:
        self._managers = managers
        self._settings = settings
        self._networks: dict[ExecutionId, str] = {}
        self._secrets: dict[ExecutionId, str] = {}
        self.left = 0
        """How many networks and secrets could not be removed yet."""

    def network(self, start: Start) -> str:
        """The id of the execution's network."""
        known = self._networks.get(start.execution_id)
        if known is not None:
            return known
        name = execution_name(self._settings.installation, start.execution_id)
        found = self._managers.ask(lambda api: api.networks(names=[name]))
        match = next((network for network in found if network["Name"] == name), None)
        if match is None:
            made = self._managers.ask(
                lambda api: api.create_network(name, "overlay", scope="swarm", labels=self._labels(start))
            )
            network_id = str(made["Id"])
        else:
            network_id = str(self._ours(match, match["Labels"], start)["Id"])
        self._networks[start.execution_id] = network_id
        return network_id

    def secret(self, start: Start) -> tuple[str, str]:
        """Id and name of the execution's secret: random bytes that nobody else has."""
        name = execution_name(self._settings.installation, start.execution_id)
        if start.execution_id not in self._secrets:
            found = self._managers.ask(lambda api: api.secrets(filters={"name": name}))
            match = next((secret for secret in found if secret["Spec"]["Name"] == name), None)
            if match is None:
                value = secrets.token_bytes(_SECRET_BYTES)
                match = self._managers.ask(lambda api: api.create_secret(name, value, labels=self._labels(start)))
            else:
                self._ours(match, match["Spec"]["Labels"], start)
            self._secrets[start.execution_id] = str(match["ID"])
        return self._secrets[start.execution_id], name

    def sweep(self, in_use: Collection[ExecutionId]) -> None:
        """Remove what belongs to no execution of these; what is still in use is tried again by the next sweep."""
        mine = {"label": f"{labels.INSTALLATION}={self._settings.installation}"}
        self.left = 0
        networks = self._managers.ask(lambda api: api.networks(filters=mine))
        for network_id in _unused(((n["Id"], n["Labels"]) for n in networks if n["Scope"] == "swarm"), in_use):
            self._remove(lambda api, one=network_id: api.remove_network(one))
        found = self._managers.ask(lambda api: api.secrets(filters=mine))
        for secret_id in _unused(((s["ID"], s["Spec"]["Labels"]) for s in found), in_use):
            self._remove(lambda api, one=secret_id: api.remove_secret(one))
        for known in (self._networks, self._secrets):
            for execution in set(known) - set(in_use):
                del known[execution]

    def forget(self, execution: ExecutionId) -> None:
        """What was known of it may be wrong: look again."""
        self._networks.pop(execution, None)
        self._secrets.pop(execution, None)

    def _remove(self, removal: Any) -> None:
        try:
            self._managers.ask(removal)
        except UNREACHABLE as error:
            if status_of(error) != 404:
                self.left += 1

    def _labels(self, start: Start) -> dict[str, str]:
        return {
            labels.INSTALLATION: self._settings.installation,
            labels.EXECUTION: start.execution_id,
            labels.TENANT: start.tenant,
            labels.CAUSE: start.cause_id,
        }

    def _ours(self, thing: Json, tags: Json | None, start: Start) -> Json:
        tags = tags or {}
        if tags.get(labels.EXECUTION) != start.execution_id:
            name = execution_name(self._settings.installation, start.execution_id)
            raise CannotStart(f"something else on the swarm is called {name}; ask the admin to remove it")
        return thing


def _unused(things: Iterator[tuple[str, Json | None]], in_use: Collection[ExecutionId]) -> Iterator[str]:
    for thing, tags in things:
        if tags is not None and tags.get(labels.EXECUTION) not in in_use:
            yield thing
