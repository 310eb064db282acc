"""The containers that serve users' files: one for each user of a tenant, on a node that mounts the workspaces.

They are not services: nothing is reserved for them, and they end when idle. The program comes from the master, so the
image needs only Python. Containers of a killed master also end when idle.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import secrets
import socket
import threading
import zipfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from docker.errors import APIError, NotFound
from docker.types import Mount

from zoe_files import HOME
from zoe_lib.domain.applications.images import full_name
from zoe_master.backends.base import BackendError, Endpoint, SystemUser
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.files.path_checks import PathChecks
from zoe_master.backends.engine.errors import UNREACHABLE, error_text_of
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.mounts.host_paths import HostPath, workspaces_of
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.template_values import SHARED_WORKSPACE, WORKSPACE
from zoe_master.backends.engine.spec.users import ContainerUser, user_of
from zoe_master.backends.file_task import UMASK_OF_ALL, UMASK_OF_ITS_OWN, task_of
from zoe_master.backends.services.failures import CannotStartError

_PORT = 8080
_PROGRAMS = "/run/zoe-program"
_ARCHIVE = f"{_PROGRAMS}/program.zip"
# Standard input is the length of the archive, the archive, and the task. `-I -S` starts in a third of the time.
_PROGRAM = f"""
import sys
length = int(sys.stdin.buffer.readline())
open({_ARCHIVE!r}, "wb").write(sys.stdin.buffer.read(length))
sys.path.append({_ARCHIVE!r})
from zoe_files.main import main
sys.exit(main())
"""
_CLIENT_PARTS = ("__init__", "lazy_names", "words/__init__", "words/file_paths")
_PARTS = ("zoe_files/*.py", *(f"zoe_client/{name}.py" for name in _CLIENT_PARTS))
# File cache counts, but the kernel reclaims it.
_MEMORY_BYTES = 128 * 2**20
_PROCESSES_MAX = 64
_CHECK_S, _ANSWER_S = 60.0, 15.0
_NODES_TRIED_MAX = 3
_ANSWER_BYTES_MAX = 1000
_HEAD_BYTES = 8


@dataclass(frozen=True, slots=True)
class WorkspaceUser:
    """The user whose files are served."""

    tenant: str
    user: str
    system_user: SystemUser | None


@dataclass(frozen=True, slots=True)
class _Running:
    """A container, its task, and its endpoint."""

    node: str
    container: str
    made_for: tuple[ContainerUser, tuple[HostPath, ...]]
    endpoint: Endpoint


class FileContainers:
    """Finds or starts the container of a user. Thread-safe; problems of one user do not stop others."""

    def __init__(
        self, watches: EngineWatches, paths: PathChecks, address_of: Callable[[str], str], settings: EngineSettings
    ) -> None:
        self._watches = watches
        self._paths = paths
        self._address_of = address_of
        self._settings = settings
        self._locks: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)
        self._known: dict[tuple[str, str], _Running] = {}

    def find_or_start(self, owner: WorkspaceUser) -> Endpoint:
        """Return the endpoint for a user's files; BackendError."""
        key = owner.tenant, owner.user
        with self._locks[key]:
            try:
                found = workspaces_of(owner, self._settings)
                made_for = user_of(owner, self._settings), tuple(found.values())
            except CannotStartError as error:
                raise BackendError(str(error)) from None
            if not found or not self._settings.gateway_image:
                setting = "swarm_gateway_image" if found else "engine_workspaces_dir"
                raise BackendError(f"files need the setting {setting}")
            known = self._known.pop(key, None)
            if known is None or known.made_for != made_for or not self._runs(known):
                if known is not None:
                    self._remove(known.node, known.container)
                known = self._start(owner, found, made_for)
            self._known[key] = known
            return known.endpoint

    def end(self, tenant: str, user: str) -> None:
        """Remove the container of a user that this master started."""
        with self._locks[tenant, user]:
            known = self._known.pop((tenant, user), None)
            if known is not None:
                self._remove(known.node, known.container)

    def close(self) -> None:
        """Remove the containers started by this master; uploads continue once the next master has started others."""
        for known in list(self._known.values()):
            self._remove(known.node, known.container)

    def _runs(self, known: _Running) -> bool:
        watch = self._watches.get(known.node)
        if watch is None or not watch.reachable:
            return False
        try:
            return bool(watch.engine.api.inspect_container(known.container)["State"]["Running"])
        except UNREACHABLE:
            return False

    def _start(
        self,
        owner: WorkspaceUser,
        found: Mapping[str, HostPath],
        made_for: tuple[ContainerUser, tuple[HostPath, ...]],
    ) -> _Running:
        why = f"no node with the image {self._settings.gateway_image} answers"
        for watch in self._candidates(owner)[:_NODES_TRIED_MAX]:
            try:
                self._paths.wait(watch.node, found.values(), _CHECK_S)
                container, endpoint = self._start_container(watch, owner, found, made_for[0])
                return _Running(watch.node, container, made_for, endpoint)
            except CannotStartError as error:
                why = str(error)
            except UNREACHABLE as error:
                why, _ = error_text_of(f"{watch.node} cannot serve them", error)
        raise BackendError(why)

    def _candidates(self, owner: WorkspaceUser) -> list[EngineEvents]:
        """Return the nodes that can serve a user: the same one first, as long as it can."""
        image = full_name(self._settings.gateway_image)
        ready = [w for w in self._watches.watches() if w.reachable and not w.unfit and image in (w.images or ())]

        def weight(watch: EngineEvents) -> bytes:
            return hashlib.sha256(f"{watch.node} {owner.tenant} {owner.user}".encode()).digest()

        return sorted((watch for watch in ready if self._address_of(watch.node)), key=weight)

    def _start_container(
        self, watch: EngineEvents, owner: WorkspaceUser, found: Mapping[str, HostPath], user: ContainerUser
    ) -> tuple[str, Endpoint]:
        api: Any = watch.engine.api
        secret = secrets.token_urlsafe(32)
        roots = {"workspace": WORKSPACE, "shared": SHARED_WORKSPACE if SHARED_WORKSPACE in found else WORKSPACE}
        umask = UMASK_OF_ALL if user.of_all else UMASK_OF_ITS_OWN
        task = task_of(roots, ("0.0.0.0", _PORT), self._settings.files, umask=umask)  # noqa: S104 - of the container
        mounts = [Mount(target, path.path, type="bind") for target, path in found.items()]
        limits = api.create_host_config(
            mem_limit=_MEMORY_BYTES, pids_limit=_PROCESSES_MAX, cap_drop=["ALL"], security_opt=["no-new-privileges"],
            read_only=True, tmpfs={_PROGRAMS: "size=2m,mode=1777"}, mounts=mounts, init=True, auto_remove=True,
            port_bindings={_PORT: None},
        )  # fmt: skip
        container = api.create_container(
            full_name(self._settings.gateway_image), ["-I", "-S", "-c", _PROGRAM], entrypoint=["python3"],
            user=str(user), host_config=limits, ports=[_PORT], stdin_open=True, working_dir="/",
            labels={
                labels.INSTALLATION: self._settings.installation, labels.FILES_OF: f"{owner.tenant}/{owner.user}",
            },
        )["Id"]  # fmt: skip
        try:
            said = _send_task(api, container, json.dumps({**task, "secret": secret}))
            word, _, rest = said.partition(" ")
            if word != "port":
                raise CannotStartError(f"{watch.node} cannot serve them: {rest or said or 'the program did not start'}")
            published = api.inspect_container(container)["NetworkSettings"]["Ports"][f"{_PORT}/tcp"]
            return container, Endpoint(self._address_of(watch.node), int(published[0]["HostPort"]), secret)
        except BaseException:
            self._remove(watch.node, container)
            raise

    def _remove(self, node: str, container: str) -> None:
        watch = self._watches.get(node)
        if watch is not None and watch.reachable:
            with contextlib.suppress(NotFound, APIError, *UNREACHABLE):
                watch.engine.api.remove_container(container, v=True, force=True)


