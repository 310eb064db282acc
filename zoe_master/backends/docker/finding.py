"""Find the engine of this machine: by a setting, a variable, a context of Docker's client, or its usual socket."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from docker.context import ContextAPI
from docker.errors import DockerException

from zoe_master.backends.base import BackendError

DOCKER, PODMAN = "docker", "podman"
DEFAULT_URL = "unix:///var/run/docker.sock"
PODMAN_OF_ROOT = "unix:///run/podman/podman.sock"
_SETTING = "engine_url (ZOE_ENGINE_URL)"


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """The Unix socket of an engine. `named_by`: what names it, such as a variable; empty for the usual socket."""

    url: str
    kind: str = DOCKER
    named_by: str = ""

    @property
    def path(self) -> str:
        """Return the path of the socket."""
        return urlsplit(self.url).path

    def __str__(self) -> str:
        """Return the path, and what names it."""
        return f"{self.path}{self.named}"

    @property
    def named(self) -> str:
        """Return what names it, as a part of a sentence."""
        return f", which {self.named_by} names" if self.named_by else ""

    @property
    def way_on(self) -> str:
        """Return what to do if no engine answers there."""
        start = f"start it by {self.start_command}" if self.kind == PODMAN else "start it"
        return f"{start}, or change {self.named_by}" if self.named_by else f"{start}, or name its socket by {_SETTING}"

    @property
    def start_command(self) -> str:
        """Return the commands that start Podman's service at this socket."""
        serve = f"`podman system service --time 0 {self.url}`"
        if self.named_by:
            return serve
        return f"`systemctl {'' if os.geteuid() == 0 else '--user '}start podman.socket` or {serve}"


def find_engine(given: str, kind: str = DOCKER, environment: Mapping[str, str] = os.environ) -> EngineAddress:
    """Return the address of the engine: the given URL, CONTAINER_HOST for Podman, DOCKER_HOST, the context, or the
    usual socket.

    BackendError for an engine of another machine, whose paths and addresses are not those of this one.
    """
    found = _find(given, kind, environment)
    if urlsplit(found.url).scheme != "unix":
        raise BackendError(
            f"the back-end {kind} needs an engine of this machine, and the one at {found.url}"
            f"{found.named} is not a Unix socket: set "
            f"{_SETTING} to one such as {_usual(kind, environment)}, or use the back-end swarm for other machines"
        )
    return found


def _find(given: str, kind: str, environment: Mapping[str, str]) -> EngineAddress:
    if given:
        return EngineAddress(given, kind, _SETTING)
    for name in (("CONTAINER_HOST",) if kind == PODMAN else ()) + ("DOCKER_HOST",):
        if url := environment.get(name):
            return EngineAddress(url, kind, name)
    name, url = _of_context(environment.get("DOCKER_CONTEXT", ""))
    if url and url != DEFAULT_URL:
        return EngineAddress(url, kind, f"Docker's context {name}")
    return EngineAddress(_usual(kind, environment), kind)


def _usual(kind: str, environment: Mapping[str, str]) -> str:
    if kind != PODMAN:
        return DEFAULT_URL
    if os.geteuid() == 0:
        return PODMAN_OF_ROOT
    return f"unix://{environment.get('XDG_RUNTIME_DIR') or f'/run/user/{os.geteuid()}'}/podman/podman.sock"


def _of_context(name: str) -> tuple[str, str]:
    """Return the name and the URL of a context of Docker's client, by default the present one."""
    try:
        context = ContextAPI.get_context(name) if name else ContextAPI.get_current_context()
    except (DockerException, OSError, ValueError) as error:
        raise BackendError(f"Docker's context cannot be read: {error}") from error
    if name and context is None:
        raise BackendError(f"Docker has no context {name} (DOCKER_CONTEXT)")
    return (str(context.Name), str(context.Host or "")) if context is not None else ("", "")
