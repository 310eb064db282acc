"""The network of each attempt: a bridge that only its services share.

Services that are alone in their execution share one bridge instead, on which no container reaches another: engines have
addresses for few networks, and need time for each.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection
from typing import Any

from docker.errors import APIError

from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.errors import UNREACHABLE, status_of, words_of
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt, attempt_labels, attempt_of
from zoe_master.backends.engine.spec.naming.names import attempt_name
from zoe_master.backends.services.failures import CannotStartError, CannotStartYetError

_log = logging.getLogger(__name__)
_LOCKS = 64
"""Of two attempts, the networks are mostly made at the same time."""
ALONE = Attempt("", 0)
"""Stands for all services that are alone."""
_APART = {"com.docker.network.bridge.enable_icc": "false"}
_NO_POOL = ("could not find an available", "all predefined address pools")


def is_alone(start: ServiceStart) -> bool:
    """Return whether no other service may want to reach it by a name or a port."""
    component = start.component
    return not component.ports and component.total_count == 1 and len(start.peers) == 1


class AttemptNetworks:
    """Created before the first container that needs it, removed after the last one; found by label after a crash.

    Thread-safe.
    """

    def __init__(self, engine: Engine, settings: DockerSettings) -> None:
        self._engine = engine
        self._installation = settings.installation
        self._locks = [threading.Lock() for _ in range(_LOCKS)]
        self._known: set[Attempt] = set()
        self._can_part = True
        self.left = True
        """Whether there may be networks to remove."""

    def ensure_for(self, start: ServiceStart) -> str:
        """Return the name of a service's network, creating it if it is missing. Raises CannotStartError."""
        if is_alone(start) and self._can_part:
            try:
                return self.ensure(ALONE, "")
            except APIError as error:
                _log.warning("each execution gets a network, since one cannot part containers: %s", words_of(error))
                self._can_part = False
        return self.ensure(Attempt(start.execution_id, start.attempt), start.tenant)

    def ensure(self, attempt: Attempt, tenant: str) -> str:
        """Return the name of the attempt's network, creating it if it is missing. Raises CannotStartError."""
        name = attempt_name(self._installation, attempt)
        with self._lock_of(attempt):
            if attempt not in self._known:
                self._create(name, attempt, tenant)
                self._known.add(attempt)
                self.left = True
        return name

    def forget(self, start: ServiceStart) -> None:
        """Look again for the network of a service: it may have been removed from outside."""
        self._known -= {ALONE, Attempt(start.execution_id, start.attempt)}

    def sweep(self, in_use: Callable[[], Collection[Attempt]]) -> None:
        """Remove the networks of all other attempts; the next sweep retries those that containers still use.

        A service that begins meanwhile is among `in_use` before it asks for its network.
        """
        own = {"label": f"{labels.INSTALLATION}={self._installation}"}
        api: Any = self._engine.api
        self.left = False
        for network in api.networks(filters=own):
            attempt = attempt_of(network["Labels"])
            with self._lock_of(attempt):
                if attempt in in_use():
                    self.left = True
                    continue
                self._known.discard(attempt)
                try:
                    api.remove_network(network["Id"])
                except UNREACHABLE as error:
                    self.left |= status_of(error) != 404

    def _lock_of(self, attempt: Attempt) -> threading.Lock:
        return self._locks[hash(attempt) % _LOCKS]

    def _create(self, name: str, attempt: Attempt, tenant: str) -> None:
        api: Any = self._engine.api
        tags = attempt_labels(attempt, tenant, self._installation)
        try:
            options = _APART if attempt == ALONE else None
            api.create_network(name, driver="bridge", options=options, labels=tags, check_duplicate=True)
        except UNREACHABLE as error:
            if status_of(error) == 409:
                self._check_owner(name, attempt)
                return
            if any(words in words_of(error).lower() for words in _NO_POOL):
                raise CannotStartYetError(
                    "the engine has no addresses left for another network: wait until other executions end, or ask the "
                    "admin for more by default-address-pools in its daemon.json",
                    Cause.ENGINE_FAULT,
                    words_of(error),
                ) from error
            raise

    def _check_owner(self, name: str, attempt: Attempt) -> None:
        """Take the network of an earlier call; raise CannotStartError if it is a foreign one."""
        api: Any = self._engine.api
        found = [network for network in api.networks(names=[name]) if network["Name"] == name]
        if any(attempt_of(network["Labels"] or {}) != attempt for network in found):
            raise CannotStartError(f"the engine already has a network called {name}; ask the admin to remove it")
        if not found:
            raise CannotStartYetError("its network is being removed", Cause.ENGINE_FAULT)
