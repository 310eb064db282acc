"""The back-end that runs services as containers of this machine's engine."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions.execution import Cause, ServiceId
from zoe_lib.domain.values.resources import NOTHING
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
from zoe_master.backends.docker.connection import check_engine, open_engine, read_host
from zoe_master.backends.docker.finding import find_engine
from zoe_master.backends.docker.keeping import ContainerKeeper
from zoe_master.backends.docker.launch import ContainerLauncher
from zoe_master.backends.docker.networks import AttemptNetworks
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.docker.specification import LOOPBACK
from zoe_master.backends.engine.capabilities import NO_PROGRESS_FILES, CapabilitiesView
from zoe_master.backends.engine.daemon import output
from zoe_master.backends.engine.daemon.container_facts import ContainerFacts, seconds
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.files.left_files import read_left_files
from zoe_master.backends.engine.daemon.files.volume_owners import VolumeOwners
from zoe_master.backends.engine.daemon.pulls import ImagePulls
from zoe_master.backends.engine.errors import UNREACHABLE, words_of
from zoe_master.backends.engine.services.background_copies import OutputCopies
from zoe_master.backends.engine.services.containers import copy_output, output_of, remove
from zoe_master.backends.engine.services.observation import derive_observation
from zoe_master.backends.engine.services.records import Record, found_services
from zoe_master.backends.engine.services.service_driver import ServiceDriver
from zoe_master.backends.engine.services.service_files import ServiceFiles
from zoe_master.backends.engine.services.service_registry import ServiceRegistry
from zoe_master.backends.engine.services.terminals import end_left_terminals, terminal_order
from zoe_master.backends.engine.services.usage_sampling import UsageSampling
from zoe_master.backends.engine.spec.environments import with_time_to_build
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.local.file_processes import FileProcesses
from zoe_master.backends.local.files.users import ComponentUsers
from zoe_master.backends.local.files.workspace_giving import give_workspace
from zoe_master.backends.terminal.sessions import TerminalRequests
from zoe_master.backends.workspaces.moves import WorkspaceMoves, waiting_for
from zoe_master.waker import TickWaker

_log = logging.getLogger(__name__)
_PRUNE_INTERVAL_S = 60.0


class DockerBackend:
    """Answers from memory, which the engine's events and a look at all containers keep up to date.

    Containers carry labels, so a new back-end finds those of an earlier one; only one at a time may work on an
    installation. Workspaces and their files are this machine's own: the local back-end's code makes and serves them.
    """

    def __init__(self, settings: DockerSettings, waker: TickWaker, clock: Clock = SYSTEM_CLOCK) -> None:
        address = find_engine(settings.url, settings.kind)
        check_engine(address)
        self._clock, self._settings, self._waker = clock, settings, waker
        self._engine = open_engine(address, settings.engine_timeout_s)
        self._host = read_host(self._engine)
        self._registry = ServiceRegistry(
            Record,
            derive_observation,
            ServiceFiles(settings.state_dir, clock),
            waker,
            lambda service: output.position_of(self._place(service)).complete,
            clock,
        )
        self._users = ComponentUsers("")
        self._watches = EngineWatches(settings, self)
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="zoe-docker")
        self._pulls = ImagePulls(self._watches, self._pool, settings, waker)
        self._next_prune_s = 0.0
        self._make_parts()
        self._adopt(address.url)
        self._keeper.begin()

    def _make_parts(self) -> None:
        """Make the parts that do the work."""
        settings, clock = self._settings, self._clock
        self._capabilities = CapabilitiesView(self._watches, self._pulls, lambda: None, settings)
        self._sampling = UsageSampling(self._registry, self._watches, self._pool, settings, clock)
        self._copies = OutputCopies(self._registry, self._watches, settings)
        self._driver = ServiceDriver(self._registry, self._watches, self._pool, settings, clock)
        self._terminals = TerminalRequests(settings.terminals_host, settings.terminals_max)
        self._moves = WorkspaceMoves()
        self._networks = AttemptNetworks(self._engine, settings)
        self._volumes = VolumeOwners(self._watches, settings, lambda: None, clock)
        if settings.workspaces_dir is not None:
            files_dir = settings.state_dir / ".files"
            files_dir.mkdir(exist_ok=True, mode=0o700)
            self._files = FileProcesses(files_dir, settings.workspaces_dir, settings.files, self._users, clock)
        launcher = ContainerLauncher(
            self._engine,
            self._host,
            self._registry,
            self._watches,
            self._volumes,
            self._networks,
            self._users,
            settings,
            clock,
        )
        self._keeper = ContainerKeeper(
            self._engine, self._registry, launcher, self._networks, self._driver, self._at_intervals, settings, clock
        )

    # The Protocol

    def nodes(self) -> Sequence[Node]:
        """Return the engine's machine."""
        watch = self._watches.get(self._host.name)
        ready = watch is not None and watch.reachable
        running = sum(not record.final for record in self._registry.records())
        return [
            Node(
                name=self._host.name,
                total=self._host.total,
                foreign=watch.foreign if watch is not None else NOTHING,
                labels=self._host.labels,
                ready=ready,
                containers=running + (watch.foreign_count if watch is not None else 0),
                message="" if ready else "its engine does not answer",
            )
        ]

    def capabilities(self) -> BackendCapabilities:
        """Return the capabilities from the settings, and the images that the engine has reported."""
        return self._capabilities.capabilities()

    def start(self, start: ServiceStart) -> None:
        """Hand over a service; a known or forgotten service is not started again."""
        start = with_time_to_build(_as_user(start), self._settings)
        if self._registry.add(start):
            self._keeper.hand_over(start)

    def stop(self, services: Sequence[ServiceId]) -> None:
        """Ask containers to end."""
        for service in services:
            record = self._registry.stopping(service, Cause.STOPPED)
            if record is not None:
                self._driver.tend(record)
        self._keeper.nudge()

    def observe(self) -> Sequence[Observation]:
        """Return the last observation of every service."""
        return [record.observation for record in self._registry.records() if not record.mark.forgotten]

    def forget(self, services: Sequence[ServiceId]) -> None:
        """Stop reporting ended services; after a copy of their output, their containers are removed."""
        records = [self._registry.forget(service) for service in services]
        if any(records):
            self._keeper.nudge()

    def address(self, service: ServiceId, port: str) -> PortAddress:
        """Return the container's own address, which only this machine reaches, or its published port."""
        record = self._registry.get(service)
        if record is None:
            raise NoServiceError(service)
        if port not in record.ports:
            raise BackendError(f"service {service} has no port {port}")
        found, number = record.container, record.ports[port]
        if self._settings.rootless and found is not None and number in found.published:
            return PortAddress(LOOPBACK, found.published[number])
        if self._settings.rootless or found is None or not found.address:
            raise BackendError(f"service {service} has no address yet")
        return PortAddress(found.address, number)

    def logs(self, service: ServiceId, offset: int, limit: int, left: Left = client_is_waiting) -> OutputChunk:
        """Return output of a known service, or of a forgotten one whose output is still kept."""
        record, place = self._registry.get(service), self._place(service)
        if record is None:
            if not place.exists():
                raise NoServiceError(service)
            return output.read(place, offset, limit)
        engine = self._watches.engine(record.node)
        answers = engine is not None
        if engine is not None or record.final:
            answers = copy_output(engine, record, self._registry, self._settings.output_bytes_max, left)
        with output_of(record, left):
            chunk = output.read(place, offset, limit)
        if not (answers or chunk.data or record.final):
            raise BackendError(f"the engine of {record.node} does not answer, so its newer output cannot be read yet")
        return chunk

    def files(self, tenant: str, user: str, system_user: SystemUser | None) -> Endpoint:
        """Return the endpoint of the user's file process, starting it if none runs."""
        if self._settings.workspaces_dir is None:
            raise BackendError("files need the setting engine_workspaces_dir")
        return self._files.find_or_start(tenant, user, system_user)

    def progress_file(self, service: ServiceId, path: str) -> bytes:  # noqa: ARG002
        """Refuse: only the engine could read it, by unpacking an archive each time."""
        raise BackendError(NO_PROGRESS_FILES)

    def move_workspace(self, move: WorkspaceMove) -> MovedWorkspace:
        """Give a user's workspace to another user, by a process of this machine."""
        base = self._settings.workspaces_dir
        if base is None:
            raise BackendError("there are no workspaces: set engine_workspaces_dir")
        whose = move.tenant, move.user
        using = (r.execution_id for r in self._registry.records() if not r.final and (r.tenant, r.user) == whose)
        if running := sorted(set(using)):
            return waiting_for(move.user, running)
        if not self._moves.is_active(move):
            self._files.end(move.tenant, move.user)
        return self._moves.begin_or_poll(move, lambda closing: give_workspace(base, self._users, move, closing))

    def terminal(self, service: ServiceId, request: TerminalRequest) -> Endpoint:
        """Start a command in the service's container; a process beside the master carries its output."""
        record = self._registry.get(service)
        engine = None if record is None else self._watches.engine(record.node)
        return self._terminals.open_terminal(terminal_order(engine, record, None, request))

    def usage(self) -> Sequence[Usage]:
        """Return the last measurements of running services."""
        return self._sampling.usage()

    def prepare(self, image: str) -> ImageStatus:
        """Return whether the admin allows the image and the engine has it; begin a pull if pulls are allowed."""
        return self._pulls.status(image)

    def remove_ended(self) -> None:
        """Remove the containers of ended services, whose output and end are kept here until the journal has them."""
        for record in self._registry.records():
            engine = self._watches.engine(record.node)
            if engine is not None and record.final:
                copy_output(engine, record, self._registry, self._settings.output_bytes_max)
                remove(engine, record)

    def close(self) -> None:
        """Release all resources; containers continue."""
        self._terminals.close()
        self._moves.close()
        self._keeper.close()
        self._let_go()

    # Reports of the engine

    def container_seen(self, facts: ContainerFacts, after_gap: bool) -> None:
        """Process the engine's report on one of our containers; for an ended one, after its left files are known."""
        if facts.started_at_s is None or facts.finished_at_s is None or self._registry.has_ended(facts.service_id):
            self._take_in(facts, after_gap)
        else:
            with contextlib.suppress(RuntimeError):  # closing: the next back-end sees it
                self._pool.submit(self._end_seen, facts, after_gap)

    def exec_ended(self, exec_id: str, exit_code: int, at_s: float) -> None:
        """Process the end of a readiness exec."""
        self._registry.ready(exec_id, exit_code, at_s)

    def engine_changed(self, node: str, after_gap: bool) -> None:
        """Record that the engine appeared, disappeared, or has other images or foreign containers."""
        if after_gap:
            for record in self._registry.records():
                if record.node == node:
                    record.asking, record.stop_sent = None, False
        self._waker.wake()

    # Internals

    def _end_seen(self, facts: ContainerFacts, after_gap: bool) -> None:
        try:
            left = read_left_files(self._engine.api, facts.container_id, facts.mounts, self._clock)
            facts = replace(facts, left_files=left)
        except Exception:  # errors about left files must not lose the end
            _log.exception("cannot list what service %s left", facts.service_id)
        self._take_in(facts, after_gap)

    def _take_in(self, facts: ContainerFacts, after_gap: bool) -> None:
        record = self._registry.container_seen(facts, after_gap)
        if record is not None:
            self._driver.tend(record)
            self._keeper.nudge()

    def _adopt(self, url: str) -> None:
        """Take over the containers of an earlier back-end; those that it had not started yet are started anew."""
        try:
            for inspected in self._own_containers():
                tags, state = inspected["Config"]["Labels"], inspected["State"]
                if state["Status"] == "created" and not state["Error"]:
                    self._engine.api.remove_container(inspected["Id"], v=True, force=True)
                else:
                    self._registry.adopt(found_services(tags, seconds(inspected["Created"]) or 0.0))
            self._watches.follow({self._host.name: url})
            for watch in self._watches.watches():
                watch.first_look.wait(self._settings.engine_timeout_s)
        except UNREACHABLE as error:
            _log.warning("the engine at %s: %s", url, words_of(error))
            self._let_go()
            raise BackendUnavailable(f"the engine at {url} does not answer; the log has the details") from error
        self._registry.adopt_ended()
        for record in self._registry.records():
            if record.running:
                self._pool.submit(end_left_terminals, self._engine, record)

    def _own_containers(self) -> list[Any]:
        """Return all containers of services, in order of service: several are created at the same time."""
        own = [f"{labels.INSTALLATION}={self._settings.installation}", labels.SERVICES]
        api: Any = self._engine.api
        found = api.containers(all=True, filters={"label": own})
        found.sort(key=lambda entry: str(entry["Labels"][labels.SERVICES]))
        return [api.inspect_container(entry["Id"]) for entry in found]

    def _let_go(self) -> None:
        self._copies.close()
        if self._settings.workspaces_dir is not None:
            self._files.close()
        self._volumes.close()
        self._pool.shutdown()
        self._watches.close()
        self._engine.close()

    def _place(self, service: ServiceId) -> Path:
        return self._registry.marks.place(service)

    def _at_intervals(self, now_s: float) -> None:
        """Sample usage, copy output and prune it."""
        self._sampling.begin(now_s)
        self._copies.begin(now_s)
        if now_s >= self._next_prune_s:
            self._next_prune_s = now_s + _PRUNE_INTERVAL_S
            self._registry.marks.prune(self._settings.kept_logs_bytes_max, self._settings.kept_logs_age_max_s)


def _as_user(start: ServiceStart) -> ServiceStart:
    """Return the service with the present user as its system user, unless root runs Zoe and may choose."""
    if os.geteuid() == 0:
        return start
    return replace(start, system_user=SystemUser(os.geteuid(), os.getegid()))
