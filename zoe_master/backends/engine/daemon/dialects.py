"""Podman's answers as Docker's: everything that differs between the two is here."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import docker

_HEAD = "Libpod-API-Version"
"""In each answer of Podman, and in none of Docker."""
_STATUS = {
    "already in use": 409,
    "already used": 409,
    "can only kill running": 409,
    "running or paused": 409,
    "being used": 403,
    "OCI ": 400,
}
"""Podman answers 500 where Docker refuses a request: the status by its words."""
_KILLED = 137
KILLED_WORDS = "ended by signal 9, from inside or for lack of memory: Podman does not tell"
"""With control groups of version 1, Podman does not see that the kernel ended a container for lack of memory."""
_HUB = ("docker.io/library/", "docker.io/", "localhost/")
_ALL_SIGNALS = frozenset({1, 2, 3, 9, 15})
_ALWAYS_LIMITED = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}


class EngineClient(docker.APIClient):
    """The client of Docker's API. `podman`: whether the engine is Podman, once it has answered."""

    podman = False

    def _raise_for_status(self, response: Any) -> None:
        if _HEAD in response.headers:
            self.podman = True
            if response.status_code == 500:
                response.status_code = docker_status(response.text)
        super()._raise_for_status(response)  # type: ignore[misc]  # of its base, which the types leave out

    def inspect_container(self, container: Any) -> Any:
        """Return a container; its state is `stopped` in Podman until it is cleaned up."""
        found = super().inspect_container(container)
        state = found["State"]
        if state["Status"] == "stopped":
            state["Status"] = "exited"
        if self.podman and state["ExitCode"] == _KILLED and not (state["OOMKilled"] or state["Error"]):
            state["Error"] = KILLED_WORDS
        return found

    @contextmanager
    def waiting_at_most(self, seconds: int) -> Iterator[None]:
        """Wait less long for answers meanwhile."""
        before, self.timeout = self.timeout, min(self.timeout, seconds)
        try:
            yield
        finally:
            self.timeout = before

    def controllers(self) -> list[str]:
        """Return the kernel's controllers that Podman may use; in Docker's words, it says that it may use all."""
        found = self.get(f"{self.base_url}/v4.0.0/libpod/info", timeout=self.timeout)
        self._raise_for_status(found)
        return list(found.json()["host"]["cgroupControllers"] or ())

    def _check_is_tty(self, container: Any) -> bool:  # noqa: ARG002 - its base inspects the container
        """Return that output is not that of a terminal, which Zoe gives to no container."""
        return False

    def images(self, *names: Any, **how: Any) -> Any:
        """Return the images by their short names."""
        found = super().images(*names, **how)
        if self.podman:
            for image in found:
                image["RepoTags"] = [short_name(name) for name in image.get("RepoTags") or ()]
        return found

    def create_container_from_config(self, config: Any, *name: Any, **how: Any) -> Any:
        """Create a container; with limits that Podman can set."""
        if self.podman:
            config["HostConfig"] = with_limits(config["HostConfig"])
        return super().create_container_from_config(config, *name, **how)  # type: ignore[no-untyped-call]


def docker_status(words: str) -> int:
    """Return the status with which Docker refuses what Podman refuses with these words."""
    return next((status for part, status in _STATUS.items() if part in words), 500)


def short_name(image: str) -> str:
    """Return the name of an image without the registry that Podman adds."""
    return next((image.removeprefix(hub) for hub in _HUB if image.startswith(hub)), image)


def with_limits(host: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with limits on files and processes, if there are any limits.

    Podman adds its defaults for these two, which it cannot set if they exceed those of its own processes.
    """
    given = list(host.get("Ulimits") or ())
    named = {limit["Name"] for limit in given}
    missing = {name: resource.getrlimit(kind)[1] for name, kind in _ALWAYS_LIMITED.items() if name not in named}
    more = [{"Name": name, "Soft": most, "Hard": most} for name, most in missing.items()]
    log = dict(host.get("LogConfig") or {})
    if log.get("Type") == "local":
        log["Type"] = "json-file"
    return {**host, "LogConfig": log, "Ulimits": [*given, *more] if given else []}


def docker_event(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event in Docker's words."""
    actor, action = event["Actor"], event["Action"]
    if event["Type"] == "container" and action == "remove":
        return {**event, "Action": "destroy"}
    if event["Type"] == "network" and "container" not in actor["Attributes"]:
        return {**event, "Actor": {**actor, "Attributes": {**actor["Attributes"], "container": actor["ID"]}}}
    return event


def signals_of(attributes: Mapping[str, str]) -> frozenset[int]:
    """Return the signal of a `kill` event; Podman does not say which one it was."""
    signal = attributes.get("signal")
    return _ALL_SIGNALS if signal is None else frozenset(_numbers(signal))


def _numbers(signal: str) -> Iterator[int]:
    if signal.isdecimal():
        yield int(signal)
