"""The back-end that runs services as processes of this machine."""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.base import (
    BackendError,
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
from zoe_master.backends.local.environments.sweep import EnvironmentSweeper
from zoe_master.backends.local.file_processes import FileProcesses
from zoe_master.backends.local.files import directories
from zoe_master.backends.local.files.progress_files import file_end
from zoe_master.backends.local.files.volumes import allowed_bases, block_volume
from zoe_master.backends.local.files.workspace_giving import give_workspace
from zoe_master.backends.local.machine.hints import SupervisorHints
from zoe_master.backends.local.machine.images import NO_RUNTIME, runtime_patterns
from zoe_master.backends.local.machine.installing import RuntimeInstallations
from zoe_master.backends.local.machine.machine import default_node, machine_hosts, nodes_now, read_machine_memory
from zoe_master.backends.local.services.layout import StatePaths
from zoe_master.backends.local.services.outputs import KeptOutputs, read_output
from zoe_master.backends.local.services.records import Record, RecordStage, new_record
from zoe_master.backends.local.services.specification import HOST
from zoe_master.backends.local.services.worker import ServiceWorker
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.local.sources.sources import why_no_sources
from zoe_master.backends.local.supervisor.volumes import backing
from zoe_master.backends.local.supervisor.volumes.programs import missing_packages
from zoe_master.backends.local.terminals import terminal_order
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.terminal.sessions import TerminalRequests
from zoe_master.backends.workspaces.moves import WorkspaceMoves, waiting_for
from zoe_master.waker import TickWaker

_log = logging.getLogger(__name__)
PRUNE_INTERVAL_S = 60.0
# A supervisor needs a few milliseconds after its last report, and longer for a large scratch directory.
ARCHIVE_INTERVAL_S = 0.05
# Maximum ends kept between two samples; the newest ones.
_WHOLE_USES_MAX = 10_000


class LocalBackend:
    """Hands work to a bounded pool, reads the files of supervisors, and wakes the master on changes.

    Supervisors (see `supervisor`) outlive it: a new back-end on the same directories adopts all services, restarts
    those handed over but not begun, and ends those without a supervisor. Only one back-end at a time may use a state
    directory; the leader lock of the master ensures that. If Zoe is root, components run as the system user of their
    owner, or as `settings.run_as_user`. Otherwise they run as the same user as Zoe and can read what Zoe can read, keys
    included.
    """

    def __init__(self, settings: LocalSettings, waker: TickWaker, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        if not settings.nodes:
            settings = replace(settings, nodes=(default_node(),))
        self._waker = waker
        self._installations = RuntimeInstallations(settings.images, self._wake_master)
        self._settings = settings = replace(settings.absolute(), images=self._installations.runtimes)
        self._hosts = machine_hosts()
        self._lock = threading.RLock()
        self._layout = StatePaths(settings)
        self._kept = KeptOutputs(self._layout.kept_dir, clock)
        self._capabilities = local_capabilities(settings)
        self._hints = SupervisorHints(self._layout.hint)
        self._terminals = TerminalRequests(HOST, settings.terminals_max)
        self._worker = ServiceWorker(self._layout, clock)
        self._files = FileProcesses(
            self._layout.files_dir, settings.workspaces_dir, settings.files, self._layout.around.users, clock
        )
        self._moves = WorkspaceMoves()
        self._records: dict[ServiceId, Record] = {}
        self._whole_uses: deque[Usage] = deque(maxlen=_WHOLE_USES_MAX)
        self._environments = EnvironmentSweeper(settings, clock)
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="zoe-local")
        self._closing = threading.Event()
        self._adopt()
        self._monitor = threading.Thread(target=self._watch, name="zoe-local-monitor", daemon=True)
        self._monitor.start()

    # The Protocol

    def nodes(self) -> Sequence[Node]:
        """Return the virtual nodes, less the memory that other programs use."""
        with self._lock:
            services = Counter(record.node for record in self._records.values() if not record.final)
            ours_bytes = sum(usage.memory_bytes for usage in self.usage())
        return nodes_now(self._settings.nodes, read_machine_memory(), ours_bytes, services, self._hosts)

    def capabilities(self) -> BackendCapabilities:
        """Return the capabilities from the settings, and what is not installed yet; nothing is mounted here, so no
        target is in use.
        """
        return replace(self._capabilities, installs=self._installations.installs())

    def start(self, start: ServiceStart) -> None:
        """Hand over a service; a known or forgotten service is not started again."""
        if not directories.is_safe_name(start.service_id) or not directories.is_safe_name(start.execution_id):
            raise BackendError(f"{start.service_id!r} is not a valid service id")
        with self._lock:
            if start.service_id in self._records or self._layout.kept_directory(start.service_id).exists():
                return
            record = new_record(start, self._layout.service(start.service_id), self._clock)
            self._records[start.service_id] = record
        self._pool.submit(self._do_start, record, start)

    def stop(self, services: Sequence[ServiceId]) -> None:
        """Ask supervisors to end their services, and keep other masters from starting services that are unknown
        here.
        """
        with self._lock:
            known = (self._records.get(service) for service in services)
            to_stop = [record for record in known if record and not record.final and not record.stop_asked]
            for record in to_stop:
                record.stop_asked = True
            for service in services:
                if service not in self._records:
                    self._layout.refuse(service)
        for record in to_stop:
            self._pool.submit(self._worker.stop, record)

    def observe(self) -> Sequence[Observation]:
        """Return the last observation of every service, at most `look_interval_s` old."""
        with self._lock:
            return [record.observation for record in self._records.values() if not record.forgotten]

    def forget(self, services: Sequence[ServiceId]) -> None:
        """Stop reporting ended services; `prune_logs` keeps their output for a while."""
        with self._lock:
            for service in services:
                record = self._records.get(service)
                if record is not None and record.final:
                    record.forgotten = True
        self._hints.wake()

    def address(self, service: ServiceId, port: str) -> PortAddress:
        """Return the loopback address of a named port."""
        with self._lock:
            record = self._records.get(service)
        if record is None:
            raise NoServiceError(service)
        number = self._layout.ports.ports_of(record.execution_id, service).get(port)
        if number is None:
            raise BackendError(f"service {service} has no port {port} yet")
        return PortAddress(HOST, number)

    def logs(self, service: ServiceId, offset: int, limit: int, left: Left = client_is_waiting) -> OutputChunk:  # noqa: ARG002
        """Return output of a known service, or of a forgotten one whose output is still kept."""
        while (directory := self._layout.find(service)) is not None:
            chunk = read_output(directory, offset, limit)
            if directory.is_dir():  # otherwise it was archived, or removed, while it was read
                return chunk
        with self._lock:
            record = self._records.get(service)
        if record is None:
            raise NoServiceError(service)
        return OutputChunk(b"", offset, offset, complete=record.final)

    def files(self, tenant: str, user: str, system_user: SystemUser | None) -> Endpoint:
        """Return the endpoint of the user's file process, starting it if none runs."""
        return self._files.find_or_start(tenant, user, system_user)

    def progress_file(self, service: ServiceId, path: str) -> bytes:
        """Return the end of a file below the working directory of a running service."""
        with self._lock:
            record = self._records.get(service)
        if record is None or record.final:
            raise BackendError(f"service {service} is not running")
        return file_end(record.directory, self._settings, path)

    def move_workspace(self, move: WorkspaceMove) -> MovedWorkspace:
        """Give a user's workspace to another user, by a process of this machine."""
        with self._lock:
            using = (r.execution_id for r in self._records.values() if r.uses_workspace_of(move.tenant, move.user))
            if running := sorted(set(using)):
                return waiting_for(move.user, running)
        if not self._moves.is_active(move):
            self._files.end(move.tenant, move.user)
        base, users = self._settings.workspaces_dir, self._layout.around.users
        return self._moves.begin_or_poll(move, lambda closing: give_workspace(base, users, move, closing))

    def terminal(self, service: ServiceId, request: TerminalRequest) -> Endpoint:
        """Start a command like the service's own processes, in a process of this machine."""
        with self._lock:
            record = self._records.get(service)
            status = record.status if record is not None and not record.final else None
        if record is None or status is None or not status.get("pid"):
            raise BackendError(f"service {service} is not running")
        return self._terminals.open_terminal(terminal_order(record.directory, status, request))

    def make_volume(self, volume: str, size_bytes: int, filters: Sequence[str], key: str) -> None:
        """Reserve the space of a volume of blocks, and encrypt it if its filters say so."""
        with _volume_errors():
            directories.take_base(self._settings.blocks_dir)
            backing.make(str(block_volume(self._settings, volume)), size_bytes, list(filters), key)

    def remove_volume(self, volume: str) -> None:
        """Remove a volume of blocks that is not attached."""
        with _volume_errors():
            backing.remove(str(block_volume(self._settings, volume)))

    def usage(self) -> Sequence[Usage]:
        """Return the last measurements of the supervisors."""
        with self._lock:
            return [record.usage for record in self._records.values() if record.usage is not None and not record.final]

    def total_usage(self) -> Sequence[Usage]:
        """Return the total use of services that ended since the last call, so that short ones count, too."""
        with self._lock:
            found = list(self._whole_uses)
            self._whole_uses.clear()
        return found

    def prepare(self, image: str) -> ImageStatus:
        """Return `present` if the image's runtime is there; begin its installation if the settings name one."""
        return self._installations.status(image)

    def close(self) -> None:
        """Finish started work and release all resources; services continue.

        Services that were handed over but not begun are left to the next back-end: another master may have begun them
        already.
        """
        self._closing.set()
        self._installations.close()
        self._terminals.close()
        self._moves.close()
        self._hints.wake()
        self._monitor.join()
        self._pool.shutdown(cancel_futures=True)
        self._worker.close()
        self._hints.close()
        self._files.close()
        self._layout.close()

    def prune_logs(self) -> int:
        """Remove output of forgotten services beyond the limits; return how many were removed. Runs every minute."""
        return self._kept.prune(self._settings.kept_logs_bytes_max, self._settings.kept_logs_age_max_s)

    def sweep_environments(self) -> int:
        """Remove unused environments beyond the limits; return how many. Runs every minute."""
        return self._environments.sweep(self._used_environments)

    # Internals

    def _used_environments(self) -> set[Path]:
        with self._lock:
            return {r.python_environment for r in self._records.values() if not r.final and r.python_environment}

    def _adopt(self) -> None:
        for record in self._layout.found_records():
            self._add(record)
        self._layout.sweep(self._records.values())

    def _add(self, record: Record) -> None:
        self._records[record.service_id] = record
        if record.status is None and not record.final:
            record.stage = RecordStage.HANDED_OVER
            self._pool.submit(self._do_launch, record)
        elif record.final:
            record.stage = RecordStage.FINISHED

    def _add_late(self) -> bool:
        """Adopt services that a deposed master has begun since this back-end was opened; return whether there were
        any.
        """
        late = list(self._layout.unknown_records(self._records))
        for record in late:
            _log.warning("service %s was begun by another master", record.service_id)
            self._add(record)
        return bool(late)

    def _do_start(self, record: Record, start: ServiceStart) -> None:
        if self._closing.is_set():  # between the request to close and the end of the pool
            return
        self._worker.start(record, start)
        self._wake_master()

    def _do_launch(self, record: Record) -> None:
        self._worker.launch(record)
        self._wake_master()

    def _do_rescue(self, record: Record, lock: int) -> None:
        self._worker.rescue(record, lock)
        self._wake_master()

    def _do_sweep(self) -> None:
        try:
            self.sweep_environments()
        except Exception:
            _log.exception("sweeping environments failed")

    def _wake_master(self) -> None:
        self._waker.wake()

    def _watch(self) -> None:
        """Run the monitor thread: read hinted changes at once, and all services at each interval."""
        next_look_s = 0.0
        next_prune_s = 0.0
        while not self._closing.is_set():
            now_s = self._clock.monotonic_s()
            try:
                if now_s >= next_look_s:
                    next_look_s = now_s + self._settings.look_interval_s
                    self._look_at_all()
                if now_s >= next_prune_s:
                    next_prune_s = now_s + PRUNE_INTERVAL_S
                    self.prune_logs()
                    self._pool.submit(self._do_sweep)
                pause_s = max(0.0, next_look_s - self._clock.monotonic_s())
                hinted = self._hints.wait(min(pause_s, ARCHIVE_INTERVAL_S) if self._archive() else pause_s)
                self._look_at(hinted)
            except Exception:  # a defect in one directory must not hide the others
                _log.exception("polling local services failed")
                self._clock.wait(self._closing, self._settings.look_interval_s)

    def _look_at(self, services: set[ServiceId]) -> None:
        with self._lock:
            records = [self._records[service] for service in services & self._records.keys()]
            changed = [self._look(record) for record in records]
        if any(changed):
            self._wake_master()

    def _look(self, record: Record) -> bool:
        changed = record.look()
        if changed:
            record.look_at_processes()
        used = record.total_usage() if changed else None
        if used is not None:
            self._whole_uses.append(used)
        return changed

    def _look_at_all(self) -> None:
        with self._lock:
            changed = self._add_late()
            self._layout.mark_promised(any(record.promised and not record.final for record in self._records.values()))
            for record in self._records.values():
                if record.stage is not RecordStage.SUPERVISED:
                    continue
                changed |= self._look(record) | record.look_at_processes()
                record.look_at_usage()
                lock = self._worker.lock_of_dead(record)
                if lock is not None:
                    record.stage = RecordStage.RESCUED
                    self._pool.submit(self._do_rescue, record, lock)
        if changed:
            self._wake_master()

    def _archive(self) -> bool:
        """Archive forgotten services; return True while a supervisor of one still cleans up."""
        with self._lock:
            forgotten = [record for record in self._records.values() if record.forgotten]
            done = [record for record in forgotten if self._worker.archive(record)]
            for record in done:
                del self._records[record.service_id]
                peers = any(other.execution_id == record.execution_id for other in self._records.values())
                self._layout.ports.release(record.execution_id, record.service_id if peers else None)
            return len(done) < len(forgotten)


@contextmanager
def _volume_errors() -> Iterator[None]:
    try:
        yield
    except (backing.VolumeRefused, CannotStartError) as error:
        raise BackendError(str(error)) from error


def why_no_volumes() -> str:
    """Return why volumes of blocks cannot be attached here, as a part of a sentence; empty if they can."""
    if os.geteuid() != 0:
        return "Zoe does not run as root, so it cannot mount them"
    missing = missing_packages()
    return f"packages are missing on this machine: apt-get install {' '.join(missing)}" if missing else ""


def local_capabilities(settings: LocalSettings) -> BackendCapabilities:
    """Return the capabilities from the settings."""
    silent = {name: runtime for name, runtime in settings.images.items() if not runtime.command}
    return BackendCapabilities(
        images=runtime_patterns(settings.images),
        why_no_image=NO_RUNTIME,
        why_no_sources=why_no_sources(),
        image_hints=settings.image_hints,
        commandless=runtime_patterns(silent),
        host_paths=allowed_bases(settings.host_paths_allowed),
        why_no_volumes=why_no_volumes(),
    )
