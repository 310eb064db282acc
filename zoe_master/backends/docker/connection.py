"""Check that the engine of this machine can be used, and read what it is able to do."""

from __future__ import annotations

import getpass
import logging
import os
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, BackendUnavailable
from zoe_master.backends.docker.finding import PODMAN, EngineAddress
from zoe_master.backends.engine.daemon.engines import API_VERSION, Engine
from zoe_master.backends.engine.errors import UNREACHABLE, words_of

_log = logging.getLogger(__name__)
_ANSWER_S = 2.5
_CALL_S = 5.0
_PING = b"GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n"
_LIMITS = {"cpu": ("cores", "CpuCfsQuota"), "memory": ("memory", "MemoryLimit"), "pids": ("processes", "PidsLimit")}
"""By controller of the kernel: words for its limit, and the engine's own report on it."""


@dataclass(frozen=True, slots=True)
class EngineHost:
    """The machine of an engine: the node of its services.

    rootless: its user in containers is the user who runs it, and it has network addresses that this machine does not
    reach. unheld: limits that it does not hold.
    """

    name: str
    total: Resources
    labels: Mapping[str, str]
    podman: bool = False
    rootless: bool = False
    unheld: tuple[str, ...] = ()

    @property
    def why_unheld(self) -> str:
        """Return a sentence on the limits that are not held; empty if all are."""
        if not self.unheld:
            return ""
        why = " without root" if self.rootless else ""
        return f"the engine does not hold limits of {', '.join(self.unheld)}{why} on this machine"


def check_engine(address: EngineAddress) -> None:
    """Raise BackendError or BackendUnavailable, with a sentence and soon, if no engine answers."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_ANSWER_S)
        try:
            line.connect(address.path)
            line.sendall(_PING)
            answered = line.recv(1)
        except PermissionError:
            raise BackendError(f"{getpass.getuser()} may not use the engine at {address}: {_rights(address)}") from None
        except OSError as error:
            why = error.strerror or f"no answer within {_ANSWER_S} s"
            raise _no_answer(address, why) from None
    if not answered:
        raise _no_answer(address, "it hangs up")


def open_engine(address: EngineAddress, timeout_s: float = _CALL_S) -> Engine:
    """Return the engine, after a check that it answers and is new enough. Raises BackendError, BackendUnavailable."""
    engine = Engine(address.url, None, timeout_s)
    try:
        read_host(engine)
    except BaseException:
        engine.close()
        raise
    return engine


def examine_engine(address: EngineAddress) -> EngineHost:
    """Return the engine's machine, after all checks. Raises BackendError, BackendUnavailable."""
    check_engine(address)
    engine = Engine(address.url, None, _CALL_S)
    try:
        host = read_host(engine)
    finally:
        engine.close()
    if address.kind == PODMAN and not host.podman:
        raise BackendError(f"the engine at {address} is not Podman: use the back-end docker, or change the socket")
    if host.rootless and os.geteuid() == 0:
        raise BackendError(f"the engine at {address} runs without root, and Zoe as root: run Zoe as the engine's user")
    return host


def read_host(engine: Engine) -> EngineHost:
    """Return the engine's machine; BackendError if the engine is too old, BackendUnavailable if it does not answer."""
    try:
        version, info = engine.api.version(), engine.api.info()
        podman = engine.api.podman
        rootless = bool(info.get("Rootless")) or "name=rootless" in (info.get("SecurityOptions") or ())
        controllers = engine.api.controllers() if podman and rootless else None
    except UNREACHABLE as error:
        _log.warning("the engine at %s: %s", engine.url, words_of(error))
        if "too old" in words_of(error) or "too new" in words_of(error):
            raise BackendError(_too_old("this engine")) from error
        raise BackendUnavailable(f"the engine at {engine.url} does not answer; the log has the details") from error
    if _numbers(version.get("ApiVersion", "0")) < _numbers(API_VERSION):
        raise BackendError(_too_old(f"the engine at {engine.url}, version {version.get('Version')},"))
    labels = (text.partition("=") for text in info.get("Labels") or ())
    return EngineHost(
        str(info["Name"]),
        Resources(int(info["NCPU"]) * 1000, int(info["MemTotal"])),
        {name: value or "true" for name, _, value in labels},
        podman,
        rootless,
        unheld_limits(info, controllers),
    )


def unheld_limits(info: Mapping[str, Any], controllers: Collection[str] | None) -> tuple[str, ...]:
    """Return the limits that an engine ignores, by the controllers that it may use, or else by its own report."""
    return tuple(
        words
        for controller, (words, report) in _LIMITS.items()
        if (controller not in controllers if controllers is not None else info.get(report) is False)
    )


def _no_answer(address: EngineAddress, why: str) -> BackendUnavailable:
    return BackendUnavailable(f"no engine answers at {address.path} ({why}){address.named}: {address.way_on}")


def _rights(address: EngineAddress) -> str:
    if address.kind == PODMAN:
        return "start Podman for this user by `systemctl --user start podman.socket`, or run Zoe as root"
    return "join the group of this socket (mostly docker), or run Zoe as root"


def _too_old(engine: str) -> str:
    return f"{engine} does not speak version {API_VERSION} of Docker's API: install Docker Engine 20.10 or later"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
