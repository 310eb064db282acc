"""The interface between the master and back-ends: the Protocol and its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Protocol, runtime_checkable

from zoe_lib.domain.applications.application import Component, Port
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions.execution import Cause, ExecutionId, ServiceId
from zoe_lib.domain.values.frozen import TextEnum, value
from zoe_lib.domain.values.storage import InputRead

Left = Callable[[], bool]
"""Returns whether the client that waits for the answer has disconnected."""


PROGRESS_BYTES_MAX = 4096
"""Bytes read at the end of a progress file: its last line."""


def client_is_waiting() -> bool:
    """Return False: the caller waits as long as necessary."""
    return False


@value(frozen=True, slots=True)
class PeerService:
    """A service of the same execution, for the address templates. `ports` are those of its component."""

    service_id: ServiceId
    component: str
    index: int
    node: str | None
    ports: tuple[Port, ...] = ()


@value(frozen=True, slots=True)
class ServiceStorage:
    """Configuration of the object store for the services of an execution.

    `inputs` and `outputs` by name. `files`: configuration for Spark and Hadoop by file name. It may contain keys, so
    only the service's user may read it, and it is stored nowhere else. `variables` contains the paths of the files.
    """

    inputs: Mapping[str, InputRead] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    def variables(self, directory: str) -> dict[str, str]:
        """Return the variables of services that find the files in this directory.

        PYTHONPATH makes the module importable that reads inputs.
        """
        found = dict.fromkeys(CONFIGURATION_VARIABLES, directory) if _CONFIGURATION & self.files.keys() else {}
        if INPUTS_FILE in self.files:
            found |= {INPUTS_VARIABLE: f"{directory}/{INPUTS_FILE}", MODULES_VARIABLE: directory}
        return found


CONFIGURATION_VARIABLES = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR")
INPUTS_FILE, INPUTS_VARIABLE, MODULES_VARIABLE = "zoe-inputs.json", "ZOE_INPUTS", "PYTHONPATH"
_CONFIGURATION = frozenset({"spark-defaults.conf", "core-site.xml"})


def is_program(text: str) -> bool:
    """Return whether a file of a component begins with `#!`, so that it must be executable."""
    return text.startswith("#!")


def joined_modules(environment: dict[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return both, where the component's variables win; directories of modules from both are joined."""
    found = {**environment, **own}
    if MODULES_VARIABLE in environment and own.get(MODULES_VARIABLE):
        found[MODULES_VARIABLE] = f"{environment[MODULES_VARIABLE]}:{own[MODULES_VARIABLE]}"
    return found


@value(frozen=True, slots=True)
class SystemUser:
    """Uid and gid of a user's services: the user's uid, and the gid of the tenant."""

    uid: int
    gid: int


@value(frozen=True, slots=True)
class ServiceSecrets:
    """Values of secrets by name, or the sentence for users why they are unavailable: then the service cannot start."""

    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    refusal: str = ""


@value(frozen=True, slots=True)
class AttachedVolume:
    """A volume of blocks to attach to a service: its id, the epoch of this attachment, and its filters, the first
    nearest to the service. `key`: of its encryption; only the back-end's own programs may read it.
    """

    id: str
    epoch: int
    filters: tuple[str, ...] = ()
    key: str = field(default="", repr=False)


@value(frozen=True, slots=True)
class ServiceVolumes:
    """The volumes of a service by name, or the sentence for users why they are unavailable: then it cannot start."""

    values: Mapping[str, AttachedVolume] = field(default_factory=dict)
    refusal: str = ""


@value(frozen=True, slots=True)
class ServiceToken:
    """The URL of the API for a service, and the token of its attempt."""

    url: str
    token: str = field(repr=False)


@value(frozen=True, slots=True)
class ServiceStart:
    """Everything needed to start one service; the same service id is always started with the same value.

    `peers` holds every newest service of the execution, this one included. `attempt` numbers the attempts of the
    execution: shared state of its services must not be shared with an earlier attempt. `bears_gateway`: if a back-end
    reaches proxied ports through a gateway, the execution's gateway is on this service's node. `cause_id` goes into
    labels and logs. `secret`: authenticates the proxy at the service's ports; only the service's user may read it, from
    the file that `{secret_file}` names, and it is stored nowhere else. Empty if no port needs one. `system_user`: the
    user of the service, where the back-end may choose; None if no number is left. `secrets`: those that the component
    requests; only the service's user may read them, and they are stored nowhere else. `promised`: other services slow
    its reserved cores by at most a twentieth, and may use its idle time. `api`: for components that request it; the
    token is a file that only the service's user may read. `volumes`: those volumes of its component that are no
    directories of nodes.
    """

    service_id: ServiceId
    execution_id: ExecutionId
    tenant: str
    user: str
    component: Component
    index: int
    node: str
    peers: tuple[PeerService, ...]
    cause_id: str = ""
    attempt: int = 1
    bears_gateway: bool = False
    storage: ServiceStorage = field(default_factory=ServiceStorage)
    secret: str = field(default="", repr=False)
    system_user: SystemUser | None = None
    secrets: ServiceSecrets = field(default_factory=ServiceSecrets)
    promised: bool = False
    api: ServiceToken | None = None
    volumes: ServiceVolumes = field(default_factory=ServiceVolumes)