def _send_task(api: Any, container: str, task: str) -> str:
    """Start a container, give it the program and the task, and return its line, empty if there is none in time."""
    attached = api.attach_socket(container, params={"stdin": 1, "stdout": 1, "stream": 1})
    line = getattr(attached, "_sock", attached)  # for a plain connection it is a file
    try:
        line.settimeout(_ANSWER_S)
        api.start(container)
        archive = _archive()
        line.sendall(b"%d\n%s%s\n" % (len(archive), archive, task.encode()))
        return _first_line(line)
    except TimeoutError:
        return ""
    finally:
        attached.close()
        attached._response.close()


def _first_line(line: socket.socket) -> str:
    """Read the output in its frames: a head of eight bytes, which ends with the length, and the text.

    Docker's client reads the socket without a timeout, and ignores data already buffered by TLS.
    """
    text = b""
    while b"\n" not in text and len(text) < _ANSWER_BYTES_MAX:
        head = _exactly(line, _HEAD_BYTES)
        if not head:
            break
        text += _exactly(line, min(int.from_bytes(head[4:], "big"), _ANSWER_BYTES_MAX))
    return text.partition(b"\n")[0].decode(errors="replace").strip()


def _exactly(line: socket.socket, wanted: int) -> bytes:
    found = b""
    while len(found) < wanted:
        piece = line.recv(wanted - len(found))
        if not piece:
            return b""
        found += piece
    return found


@cache
def _archive() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for pattern in _PARTS:
            for path in sorted(HOME.glob(pattern)):
                archive.writestr(str(path.relative_to(HOME)), path.read_bytes())
    return held.getvalue()
