"""The back-end's record of one service in memory: the content of its directory, read again after changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Cause, ExecutionId, ServiceId
from zoe_master.backends.base import Observation, ObservedState, ServiceStart, Usage
from zoe_master.backends.local.services.conditions import condition_of, probe_words
from zoe_master.backends.local.services.launch import SupervisorProcess
from zoe_master.backends.local.supervisor import files
from zoe_master.backends.services.left_words import describe_left_files

FINAL_STATES = frozenset({ObservedState.ENDED, ObservedState.LOST})


class RecordStage(Enum):
    """Which part of Zoe works on a service."""

    HANDED_OVER = auto()  # a worker starts it
    SUPERVISED = auto()  # its supervisor looks after it
    RESCUED = auto()  # a worker ends the processes of a dead supervisor
    FINISHED = auto()  # none


@dataclass(slots=True)
class Record:
    """One service. `child` is its supervisor while that runs, if this back-end started it."""

    service_id: ServiceId
    execution_id: ExecutionId
    node: str
    directory: Path
    observation: Observation
    stage: RecordStage = RecordStage.HANDED_OVER
    child: SupervisorProcess | None = None
    stop_asked: bool = False
    forgotten: bool = False
    usage: Usage | None = None
    status: files.Document | None = None
    python_environment: Path | None = None
    signature: tuple[int, int] | None = None
    owner: tuple[str, str] | None = None
    """Tenant and user of its workspace; None for services begun before this was recorded."""
    promised: bool = False
    probe: str = ""
    """What it waits for until its readiness probe succeeds; empty without a probe."""

    @property
    def final(self) -> bool:
        """Return whether it has ended or is lost."""
        return self.observation.state in FINAL_STATES

    def uses_workspace_of(self, tenant: str, user: str) -> bool:
        """Return whether it may still run and use this workspace."""
        return not self.final and self.owner in (None, (tenant, user))

    def look(self) -> bool:
        """Read the status if it changed; return True if there is a new observation."""
        path = self.directory / files.STATUS
        try:
            stat = path.stat()
        except OSError:
            return False
        signature = (stat.st_mtime_ns, stat.st_ino)
        if signature == self.signature or self.observation.state is ObservedState.LOST:
            return False
        status = files.read_json(str(path))
        if status is None:
            return False
        self.signature, self.status = signature, status
        before, self.observation = self.observation, observation_of(status)
        return self.observation != before

    def look_at_processes(self) -> bool:
        """Read whether its processes are stopped; return True if there is a new observation."""
        if self.final or self.status is None:
            return False
        before = self.observation
        message = condition_of(self.status, before.state, self.probe)
        if message != before.message:
            self.observation = replace(before, message=message)
        return self.observation is not before

    def look_at_usage(self) -> None:
        """Read the supervisor's last measurement."""
        value = None if self.final else files.read_json(str(self.directory / files.USAGE))
        self.usage = None if value is None else Usage(self.service_id, self.execution_id, self.node, **value)

    def total_usage(self) -> Usage | None:
        """Return its total use with its peak memory, as written by its supervisor at the end; None before."""
        if self.status is None or self.observation.state is not ObservedState.ENDED or "cpu_s" not in self.status:
            return None
        used, peak = float(self.status["cpu_s"]), int(self.status["memory_bytes_max"])
        return Usage(self.service_id, self.execution_id, self.node, used, peak, self.observation.at_s)

    def lose(self, message: str, now_s: float) -> None:
        """Mark the service as lost now: its end cannot be known."""
        self.stage = RecordStage.FINISHED
        self.observation = Observation(
            self.service_id, self.execution_id, ObservedState.LOST, now_s, self.node, message=message
        )


def new_record(start: ServiceStart, directory: Path, clock: Clock = SYSTEM_CLOCK) -> Record:
    """Return the record of a service that was just handed over."""
    observation = Observation(start.service_id, start.execution_id, ObservedState.STARTING, clock.now_s(), start.node)
    record = Record(start.service_id, start.execution_id, start.node, directory, observation)
    record.owner, record.promised = (start.tenant, start.user), start.promised
    if (probe := start.component.readiness) is not None:
        record.probe = probe_words(probe.port, probe.timeout_s)
    return record


def found_record(directory: Path, clock: Clock = SYSTEM_CLOCK) -> Record | None:
    """Return the record of a service from an earlier back-end; None if it has no `start.json`."""
    spec = files.read_json(str(directory / files.START))
    if spec is None:
        return None
    observation = Observation(
        spec["service_id"], spec["execution_id"], ObservedState.STARTING, spec["created_at_s"], spec["node"]
    )
    record = Record(spec["service_id"], spec["execution_id"], spec["node"], directory, observation)
    record.promised = bool(spec.get("promised"))
    if probe := spec.get("probe"):
        record.probe = probe_words(probe.get("name", probe["port"]), probe["timeout_s"])
    if "owner" in spec:
        record.owner = spec["owner"][0], spec["owner"][1]
    if "python_environment" in spec:
        record.python_environment = Path(spec["python_environment"])
    record.look()
    if spec["boot_id"] != files.boot_id():
        if not record.final:
            record.lose("the machine was restarted", clock.now_s())
        return record
    record.stage = RecordStage.SUPERVISED
    record.stop_asked = (directory / files.STOP).exists()
    return record


def observation_of(status: files.Document) -> Observation:
    """Return the observation in a status file."""
    return Observation(
        service_id=status["service_id"],
        execution_id=status["execution_id"],
        state=ObservedState(status["state"]),
        at_s=status["at_s"],
        node=status["node"],
        backend_id=f"pid:{status['pid']}" if status.get("pid") else "",
        exit_code=status.get("exit_code"),
        cause=Cause(status["cause"]) if status.get("cause") else None,
        message=status.get("message", ""),
        started_at_s=status.get("started_at_s"),
        left_files=describe_left_files(status.get("left_files")),
    )


def ended_status(
    record: Record, cause: Cause, message: str, exit_code: int | None, clock: Clock = SYSTEM_CLOCK
) -> files.Document:
    """Return the status of a service whose end the back-end reports itself."""
    return {
        "service_id": record.service_id,
        "execution_id": record.execution_id,
        "node": record.node,
        "boot_id": files.boot_id(),
        **(record.status or {}),
        "state": str(ObservedState.ENDED),
        "at_s": clock.now_s(),
        "cause": str(cause),
        "message": message,
        "exit_code": exit_code,
    }
