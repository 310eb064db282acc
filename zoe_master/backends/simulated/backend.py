"""The back-end of the simulator and of the master's unit tests: inline, deterministic, in injected time."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from zoe_lib.clock import Clock
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions.execution import Cause, ServiceId
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import (
    BackendError,
    Endpoint,
    ImageState,
    ImageStatus,
    Left,
    MovedWorkspace,
    MoveState,
    NoServiceError,
    Observation,
    ObservedState,
    OutputChunk,
    PortAddress,
    ServiceStart,
    SystemUser,
    TerminalRequest,
    Usage,
    WorkspaceMove,
    client_is_waiting,
)
from zoe_master.backends.simulated.behaviour import (
    SIGKILL_EXIT_CODE,
    ServiceBehaviour,
    observation,
    stop_timeline,
    timeline,
)
from zoe_master.waker import TickWaker

FINAL_STATES = frozenset({ObservedState.ENDED, ObservedState.LOST})
# Number of forgotten services whose ids and output are kept, so that none of them starts again.
_FORGOTTEN_MAX = 10_000
_RUNS_FOR_EVER = ServiceBehaviour()


@dataclass(slots=True)
class _SimulatedService:
    """A simulated service: its ServiceStart, its behaviour, and its present observation."""

    start: ServiceStart
    behaviour: ServiceBehaviour
    present: Observation
    generation: int = 0


class SimulatedBackend:
    """Services follow `behave(start)`; every state depends only on the clock at the time of the call.

    Nothing happens between calls: every call first catches up with the clock, in order of time and then of hand-over,
    so the same calls at the same times always return the same results. `next_change_s` returns how far the clock can
    advance before anything changes. With `images` None, every image is known.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        clock: Clock,
        waker: TickWaker | None = None,
        behave: Callable[[ServiceStart], ServiceBehaviour] = lambda _: _RUNS_FOR_EVER,
        images: frozenset[str] | None = None,
    ) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._clock = clock
        self._waker = waker or TickWaker()
        self._behave = behave
        self._images = images
        self._services: dict[ServiceId, _SimulatedService] = {}
        self._forgotten: dict[ServiceId, bytes] = {}
        self._due: list[tuple[float, int, ServiceId, int, Observation]] = []
        self._sequence = itertools.count()

    # The Protocol

    def nodes(self) -> Sequence[Node]:
        """Return all nodes in the order given, with the number of services that run on each."""
        self._catch_up()
        counts = dict.fromkeys(self._nodes, 0)
        for service in self._services.values():
            if service.present.state not in FINAL_STATES and service.start.node in counts:
                counts[service.start.node] += 1
        return [
            changed(node, containers=node.containers + count) if count else node
            for node, count in zip(self._nodes.values(), counts.values(), strict=True)
        ]

    def capabilities(self) -> BackendCapabilities:
        """Return its images; it mounts nothing."""
        return BackendCapabilities(images=None if self._images is None else tuple(sorted(self._images)))

    def start(self, start: ServiceStart) -> None:
        """Begin the timeline of a service; a known or forgotten id is ignored."""
        self._catch_up()
        if start.service_id in self._services or start.service_id in self._forgotten:
            return
        behaviour = self._behaviour_of(start)
        steps = timeline(start, behaviour, self._clock.now_s())
        service = _SimulatedService(start, behaviour, steps[0])
        self._services[start.service_id] = service
        self._schedule(service, steps[1:])
        self._wake_master()

    def stop(self, services: Sequence[ServiceId]) -> None:
        """Stop services; unknown ones and those already ending are skipped."""
        self._catch_up()
        now_s = self._clock.now_s()
        for service_id in services:
            service = self._services.get(service_id)
            if service is None or service.present.state in FINAL_STATES | {ObservedState.STOPPING}:
                continue
            self._replan(service, stop_timeline(service.start, service.behaviour, service.present, now_s))
            self._wake_master()

    def observe(self) -> Sequence[Observation]:
        """Return the present state of every service, in order of hand-over."""
        self._catch_up()
        return [service.present for service in self._services.values()]

    def forget(self, services: Sequence[ServiceId]) -> None:
        """Stop reporting these services; active ones stay."""
        self._catch_up()
        for service_id in services:
            service = self._services.get(service_id)
            if service is not None and service.present.state in FINAL_STATES:
                del self._services[service_id]
                self._forgotten[service_id] = service.behaviour.output
                if len(self._forgotten) > _FORGOTTEN_MAX:
                    del self._forgotten[next(iter(self._forgotten))]

    def address(self, service: ServiceId, port: str) -> PortAddress:
        """Return the node's name and the number of the port."""
        component = self._find_service(service).start.component
        for candidate in component.ports:
            if candidate.name == port:
                return PortAddress(self._find_service(service).start.node, candidate.number)
        raise BackendError(f"service {service} has no port {port}")

    def logs(self, service: ServiceId, offset: int, limit: int, left: Left = client_is_waiting) -> OutputChunk:  # noqa: ARG002
        """Return the output of the behaviour, all of it available once the process runs."""
        self._catch_up()
        if service in self._forgotten:
            output, complete = self._forgotten[service], True
        else:
            known = self._find_service(service)
            output = known.behaviour.output if known.present.started_at_s is not None else b""
            complete = known.present.state in FINAL_STATES
        first = min(max(offset, 0), len(output))
        data = output[first : first + max(limit, 0)]
        return OutputChunk(data, first, first + len(data), complete and first + len(data) == len(output))

    def files(self, tenant: str, user: str, system_user: SystemUser | None) -> Endpoint:  # noqa: ARG002 - the Protocol's signature
        """Refuse: this back-end has no files."""
        raise BackendError("the simulated back-end has no files")

    def progress_file(self, service: ServiceId, path: str) -> bytes:  # noqa: ARG002
        """Refuse: this back-end has no files."""
        raise BackendError("the simulated back-end has no files")

    def move_workspace(self, move: WorkspaceMove) -> MovedWorkspace:  # noqa: ARG002
        """Return that there is nothing to move."""
        return MovedWorkspace(MoveState.NOTHING)

    def terminal(self, service: ServiceId, request: TerminalRequest) -> Endpoint:  # noqa: ARG002
        """Refuse: this back-end has no processes."""
        raise BackendError("this back-end has no terminals")

    def usage(self) -> Sequence[Usage]:
        """Return samples in which every running service uses exactly its reservation."""
        self._catch_up()
        now_s = self._clock.now_s()
        return [
            Usage(
                service_id=service_id,
                execution_id=service.start.execution_id,
                node=service.start.node,
                cpu_s=(now_s - service.present.started_at_s) * service.start.component.reservation.cores_milli / 1000,
                memory_bytes=service.start.component.reservation.memory_bytes,
                at_s=now_s,
            )
            for service_id, service in self._services.items()
            if service.present.started_at_s is not None and service.present.state not in FINAL_STATES
        ]

    def prepare(self, image: str) -> ImageStatus:
        """Return `present` if the image is among `images`."""
        if self._images is None or image in self._images:
            return ImageStatus(ImageState.PRESENT)
        return ImageStatus(
            ImageState.UNAVAILABLE,
            f"image {image} cannot run on this back-end",
            f"available images: {', '.join(sorted(self._images)) or 'none'}",
        )

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    # Changes made by a simulation

    def next_change_s(self) -> float | None:
        """Return when the next state begins if nothing else happens; None if no state follows."""
        self._catch_up()
        while self._due and self._stale(self._due[0]):
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else None

    def end(
        self, service: ServiceId, exit_code: int | None = 0, cause: Cause = Cause.EXITED, message: str = ""
    ) -> None:
        """End a service now."""
        self._catch_up()
        simulated = self._find_service(service)
        if simulated.present.state in FINAL_STATES:
            raise BackendError(f"service {service} is {simulated.present.state}")
        ended = observation(
            simulated.start,
            ObservedState.ENDED,
            self._clock.now_s(),
            exit_code=exit_code,
            cause=cause,
            message=message,
            started_at_s=simulated.present.started_at_s,
        )
        self._replan(simulated, [ended])
        self._wake_master()

    def kill(self, service: ServiceId) -> None:
        """End a service like SIGKILL."""
        self.end(service, SIGKILL_EXIT_CODE, Cause.KILLED, "killed")

    def lose_node(self, name: str, message: str = "the node is down") -> None:
        """Take a node down: it is not ready and its services are lost."""
        self._catch_up()
        self._nodes[name] = replace(self._nodes[name], ready=False, message=message)
        for service in self._services.values():
            if service.start.node == name and service.present.state not in FINAL_STATES:
                lost = replace(service.present, state=ObservedState.LOST, at_s=self._clock.now_s(), message=message)
                self._replan(service, [lost])
        self._wake_master()

    def set_node(self, node: Node) -> None:
        """Add a node, or replace the one of that name (such as a returning one)."""
        self._nodes[node.name] = node
        self._wake_master()

    def set_foreign(self, name: str, foreign: Resources) -> None:
        """Set the foreign load of a node."""
        self.set_node(replace(self._nodes[name], foreign=foreign))

    # Internals

    def _behaviour_of(self, start: ServiceStart) -> ServiceBehaviour:
        status = self.prepare(start.component.image)
        if status.state is ImageState.UNAVAILABLE:
            return ServiceBehaviour(fails=Cause.IMAGE_UNAVAILABLE, message=f"{status.message}: {status.hint}")
        node = self._nodes.get(start.node)
        if node is None or not node.ready:
            return ServiceBehaviour(fails=Cause.START_FAILED, message=f"node {start.node} does not exist")
        return self._behave(start)

    def _find_service(self, service: ServiceId) -> _SimulatedService:
        try:
            return self._services[service]
        except KeyError:
            raise NoServiceError(service) from None

    def _schedule(self, service: _SimulatedService, steps: Sequence[Observation]) -> None:
        for step in steps:
            if step.at_s < math.inf:
                entry = (step.at_s, next(self._sequence), service.start.service_id, service.generation, step)
                heapq.heappush(self._due, entry)
        self._catch_up()

    def _replan(self, service: _SimulatedService, steps: Sequence[Observation]) -> None:
        """Replace the planned future of a service."""
        service.generation += 1
        self._schedule(service, steps)

    def _stale(self, entry: tuple[float, int, ServiceId, int, Observation]) -> bool:
        service = self._services.get(entry[2])
        return service is None or service.generation != entry[3]

    def _catch_up(self) -> None:
        now_s = self._clock.now_s()
        while self._due and self._due[0][0] <= now_s:
            entry = heapq.heappop(self._due)
            if not self._stale(entry):
                self._services[entry[2]].present = entry[4]

    def _wake_master(self) -> None:
        self._waker.wake()
