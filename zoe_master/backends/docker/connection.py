"""Find the engine of this machine, and check that it can be used."""

from __future__ import annotations

import getpass
import logging
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from docker.context import ContextAPI
from docker.errors import DockerException

from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, BackendUnavailable
from zoe_master.backends.engine.daemon.engines import API_VERSION, Engine
from zoe_master.backends.engine.errors import UNREACHABLE, words_of

_log = logging.getLogger(__name__)
DEFAULT_URL = "unix:///var/run/docker.sock"
_CONNECT_S = 5.0
_HOW_TO_NAME = "start it, or name its socket by engine_url (ZOE_ENGINE_URL)"


@dataclass(frozen=True, slots=True)
class EngineHost:
    """The machine of an engine: the node of its services."""

    name: str
    total: Resources
    labels: Mapping[str, str]


def engine_url(given: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL of the engine as Docker's client chooses it: the given one, DOCKER_HOST, the context, the default.

    BackendError for an engine of another machine, whose paths and addresses are not those of this one.
    """
    url = given or environment.get("DOCKER_HOST") or _url_of_context(environment.get("DOCKER_CONTEXT", ""))
    if urlsplit(url).scheme != "unix":
        raise BackendError(
            f"the back-end docker needs an engine of this machine, and {url} is not a Unix socket: set engine_url "
            f"(ZOE_ENGINE_URL) to one such as {DEFAULT_URL}, or use the back-end swarm for other machines"
        )
    return url


def check_engine(url: str) -> None:
    """Raise BackendError or BackendUnavailable, with a sentence, if the engine cannot be used."""
    path = urlsplit(url).path
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(_CONNECT_S)
        try:
            line.connect(path)
        except PermissionError:
            raise BackendError(
                f"{getpass.getuser()} may not use the engine at {path}: join the group of this socket (mostly docker), "
                "or run Zoe as root"
            ) from None
        except OSError as error:
            why = error.strerror or "no answer in time"
            raise BackendUnavailable(f"no engine answers at {path} ({why}): {_HOW_TO_NAME}") from None


def open_engine(url: str, timeout_s: float = _CONNECT_S) -> Engine:
    """Return the engine, after a check that it answers and is new enough. Raises BackendError, BackendUnavailable."""
    engine = Engine(url, None, timeout_s)
    try:
        read_host(engine)
    except BaseException:
        engine.close()
        raise
    return engine


def read_host(engine: Engine) -> EngineHost:
    """Return the engine's machine; BackendError if the engine is too old, BackendUnavailable if it does not answer."""
    try:
        version, info = engine.api.version(), engine.api.info()
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
    )


def _url_of_context(name: str) -> str:
    try:
        context = ContextAPI.get_context(name) if name else ContextAPI.get_current_context()
    except (DockerException, OSError, ValueError) as error:
        raise BackendError(f"Docker's context cannot be read: {error}") from error
    if name and context is None:
        raise BackendError(f"Docker has no context {name} (DOCKER_CONTEXT)")
    return str((context.Host if context is not None else None) or DEFAULT_URL)


def _too_old(engine: str) -> str:
    return f"{engine} does not speak version {API_VERSION} of Docker's API: install Docker Engine 20.10 or later"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