class ObservedState(TextEnum):
    """What a back-end can report of a service. `starting` includes pulling an image and waiting for readiness."""

    STARTING = "starting"
    STARTED = "started"
    READY = "ready"
    STOPPING = "stopping"
    ENDED = "ended"
    LOST = "lost"


@value(frozen=True, slots=True)
class Observation:
    """The present state of one service. A service without a readiness probe is ready once its process runs.

    `at_s` is when the state began, in seconds since the epoch by the back-end's clock. For `ended`, `cause` is set, and
    `exit_code` is that of the process (128 + signal number if a signal ended it), None if it never ran. `message` is
    for everyone; `detail` holds text of the platform that may name addresses and the like, for operators. `left_files`:
    names and sizes of files in its scratch directory, which is removed; empty if there are none, or if unknown.
    """

    service_id: ServiceId
    execution_id: ExecutionId
    state: ObservedState
    at_s: float
    node: str
    backend_id: str = ""
    exit_code: int | None = None
    cause: Cause | None = None
    message: str = ""
    started_at_s: float | None = None
    detail: str = ""
    left_files: str = ""


@value(frozen=True, slots=True)
class PortAddress:
    """The address at which the master's machine reaches a port of a service, and the headers that a request needs.

    Anyone with the headers can open the port: they belong to the execution's owner.
    """

    host: str
    port: int
    headers: Mapping[str, str] = field(default_factory=dict)


@value(frozen=True, slots=True)
class Endpoint:
    """Where a process of Zoe listens for the API, and the secret that authenticates the API.

    An empty host stands for the master's host as the API knows it.
    """

    host: str
    port: int
    secret: str = field(repr=False)


@value(frozen=True, slots=True)
class WorkspaceMove:
    """The workspace of a user in a tenant to give to another user of the tenant, with the numbers of both."""

    tenant: str
    user: str
    to: str
    system_user: SystemUser | None = None
    to_system_user: SystemUser | None = None


class MoveState(TextEnum):
    """State of the move of a workspace. `waiting`: services that use it are running."""

    MOVED = "moved"
    NOTHING = "nothing"
    MOVING = "moving"
    WAITING = "waiting"
    FAILED = "failed"


@value(frozen=True, slots=True)
class MovedWorkspace:
    """State of a move: the directory in the new owner's workspace after it, or a sentence why it failed."""

    state: MoveState
    message: str = ""
    directory: str = ""


@value(frozen=True, slots=True)
class TerminalRequest:
    """A command to run in a terminal: in a pseudo-terminal of this size, with this TERM, or without one."""

    command: tuple[str, ...]
    tty: bool = False
    rows: int = 24
    columns: int = 80
    term: str = ""


@value(frozen=True, slots=True)
class OutputChunk:
    """A piece of a service's output (standard output and error together).

    `next_offset` continues it; `complete` says that no more will follow. `offset` is where the data begin:
    `dropped_bytes` after the requested offset if the limit (or a full disk) removed those bytes. `dropped_at_least`:
    the number is a lower bound, since it was not counted exactly.
    """

    data: bytes
    offset: int
    next_offset: int
    complete: bool
    dropped_bytes: int = 0
    dropped_at_least: bool = False


@value(frozen=True, slots=True)
class Usage:
    """What a running service has used: CPU seconds since its start, and bytes of memory now."""

    service_id: ServiceId
    execution_id: ExecutionId
    node: str
    cpu_s: float
    memory_bytes: int
    at_s: float


@runtime_checkable
class TotalUsageBackend(Protocol):
    """A back-end that reports the total use of a service at its end."""

    def total_usage(self) -> Sequence[Usage]:
        """Return the total use of services that ended since the last call; `memory_bytes` is the peak."""
        ...


