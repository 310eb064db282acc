"""What the master asks of a back-end, and the values that pass between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Protocol

from zoe_lib.domain.application import Component, Port
from zoe_lib.domain.cluster import Node
from zoe_lib.domain.execution import Cause, ExecutionId, ServiceId
from zoe_lib.domain.platform import BackendCapabilities
from zoe_lib.domain.storage import InputRead
from zoe_lib.domain.values import value

Left = Callable[[], bool]
"""Whether nobody waits for the answer any more."""


def nobody_left() -> bool:
    """Wait as long as it takes."""
    return False


@value(frozen=True, slots=True)
class PeerService:
    """A service of the same execution, for the address templates. `ports` are its component's."""

    service_id: ServiceId
    component: str
    index: int
    node: str | None
    ports: tuple[Port, ...] = ()


@value(frozen=True, slots=True)
class ServiceStorage:
    """What services of an execution know of the object store.

    `inputs` and `outputs` by name. `files`: configuration for Spark and Hadoop by file name, which may hold keys: for
    the service's user alone, and nowhere else. `variables` says where they are.
    """

    inputs: Mapping[str, InputRead] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    def variables(self, directory: str) -> dict[str, str]:
        """Variables of services that find the files in this directory.

        PYTHONPATH is for programs that import the module that reads inputs.
        """
        found = dict.fromkeys(CONFIGURATION_VARIABLES, directory) if _CONFIGURATION & self.files.keys() else {}
        if INPUTS_FILE in self.files:
            found |= {INPUTS_VARIABLE: f"{directory}/{INPUTS_FILE}", MODULES_VARIABLE: directory}
        return found


CONFIGURATION_VARIABLES = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR")
INPUTS_FILE, INPUTS_VARIABLE, MODULES_VARIABLE = "zoe-inputs.json", "ZOE_INPUTS", "PYTHONPATH"
_CONFIGURATION = frozenset({"spark-defaults.conf", "core-site.xml"})


def joined_modules(environment: dict[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Both, where the component's own variables win; where both name directories of modules, all of them count."""
    found = {**environment, **own}
    if MODULES_VARIABLE in environment and own.get(MODULES_VARIABLE):
        found[MODULES_VARIABLE] = f"{environment[MODULES_VARIABLE]}:{own[MODULES_VARIABLE]}"
    return found


@value(frozen=True, slots=True)
class ServiceStart:
    """Everything needed to start one service; the same service id is always started with the same value.

    `peers` holds every newest service of the execution, this one included. `attempt` counts the tries of the execution:
    what its services share must not be shared with those of an earlier one. `bears_gateway`: where a back-end reaches
    proxied ports through a gateway, the execution's is on this service's node. `cause_id` goes into labels and logs.
    `secret`: by which the proxy signs in at the service's ports; for the service's user alone, in the file that
    `{secret_file}` names, and nowhere else. Empty when no port wants one.
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


class ObservedState(StrEnum):
    """What a back-end can say of a service. `starting` covers pulling an image and waiting for readiness."""

    STARTING = "starting"
    STARTED = "started"
    READY = "ready"
    STOPPING = "stopping"
    ENDED = "ended"
    LOST = "lost"


@value(frozen=True, slots=True)
class Observation:
    """The present state of one service. A service without a readiness probe is ready once its process runs.

    `at_s` is when the state began, in seconds since the epoch by the back-end's clock. For `ended`, `cause` is set
    and `exit_code` is the process's own (128 + signal number when a signal ended it), None when it never ran.
    `message` is for everybody; `detail` holds words of the platform that name addresses and the like, for operators.
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


@value(frozen=True, slots=True)
class PortAddress:
    """Where a port of a service can be reached from the master's machine, and what a request must bear for that.

    Whoever knows the headers may use the port: they are the owner's.
    """

    host: str
    port: int
    headers: Mapping[str, str] = field(default_factory=dict)


@value(frozen=True, slots=True)
class OutputChunk:
    """A piece of a service's output (standard output and error together).

    `next_offset` continues it; `complete` says that nothing will follow. `offset` is where the data begin: beyond the
    offset asked for by `dropped_bytes` when the bound (or a full disk) took those away. `dropped_at_least`: it may be
    more, which nobody has counted.
    """

    data: bytes
    offset: int
    next_offset: int
    complete: bool
    dropped_bytes: int = 0
    dropped_at_least: bool = False


@value(frozen=True, slots=True)
class Usage:
    """What a running service has used: CPU seconds since its start, memory bytes now."""

    service_id: ServiceId
    execution_id: ExecutionId
    node: str
    cpu_s: float
    memory_bytes: int
    at_s: float


class ImageState(StrEnum):
    """Whether an image can be started."""

    PRESENT = "present"
    PULLING = "pulling"
    UNAVAILABLE = "unavailable"


@value(frozen=True, slots=True)
class ImageStatus:
    """The state of an image, with a sentence and a hint when it is unavailable; `detail` is for operators."""

    state: ImageState
    message: str = ""
    hint: str = ""
    detail: str = ""


class BackendError(Exception):
    """A back-end cannot do what was asked; the message says why in words."""


class Backend(Protocol):
    """Runs services. Idempotent by service id; `start` and `stop` only hand work over and never block.

    Everything that comes of it is seen in `observe`, which reports every service the back-end knows, until `forget`.
    Whatever changes wakes the TickWaker that the back-end was made with.
    """

    def nodes(self) -> Sequence[Node]:
        """Return all nodes, with what foreign work takes subtracted by `Node.usable`."""
        ...

    def capabilities(self) -> BackendCapabilities:
        """Return what it can and may run beside what nodes have room for; by the same rules services are
        refused here."""
        ...

    def start(self, start: ServiceStart) -> None:
        """Hand over one service to be started; a known service id is ignored."""
        ...

    def stop(self, services: Sequence[ServiceId]) -> None:
        """Ask services to end: terminate, then kill after the component's grace. Unknown or ended ones are ignored."""
        ...

    def observe(self) -> Sequence[Observation]:
        """Return the present state of every service known here, ended ones too until they are forgotten."""
        ...

    def forget(self, services: Sequence[ServiceId]) -> None:
        """The journal knows the end of these: stop reporting them. Logs stay, within their bound."""
        ...

    def address(self, service: ServiceId, port: str) -> PortAddress:
        """Return where a named port can be reached; BackendError when the service or port is unknown."""
        ...

    def logs(self, service: ServiceId, offset: int, limit: int, left: Left = nobody_left) -> OutputChunk:
        """Output from `offset`, at most `limit` bytes; also after the end. BackendError when unknown.

        The only question here that may wait for others: it ends soon once `left` says that nobody waits for it.
        """
        ...

    def usage(self) -> Sequence[Usage]:
        """Return what running services use now."""
        ...

    def prepare(self, image: str) -> ImageStatus:
        """Return whether an image can be started here; begins a pull where the back-end pulls."""
        ...

    def close(self) -> None:
        """Let go of everything held here; running services continue."""
        ...
