"""The back-end that runs services as tasks of a Docker Swarm."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions.execution import Cause, ServiceId
from zoe_master.backends.base import (
    BackendError,
    BackendUnavailable,
    Endpoint,
    ImageStatus,
    Left,
    MovedWorkspace,
    NoServiceError,
    Observation,
    OutputChunk,
    PortAddress,
    ServiceStart,
    SystemUser,
    TerminalRequest,
    Usage,
    WorkspaceMove,
    client_is_waiting,
)
from zoe_master.backends.engine.capabilities import NO_PROGRESS_FILES, CapabilitiesView
from zoe_master.backends.engine.daemon import output
from zoe_master.backends.engine.daemon.container_facts import ContainerFacts
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.daemon.files.file_containers import FileContainers, WorkspaceUser
from zoe_master.backends.engine.daemon.files.left_files import read_left_files
from zoe_master.backends.engine.daemon.files.path_checks import PathChecks
from zoe_master.backends.engine.daemon.files.volume_owners import VolumeOwners
from zoe_master.backends.engine.daemon.files.workspace_giving import WorkspaceGiving
from zoe_master.backends.engine.daemon.pulls import ImagePulls
from zoe_master.backends.engine.errors import UNREACHABLE, words_of
from zoe_master.backends.engine.services.background_copies import OutputCopies
from zoe_master.backends.engine.services.containers import copy_output, discard, output_of
from zoe_master.backends.engine.services.service_files import ServiceFiles
from zoe_master.backends.engine.services.terminals import end_left_terminals, terminal_order
from zoe_master.backends.engine.services.usage_sampling import UsageSampling
from zoe_master.backends.engine.spec.environments import with_time_to_build
from zoe_master.backends.swarm.manager.exposure import NodeExposure
from zoe_master.backends.swarm.manager.fencing import NodeFences
from zoe_master.backends.swarm.manager.gateways import Gateways
from zoe_master.backends.swarm.manager.infrastructure import AttemptInfrastructure
from zoe_master.backends.swarm.manager.launch import ServiceLauncher
from zoe_master.backends.swarm.manager.manager_loop import ManagerLoop
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.manager.nodes import NodeView
from zoe_master.backends.swarm.manager.poller import Reconciler
from zoe_master.backends.swarm.manager.quorum import ManagerQuorum
from zoe_master.backends.swarm.services.task_driver import TaskDriver
from zoe_master.backends.swarm.services.task_records import TaskRecord
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.spec.gateways.secrets import GatewaySecrets
from zoe_master.backends.swarm.spec.gateways.specification import SECRET_HEADER, TARGET_HEADER
from zoe_master.backends.terminal.sessions import TerminalRequests
from zoe_master.backends.workspaces.moves import WorkspaceMoves, waiting_for
from zoe_master.waker import TickWaker

_log = logging.getLogger(__name__)
_PRUNE_INTERVAL_S = 60.0


class SwarmBackend:
    """Answers from memory, which four kinds of threads keep up to date.

    One thread creates and removes Swarm services and lists tasks (`manager_loop`), one thread per engine reads its
    events (`watch`), a bounded pool signals containers and copies output, and one thread starts recurring work.
    Everything carries labels, so a new back-end finds the objects of an earlier one; only one at a time may work on an
    installation.
    """

    def __init__(self, settings: SwarmSettings, waker: TickWaker, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._settings = settings
        self._waker = waker
        self._next_prune_s = 0.0
        self._registry = TaskRegistry(
            ServiceFiles(settings.state_dir, clock),
            waker,
            lambda service: output.position_of(self._place(service)).complete,
            clock,
        )
        engines = [Engine(url, settings.tls_dir, settings.engine_timeout_s) for url in settings.managers]
        self._managers = Managers(engines, clock)
        self._quorum = ManagerQuorum(settings, waker, clock)
        self._watches = EngineWatches(settings, self)
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="zoe-swarm")
        self._pulls = ImagePulls(self._watches, self._pool, settings, waker)
        shared = AttemptInfrastructure(self._managers, settings)
        self._secrets = GatewaySecrets(settings.state_dir)
        self._gateways = Gateways(
            self._managers, shared, self._secrets, settings, self._pulls.want, self._discard, clock
        )
        self._fences = NodeFences(settings, waker, clock)
        self._reconciler = Reconciler(
            self._managers, self._registry, self._watches, self._gateways, self._fences, settings, clock
        )
        self._exposure = NodeExposure(settings, waker, clock)
        self._paths = PathChecks(self._watches, settings, self._nudge, clock)
        self._make_views(settings, clock)
        self._make_parts_of_services(settings, clock)
        self._loop = self._make_loop(shared, settings, clock)
        self._closing = threading.Event()
        self._intervals = threading.Thread(target=self._watch_intervals, name="zoe-swarm-intervals", daemon=True)
        self._adopt()
        self._loop.begin()
        self._intervals.start()

    def _make_views(self, settings: SwarmSettings, clock: Clock) -> None:
        """Make the views that answer from memory."""
        self._capabilities = CapabilitiesView(
            self._watches, self._pulls, lambda: self._reconciler.network_addresses, settings
        )
        self._view = NodeView(
            self._managers,
            self._quorum,
            self._reconciler,
            self._watches,
            self._registry,
            self._gateways,
            self._fences,
            self._exposure,
            settings,
        )
        self._sampling = UsageSampling(self._registry, self._watches, self._pool, settings, clock)

    def _make_parts_of_services(self, settings: SwarmSettings, clock: Clock) -> None:
        """Make the parts that read and change the output, files and terminals of services."""
        self._copies = OutputCopies(self._registry, self._watches, settings)
        self._tending = TaskDriver(self._registry, self._watches, self._pool, settings, clock)
        self._terminals = TerminalRequests(settings.terminals_host, settings.terminals_max)
        self._files = FileContainers(self._watches, self._paths, self._address_of, settings)
        self._giving = WorkspaceGiving(self._watches, self._paths, settings)
        self._moves = WorkspaceMoves()

    def _make_loop(self, shared: AttemptInfrastructure, settings: SwarmSettings, clock: Clock) -> ManagerLoop:
        """Make the loop that creates and removes Swarm services."""
        self._volumes = VolumeOwners(self._watches, settings, self._nudge, clock)
        launcher = ServiceLauncher(
            self._managers, self._registry, shared, self._paths, self._volumes, self._watches, settings, clock
        )
        return ManagerLoop(
            self._registry,
            self._quorum,
            launcher,
            self._reconciler,
            self._tending,
            self._gateways,
            shared,
            settings,
            clock,
        )

    # The Protocol

    def nodes(self) -> Sequence[Node]:
        """Return all nodes of the swarm from the last poll."""
        return self._view.nodes()

    def capabilities(self) -> BackendCapabilities:
        """Return the capabilities from the settings, and the images that engines have reported."""
        return self._capabilities.capabilities()

    def start(self, start: ServiceStart) -> None:
        """Hand over a service; a known or forgotten service is not started again."""
        start = with_time_to_build(start, self._settings)
        if self._registry.add(start):
            self._loop.hand_over(start)

    def stop(self, services: Sequence[ServiceId]) -> None:
        """Ask containers to end; if a service has none yet, its Swarm service is removed."""
        stopping = [self._registry.stopping(service, Cause.STOPPED) for service in services]
        for record in stopping:
            if record is not None:
                self._tending.tend(record)
        if any(stopping):
            self._loop.nudge()

    def observe(self) -> Sequence[Observation]:
        """Return the last observation of every service."""
        return [record.observation for record in self._registry.records() if not record.mark.forgotten]

    def forget(self, services: Sequence[ServiceId]) -> None:
        """Stop reporting ended services; after a copy of their output, everything else of them is removed from the
        swarm.
        """
        records = [self._registry.forget(service) for service in services]
        if any(records):
            self._loop.nudge()

    def address(self, service: ServiceId, port: str) -> PortAddress:
        """Return the gateway for a proxied port; other ports can be reached from outside only with `publish_ports`."""
        record = self._registry.get(service)
        if record is None:
            raise NoServiceError(service)
        if port not in record.ports:
            raise BackendError(f"service {service} has no port {port}")
        if port in record.proxied and self._settings.gateway_image:
            return self._through_gateway(record, port)
        node = self._reconciler.nodes.get(record.node)
        published = record.container.published.get(record.ports[port]) if record.container else None
        if node is None or published is None:
            raise BackendError(f"port {port} of service {service} is not published yet")
        return PortAddress(node.address, published)

    def _through_gateway(self, record: TaskRecord, port: str) -> PortAddress:
        name, published = self._gateways.address(record.attempt)
        node = self._reconciler.nodes.get(name)
        if node is None:
            raise BackendError(f"node {name} no longer exists")
        headers = {
            SECRET_HEADER: self._secrets.secret_for(record.attempt),
            TARGET_HEADER: f"{record.host}:{record.ports[port]}",
        }
        return PortAddress(node.address, published, headers)

    def logs(self, service: ServiceId, offset: int, limit: int, left: Left = client_is_waiting) -> OutputChunk:
        """Return output of a known service, or of a forgotten one whose output is still kept."""
        record = self._registry.get(service)
        place = self._place(service)
        if record is None:
            if not place.exists():
                raise NoServiceError(service)
            return output.read(place, offset, limit)
        engine = self._watches.engine(record.node)
        if engine is not None or record.final:
            copy_output(engine, record, self._registry, self._settings.output_bytes_max, left)
        with output_of(record, left):
            return output.read(place, offset, limit)

    def files(self, tenant: str, user: str, system_user: SystemUser | None) -> Endpoint:
        """Return the endpoint of the user's file container, on a node that mounts the workspaces."""
        return self._files.find_or_start(WorkspaceUser(tenant, user, system_user))

    def progress_file(self, service: ServiceId, path: str) -> bytes:  # noqa: ARG002
        """Refuse: only the engine of the node could read it, by unpacking an archive each time."""
        raise BackendError(NO_PROGRESS_FILES)

    def move_workspace(self, move: WorkspaceMove) -> MovedWorkspace:
        """Give a user's workspace to another user, by a container on a node that mounts the workspaces."""
        whose = move.tenant, move.user
        using = (r.execution_id for r in self._registry.records() if not r.final and (r.tenant, r.user) == whose)
        if running := sorted(set(using)):
            return waiting_for(move.user, running)
        if not self._moves.is_active(move):
            self._files.end(move.tenant, move.user)
        return self._moves.begin_or_poll(move, lambda closing: self._giving.give(move, closing))

    def terminal(self, service: ServiceId, request: TerminalRequest) -> Endpoint:
        """Start a command in the service's container; a process beside the master carries its output."""
        record = self._registry.get(service)
        engine = None if record is None else self._watches.engine(record.node)
        return self._terminals.open_terminal(terminal_order(engine, record, self._settings.tls_dir, request))

    def usage(self) -> Sequence[Usage]:
        """Return the last measurements of running services."""
        return self._sampling.usage()

    def prepare(self, image: str) -> ImageStatus:
        """Return whether the admin allows the image and nodes have it; begin a pull if pulls are allowed."""
        return self._pulls.status(image)

    def close(self) -> None:
        """Release all resources; tasks continue."""
        self._closing.set()
        self._terminals.close()
        self._moves.close()
        self._intervals.join()
        self._loop.close()
        self._let_go()

    # Reports of engines

    def container_seen(self, facts: ContainerFacts, after_gap: bool) -> None:
        """Process an engine's report on one of our containers; for an ended one, after its left files are known."""
        if facts.started_at_s is None or facts.finished_at_s is None or self._registry.has_ended(facts.service_id):
            self._take_in(facts, after_gap)
        else:
            with contextlib.suppress(RuntimeError):  # closing: the next back-end sees it
                self._pool.submit(self._end_seen, facts, after_gap)

    def _end_seen(self, facts: ContainerFacts, after_gap: bool) -> None:
        record = self._registry.get(facts.service_id)
        engine = None if record is None else self._watches.engine(record.node)
        try:
            if engine is not None:
                left = read_left_files(engine.api, facts.container_id, facts.mounts, self._clock)
                facts = replace(facts, left_files=left)
        except Exception:  # errors about left files must not lose the end
            _log.exception("cannot list what service %s left", facts.service_id)
        self._take_in(facts, after_gap)

    def _take_in(self, facts: ContainerFacts, after_gap: bool) -> None:
        record = self._registry.container_seen(facts, after_gap)
        if record is not None:
            self._tending.tend(record)

    def exec_ended(self, exec_id: str, exit_code: int, at_s: float) -> None:
        """Process the end of a readiness exec."""
        self._registry.ready(exec_id, exit_code, at_s)

    def engine_changed(self, node: str, after_gap: bool) -> None:
        """TaskRecord that an engine appeared, disappeared, or has other images or foreign containers."""
        if after_gap:
            for record in self._registry.records():
                if record.node == node:
                    record.asking, record.stop_sent = None, False
        self._waker.wake()

    # Internals

    def _adopt(self) -> None:
        try:
            self._quorum.begin()
            self._reconciler.look()
            for watch in self._watches.watches():
                watch.first_look.wait(self._settings.engine_timeout_s)
            self._reconciler.look()  # now that engines have reported
        except UNREACHABLE as error:
            self._let_go()
            raise BackendUnavailable(f"no manager of the swarm answers: {words_of(error)}") from error
        self._registry.adopt_ended()
        for record in self._registry.records():
            engine = self._watches.engine(record.node)
            if engine is not None and record.running:
                self._pool.submit(end_left_terminals, engine, record)

    def _address_of(self, node: str) -> str:
        found = self._reconciler.nodes.get(node)
        return found.address if found is not None and not found.down else ""

    def _discard(self, node: str, tags: Sequence[str]) -> None:
        engine = self._watches.engine(node)
        if engine is not None:
            with contextlib.suppress(RuntimeError):  # closing: Swarm removes it
                self._pool.submit(discard, engine, tags)

    def _let_go(self) -> None:
        self._fences.close()
        self._copies.close()
        self._files.close()
        self._paths.close()
        self._volumes.close()
        self._exposure.close()
        self._pool.shutdown()
        self._watches.close()
        self._quorum.close()
        self._managers.close()

    def _place(self, service: ServiceId) -> Path:
        return self._registry.marks.place(service)

    def _nudge(self) -> None:
        self._loop.nudge()

    def _watch_intervals(self) -> None:
        """Start recurring work, whether managers answer or not; this also detects silent engines."""
        while not self._clock.wait(self._closing, self._settings.look_interval_s):
            try:
                self._at_intervals(self._clock.monotonic_s())
            except Exception:  # one failure must not end the recurring work
                _log.exception("periodic work failed")

    def _at_intervals(self, now_s: float) -> None:
        """Sample usage, prune output, and check from inside which ports containers reach."""
        self._exposure.look(self._watches.watches())
        self._sampling.begin(now_s)
        self._copies.begin(now_s)
        if now_s >= self._next_prune_s:
            self._next_prune_s = now_s + _PRUNE_INTERVAL_S
            self._registry.marks.prune(self._settings.kept_logs_bytes_max, self._settings.kept_logs_age_max_s)
