"""The network of each attempt: a bridge that only its services share."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.errors import UNREACHABLE, status_of, words_of
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt, attempt_labels, attempt_of
from zoe_master.backends.engine.spec.naming.names import attempt_name
from zoe_master.backends.services.failures import CannotStartError, CannotStartYetError

_NO_POOL = ("could not find an available", "all predefined address pools")


class AttemptNetworks:
    """Created before the first container that needs it, removed after the last one; found by label after a crash.

    Thread-safe.
    """

    def __init__(self, engine: Engine, settings: DockerSettings) -> None:
        self._engine = engine
        self._installation = settings.installation
        self._lock = threading.Lock()
        self._locks: defaultdict[Attempt, threading.Lock] = defaultdict(threading.Lock)
        self._known: set[Attempt] = set()
        self.left = True
        """Whether there may be networks to remove."""

    def ensure(self, attempt: Attempt, tenant: str) -> str:
        """Return the name of the attempt's network, creating it if it is missing. Raises CannotStartError."""
        name = attempt_name(self._installation, attempt)
        with self._lock:
            lock = self._locks[attempt]
        with lock:
            if attempt not in self._known:
                self._create(name, attempt, tenant)
                self._known.add(attempt)
                self.left = True
        return name

    def forget(self, attempt: Attempt) -> None:
        """Look again for the network of an attempt: it may have been removed from outside."""
        self._known.discard(attempt)

    def sweep(self, in_use: Collection[Attempt]) -> None:
        """Remove the networks of all other attempts; the next sweep retries those in use."""
        own = {"label": f"{labels.INSTALLATION}={self._installation}"}
        api: Any = self._engine.api
        left = False
        for network in api.networks(filters=own):
            attempt = attempt_of(network["Labels"])
            if attempt in in_use:
                left = True
                continue
            self._known.discard(attempt)
            try:
                api.remove_network(network["Id"])
            except UNREACHABLE as error:
                left |= status_of(error) != 404
        self.left = left
        with self._lock:
            for attempt in [attempt for attempt in self._locks if attempt not in in_use]:
                del self._locks[attempt]

    def _create(self, name: str, attempt: Attempt, tenant: str) -> None:
        api: Any = self._engine.api
        found = next((network for network in api.networks(names=[name]) if network["Name"] == name), None)
        if found is not None:
            if attempt_of(found["Labels"] or {}) != attempt:
                raise CannotStartError(f"the engine already has a network called {name}; ask the admin to remove it")
            return
        tags = attempt_labels(attempt, tenant, self._installation)
        try:
            api.create_network(name, driver="bridge", labels=tags, check_duplicate=True)
        except UNREACHABLE as error:
            if any(words in words_of(error).lower() for words in _NO_POOL):
                raise CannotStartYetError(
                    "the engine has no addresses left for another network: wait until other executions end, or ask the "
                    "admin for more by default-address-pools in its daemon.json",
                    Cause.ENGINE_FAULT,
                    words_of(error),
                ) from error
            raise
