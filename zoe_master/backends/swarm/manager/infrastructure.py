"""The network and the secrets that the services of an attempt share. Used by one thread only."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from docker.errors import APIError

from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.engine.errors import UNREACHABLE, status_of, words_of
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt, attempt_of
from zoe_master.backends.engine.spec.naming.names import attempt_name
from zoe_master.backends.services.failures import CannotStartError, CannotStartYetError
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.settings import SwarmSettings

_SECRET_BYTES = 32
_DIGEST_LENGTH = 16
Json = Mapping[str, Any]


class AttemptInfrastructure:
    """Created before the first service that needs it, removed after the last one; found by label after a crash."""

    def __init__(self, managers: Managers, settings: SwarmSettings) -> None:
        self._managers = managers
        self._settings = settings
        self._networks: dict[Attempt, str] = {}
        self._secrets: dict[tuple[Attempt, str], str] = {}
        self._sharing: set[Attempt] = set()
        self.left = 0
        """Number of networks and secrets that could not be removed yet."""

    def network(self, attempt: Attempt, tags: Mapping[str, str]) -> str:
        """Return the id of the attempt's network."""
        self._sharing.add(attempt)
        if attempt not in self._networks:
            name = attempt_name(self._settings.installation, attempt)
            make = {"driver": "overlay", "scope": "swarm", "labels": dict(tags)}
            self._networks[attempt] = self._found_network(name, attempt) or _create_or_find(
                lambda: str(self._managers.change(lambda api: api.create_network(name, **make))["Id"]),
                lambda: self._found_network(name, attempt),
            )
        return self._networks[attempt]

    def secret(self, attempt: Attempt, tags: Mapping[str, str]) -> tuple[str, str]:
        """Return id and name of the secret that only the attempt's services share: random bytes."""
        name = attempt_name(self._settings.installation, attempt)
        return self.named_secret(name, attempt, tags, lambda: secrets.token_bytes(_SECRET_BYTES)), name

    def file(self, attempt: Attempt, tags: Mapping[str, str], name: str, text: str) -> tuple[str, str]:
        """Return id and name of the secret with a file that the attempt's services share."""
        called = f"{attempt_name(self._settings.installation, attempt)}-{name.partition('.')[0]}"
        return self.named_secret(called, attempt, tags, text.encode), called

    def program(self, attempt: Attempt, tags: Mapping[str, str], name: str, data: bytes) -> tuple[str, str]:
        """Return id and name of the secret with a program that the attempt's services run."""
        called = f"{attempt_name(self._settings.installation, attempt)}-{name}"
        return self.named_secret(called, attempt, tags, lambda: data), called

    def content(self, attempt: Attempt, tags: Mapping[str, str], text: str) -> tuple[str, str]:
        """Return id and name of the secret with this text, shared by all files of the attempt with the same text.

        It is a secret, not a config: inspecting the engine does not reveal it.
        """
        digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]
        called = f"{attempt_name(self._settings.installation, attempt)}-{digest}"
        # Swarm refuses a secret without content.
        return self.named_secret(called, attempt, tags, lambda: text.encode() or b"\n"), called

    def owner_secret(self, attempt: Attempt, tags: Mapping[str, str], name: str, text: str) -> tuple[str, str]:
        """Return id and name of the Swarm secret for the owner's secret of this name, as of the attempt's first
        service.
        """
        short = hashlib.sha256(name.encode()).hexdigest()[:16]  # names of Swarm secrets have at most 64 characters
        called = f"{attempt_name(self._settings.installation, attempt)}-{short}"
        return self.named_secret(called, attempt, tags, text.encode), called

    def named_secret(self, name: str, attempt: Attempt, tags: Mapping[str, str], value: Callable[[], bytes]) -> str:
        """Return the id of a secret of the attempt, creating it with this value if there is none of that name."""
        self._sharing.add(attempt)
        if (attempt, name) not in self._secrets:
            data = value()
            self._secrets[attempt, name] = self._found_secret(name, attempt) or _create_or_find(
                lambda: str(self._managers.change(lambda api: api.create_secret(name, data, labels=dict(tags)))["ID"]),
                lambda: self._found_secret(name, attempt),
            )
        return self._secrets[attempt, name]

    def _found_network(self, name: str, attempt: Attempt) -> str | None:
        found = self._managers.ask(lambda api: api.networks(names=[name]))
        match = next((network for network in found if network["Name"] == name), None)
        if match is None:
            return None
        _check_owner(name, match["Labels"], attempt)
        return str(match["Id"])

    def _found_secret(self, name: str, attempt: Attempt) -> str | None:
        found = self._managers.ask(lambda api: api.secrets(filters={"name": name}))
        match = next((secret for secret in found if secret["Spec"]["Name"] == name), None)
        if match is None:
            return None
        _check_owner(name, match["Spec"]["Labels"], attempt)
        return str(match["ID"])

    def sharing(self, attempts: Collection[Attempt]) -> bool:
        """Return whether one of these attempts may have shared objects; after the first sweep, others cost no more
        look-ups.
        """
        return not self._sharing.isdisjoint(attempts)

    def sweep(self, in_use: Collection[Attempt]) -> None:
        """Remove the objects of all other attempts; the next sweep retries objects in use."""
        by_installation = {"label": f"{labels.INSTALLATION}={self._settings.installation}"}
        self.left = 0
        networks = self._managers.ask(lambda api: api.networks(filters=by_installation))
        networks = [network for network in networks if network["Scope"] == "swarm"]
        for network_id in _unused_objects(((n["Id"], n["Labels"]) for n in networks), in_use):
            self._remove(lambda api, entry=network_id: api.remove_network(entry))
        attempt_secrets = self._managers.ask(lambda api: api.secrets(filters=by_installation))
        for secret_id in _unused_objects(((s["ID"], s["Spec"]["Labels"]) for s in attempt_secrets), in_use):
            self._remove(lambda api, entry=secret_id: api.remove_secret(entry))
        tags = [*(network["Labels"] for network in networks), *(secret["Spec"]["Labels"] for secret in attempt_secrets)]
        self._sharing = {attempt_of(tag or {}) for tag in tags}
        for attempt in {*self._networks, *(attempt for attempt, _ in self._secrets)} - set(in_use):
            self.forget(attempt)

    def forget(self, attempt: Attempt) -> None:
        """Forget the cached ids, which may be wrong."""
        self._networks.pop(attempt, None)
        self._secrets = {key: secret for key, secret in self._secrets.items() if key[0] != attempt}

    def _remove(self, removal: Any) -> None:
        try:
            self._managers.change(removal)
        except UNREACHABLE as error:
            if status_of(error) != 404:
                self.left += 1


def _create_or_find(create: Callable[[], str], found: Callable[[], str | None]) -> str:
    """Create an object, and return it, or the one of an earlier call whose answer was lost: of one manager or an
    earlier master.
    """
    try:
        return create()
    except APIError as error:
        if status_of(error) != 409:
            raise
        there = found()
        if there is None:  # not listed yet, or removed again
            raise CannotStartYetError(
                "Swarm refers to something that it does not list", Cause.ENGINE_FAULT, words_of(error)
            ) from None
        return there


def _check_owner(name: str, tags: Json | None, attempt: Attempt) -> None:
    if attempt_of(tags or {}) != attempt:
        raise CannotStartError(f"the swarm already has something called {name}; ask the admin to remove it")


def _unused_objects(things: Iterator[tuple[str, Json | None]], in_use: Collection[Attempt]) -> Iterator[str]:
    for thing, tags in things:
        if tags is not None and attempt_of(tags) not in in_use:
            yield thing