class ImageState(TextEnum):
    """Whether an image can be started."""

    PRESENT = "present"
    PULLING = "pulling"
    INSTALLING = "installing"
    UNAVAILABLE = "unavailable"


@value(frozen=True, slots=True)
class ImageStatus:
    """The state of an image, with a sentence and a hint if it is unavailable; `detail` is for operators. During a pull
    or an installation the sentence tells its progress.
    """

    state: ImageState
    message: str = ""
    hint: str = ""
    detail: str = ""


@runtime_checkable
class VolumeBackend(Protocol):
    """A back-end that stores and attaches volumes of blocks."""

    def make_volume(self, volume: str, size_bytes: int, filters: Sequence[str], key: str) -> None:
        """Reserve the space of a volume; nothing happens if it exists. BackendError, leaving nothing."""
        ...

    def remove_volume(self, volume: str) -> None:
        """Remove a volume; nothing happens if it does not exist. BackendError while it is attached."""
        ...


class BackendError(Exception):
    """The back-end refuses a request; the message says why."""


class NoServiceError(BackendError):
    """The back-end does not know a service."""

    def __init__(self, service: ServiceId) -> None:
        super().__init__(
            f"the back-end has no service {service}; if another back-end ran it, its output is there: start Zoe with "
            "that one to read it"
        )


class BackendUnavailable(BackendError):  # noqa: N818 - the name is the fact
    """The platform of the back-end does not answer now; retry later."""


class Backend(Protocol):
    """Runs services. Idempotent by service id; `start` and `stop` only hand work over and never block.

    The results appear in `observe`, which reports every service that the back-end knows, until `forget`. Every change
    wakes the back-end's TickWaker.
    """

    def nodes(self) -> Sequence[Node]:
        """Return all nodes; `Node.usable` has the share of foreign work subtracted."""
        ...

    def capabilities(self) -> BackendCapabilities:
        """Return what can and may run here, apart from the room on nodes; the same rules refuse services."""
        ...

    def start(self, start: ServiceStart) -> None:
        """Hand over one service to start; a known service id is ignored."""
        ...

    def stop(self, services: Sequence[ServiceId]) -> None:
        """Request the end of services: terminate, then kill after the component's grace period. Unknown or ended
        services are ignored.
        """
        ...

    def observe(self) -> Sequence[Observation]:
        """Return the present state of every known service; ended services are included until they are forgotten."""
        ...

    def forget(self, services: Sequence[ServiceId]) -> None:
        """Stop reporting these services: the journal has their end. Logs stay, within their limits."""
        ...

    def address(self, service: ServiceId, port: str) -> PortAddress:
        """Return the address of a named port; BackendError if the service or port is unknown."""
        ...

    def logs(self, service: ServiceId, offset: int, limit: int, left: Left = client_is_waiting) -> OutputChunk:
        """Return output from `offset`, at most `limit` bytes, also after the end. BackendError if unknown.

        It may wait, and returns soon after `left` reports that the client has disconnected.
        """
        ...

    def files(self, tenant: str, user: str, system_user: SystemUser | None) -> Endpoint:
        """Return the endpoint of the program that serves the user's workspace and the tenant's shared one, starting it
        if needed. BackendError if it is unavailable. May wait for seconds, so it is never called within a tick.
        """
        ...

    def progress_file(self, service: ServiceId, path: str) -> bytes:
        """Return the end of a file below the service's working directory, at most `PROGRESS_BYTES_MAX`; BackendError.

        Its user can put anything there: only a regular file is read, and no link is followed.
        """
        ...

    def move_workspace(self, move: WorkspaceMove) -> MovedWorkspace:
        """Give a user's workspace to another user, as a directory `from-USER` of theirs, once nothing uses it.

        It returns soon and continues in the background; each further call returns its state, and restarts it if it
        failed or the back-end was closed. Then the state is `nothing`.
        """
        ...

    def terminal(self, service: ServiceId, request: TerminalRequest) -> Endpoint:
        """Start a command in a service, and return the endpoint for its client: one connection that begins with the
        secret, within seconds. BackendError if the service does not run, or too many terminals are open.

        It ends with its connection, with the service, and with this back-end. The protocol is described in the package
        `terminal`.
        """
        ...

    def usage(self) -> Sequence[Usage]:
        """Return what running services use now."""
        ...

    def prepare(self, image: str) -> ImageStatus:
        """Return whether an image can be started here; begin a pull or an installation if the back-end has these."""
        ...

    def close(self) -> None:
        """Release all resources; running services continue."""
        ...
