"""Requests that only the master can answer: reasons, output, usage, status. Read-only; called from other threads."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from storage_bridge.model import AchievedBandwidth, BandwidthSlo
from zoe_client.words.plain_errors import sentences
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.arrays import PLANNED_TOGETHER_MAX
from zoe_lib.domain.executions.execution import ACTIVE_STATES, ExecutionId, ExecutionState
from zoe_lib.domain.executions.promises import Rates
from zoe_lib.messaging.server import Handler, Refusal, Slow
from zoe_lib.messaging.slow_lane import Lane, Left
from zoe_lib.store.documents.codec import decode, encode
from zoe_master.backends.base import Backend, BackendError, TerminalRequest, VolumeBackend, WorkspaceMove
from zoe_master.loop.master import Master
from zoe_master.loop.promises.decisions import PromiseDecisions
from zoe_master.loop.system_users import SystemUsers
from zoe_master.loop.tick import Tick
from zoe_master.plugins import Plugins
from zoe_master.rpc.node_loss_view import node_loss_view
from zoe_master.rpc.planned_together import PromiseRequest, planned_together
from zoe_master.scheduler.placement.budget import (
    FORECAST_STEPS,
    PASS_STEPS,
    PROMISE_STEPS,
    OutOfBudget,
    StepCount,
    never,
)
from zoe_master.scheduler.what_if.dry_run import DryRun
from zoe_master.state.expected_ends import end_by_learned, placed_forecast, present_choice, with_learned_end
from zoe_master.storage.report import BandwidthReport
from zoe_master.waker import TickWaker

DRY_RUN_SHOWN_MAX = 100
LOG_BYTES_MAX = 1 << 20
# Requests that run the scheduler: two threads share a core with the loop. Requests that wait for engines and disks:
# they cost no CPU time meanwhile.
SCHEDULER = Lane("scheduler", 2, "plan_busy")
OUTPUT = Lane("output", 8, "logs_busy")
FILES = Lane("files", 8, "files_busy")
TERMINALS = Lane("terminals", 6, "terminals_busy")
# Maximum running and waiting requests: of all users, and of each. One user alone never has all threads of a lane,
# except the scheduler's, whose requests have a budget of steps. All that wait for output are fewer than the
# answering threads of an API process.
_PLANS_MAX, _PLANS_OF_ASKER_MAX = 2, 1
_LOOKS_MAX, _LOOKS_OF_ASKER_MAX = 16, 4
_READS_MAX, _READS_OF_ASKER_MAX = 24, 4
_FILES_MAX, _FILES_OF_ASKER_MAX = 32, 4
_TERMINALS_MAX, _TERMINALS_OF_ASKER_MAX = 8, 4


class _AboutExecution(BaseModel):
    model_config = ConfigDict(extra="forbid")
    execution_id: ExecutionId


class _AboutPlan(BaseModel):
    model_config = ConfigDict(extra="forbid")
    application: dict[str, Any]
    tenant: str
    user: str
    priority: int = 0
    deadline_s: float | None = None
    together: int = Field(default=1, ge=1, le=PLANNED_TOGETHER_MAX)


class _AboutPolicy(BaseModel):
    model_config = ConfigDict(extra="forbid")
    policy: dict[str, Any]


class _AboutNodes(BaseModel):
    model_config = ConfigDict(extra="forbid")
    nodes: list[str] = Field(max_length=10_000)


class _AboutLogs(BaseModel):
    model_config = ConfigDict(extra="forbid")
    service_id: str
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=65536, gt=0, le=LOG_BYTES_MAX)


class _AboutPort(BaseModel):
    model_config = ConfigDict(extra="forbid")
    service_id: str
    port: str


class _AboutFiles(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tenant: str
    user: str


class _AboutMove(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tenant: str
    user: str
    to: str


class _AboutPosition(BaseModel):
    model_config = ConfigDict(extra="forbid")
    wanted: int


class _AboutTerminal(BaseModel):
    model_config = ConfigDict(extra="forbid")
    service_id: str
    command: list[str] = Field(min_length=1)
    tty: bool = False
    rows: int = Field(default=24, ge=1, le=65535)
    columns: int = Field(default=80, ge=1, le=65535)
    term: str = ""


class _AboutVolume(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    volume: str
    size_bytes: int = Field(default=0, ge=0)
    filters: list[str] = []
    key: str = Field(default="", repr=False)


class RpcHandlers:
    """One method per kind of request; each takes and returns the JSON of an envelope's body."""

    def __init__(
        self,
        master: Master,
        backend: Backend,
        waker: TickWaker,
        name: str,
        epoch: int,
        storage: Callable[[], BandwidthReport] | None = None,
        plugins: Plugins | None = None,
        system_users: SystemUsers | None = None,
        decisions: PromiseDecisions | None = None,
    ) -> None:
        self._decisions = decisions
        self._master = master
        self._backend = backend
        self._waker = waker
        self._name = name
        self._epoch = epoch
        self._storage = storage
        self._plugins = plugins or Plugins()
        self._system_users = system_users or SystemUsers()

    def handlers(self) -> Mapping[str, Handler]:
        """Return the requests answered at once, from memory, by kind."""
        return {
            "hint": self.hint,
            "status": self.status,
            "position": self.position,
            "plugins": self.plugins,
            "services": self.services,
            "usage": self.usage,
            "storage": self.storage,
            "address": self.address,
        }

    def slow(self) -> Mapping[str, Slow]:
        """Return the requests that take CPU time, or wait for other programs, by kind; each in its lane."""
        return {
            "explain": Slow(self.explain, _LOOKS_MAX, _LOOKS_OF_ASKER_MAX, SCHEDULER),
            "missing_instances": Slow(self.missing_instances, _LOOKS_MAX, _LOOKS_OF_ASKER_MAX, SCHEDULER),
            "eta": Slow(self.eta, _LOOKS_MAX, _LOOKS_OF_ASKER_MAX, SCHEDULER),
            "plan": Slow(self.plan, _PLANS_MAX, _PLANS_OF_ASKER_MAX, SCHEDULER),
            "plan_together": Slow(self.plan_together, _PLANS_MAX, _PLANS_OF_ASKER_MAX, SCHEDULER),
            "dry_run": Slow(self.dry_run, _PLANS_MAX, _PLANS_OF_ASKER_MAX, SCHEDULER),
            "node_loss": Slow(self.node_loss, _PLANS_MAX, _PLANS_OF_ASKER_MAX, SCHEDULER),
            "logs": Slow(self.logs, _READS_MAX, _READS_OF_ASKER_MAX, OUTPUT),
            "files": Slow(self.files, _FILES_MAX, _FILES_OF_ASKER_MAX, FILES),
            "move_workspace": Slow(self.move_workspace, _FILES_MAX, _FILES_OF_ASKER_MAX, FILES),
            "make_volume": Slow(self.make_volume, _FILES_MAX, _FILES_OF_ASKER_MAX, FILES),
            "remove_volume": Slow(self.remove_volume, _FILES_MAX, _FILES_OF_ASKER_MAX, FILES),
            "terminal": Slow(self.terminal, _TERMINALS_MAX, _TERMINALS_OF_ASKER_MAX, TERMINALS),
        }

    def hint(self, _body: dict[str, Any]) -> dict[str, Any]:
        """Accept a hint that there is work."""
        self._waker.wake()
        return {}

    def status(self, _body: dict[str, Any]) -> dict[str, Any]:
        """Return the leader, and the facts of the last tick."""
        tick = self._master.latest
        if tick is None:
            return {"leader": self._name, "epoch": self._epoch, "ticked_at_s": None}
        return {
            "leader": self._name,
            "epoch": self._epoch,
            "ticked_at_s": tick.snapshot.now_s,
            "plan_s": tick.plan_s,
            "queued": len(tick.snapshot.queued),
            "active": len(tick.snapshot.active),
            "nodes": len(tick.snapshot.nodes),
            "nodes_ready": sum(node.ready for node in tick.snapshot.nodes),
        }

    def position(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the journal id that the last tick had read; if it is before the wanted one, tick again soon."""
        question, tick = _read(_AboutPosition, body), self._master.latest
        reached = tick.read_to if tick is not None else 0
        if reached < question.wanted:
            self._waker.wake()
        return {"reached": reached}

    def plugins(self, _body: dict[str, Any]) -> dict[str, Any]:
        """Return the plugins installed for this master, with their problems."""
        return {"found": [{"kind": p.kind, "name": p.name, "problem": p.problem} for p in self._plugins.found]}

    def explain(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return why an execution is not started, per node, or why its services are not."""
        question = _read(_AboutExecution, body)
        waits = self._master.waits_for_credential(question.execution_id)
        if waits is None:
            waits = self._master.waits_for_prologue(question.execution_id)
        if waits is not None:
            return {"reason": encode(waits)}
        budget = StepCount(left)
        with _within(budget):
            answer = self._tick().explain(question.execution_id, budget)
        if answer is None:
            raise Refusal("not_queued", "the execution is not in the queue of the master; try again in a moment")
        return {**encode(answer), "cut_after_steps": budget.cut_after}

    def missing_instances(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return why fewer than the preferred instances of a placed execution run; null if enough do."""
        question, budget = _read(_AboutExecution, body), StepCount(left)
        with _within(budget):
            return {"reason": encode(self._tick().missing_instances(question.execution_id, budget))}

    def eta(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return when a queued execution is expected to start and end, or a placed one to end."""
        question = _read(_AboutExecution, body)
        tick = self._master.present()
        execution = None if tick is None else tick.execution(question.execution_id)
        known = None if tick is None else tick.run_time(question.execution_id)
        if tick is None or execution is None or known is None or execution.state is ExecutionState.STOPPING:
            raise Refusal("not_queued", "the execution is neither queued nor running")
        choices = self._master.run_times.choices(execution.application, execution.tenant, execution.user)
        learned, source = present_choice(execution, choices), known.source
        if execution.state in ACTIVE_STATES:
            found = placed_forecast(execution, known, tick.forecasts, learned, tick.snapshot.now_s)
            return {"forecast": asdict(found), "run_time_source": source.value}
        forecast = tick.forecast(question.execution_id, StepCount(left).spent_after(FORECAST_STEPS))
        if forecast is None:
            raise Refusal("not_queued", "the execution is not in the queue of the master; try again in a moment")
        waits = tick.forecasts.waits
        return {
            "forecast": asdict(with_learned_end(forecast, source, learned)),
            "run_time_source": source.value,
            "told": waits.told,
            "held": waits.held,
        }

    def plan(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return the plan for an application submitted now; nothing is stored."""
        question = _read(_AboutPlan, body)
        budget, application = StepCount(left), decode(Application, question.application)
        with _within(budget):
            tick = self._tick()
            proposal, forecast, end = tick.propose(
                application, question.tenant, question.user, question.priority, budget
            )
        run_times = self._master.run_times.choices(application, question.tenant, question.user)
        starts_at_s = tick.snapshot.now_s if proposal.starts_now else None
        end = end_by_learned(end, run_times[-1] if run_times else None, forecast, starts_at_s)
        learned: dict[str, Any] = {
            "run_times": [encode(time_) for time_ in run_times],
            "cut_after_steps": budget.cut_after,
        }
        promise = self._promise(tick, question, application, budget)
        if question.together > 1:
            learned["together"] = self._together(tick, question, application, proposal.starts_now, budget)
        return {**encode(proposal), "forecast": encode(forecast), "end": encode(end), "promise": promise, **learned}

    def _together(
        self, tick: Tick, question: _AboutPlan, application: Application, starts_now: bool, budget: StepCount
    ) -> dict[str, Any]:
        """Return how many indices of an array would start now, and why the others would wait."""
        if not starts_now:
            return {"starts": 0, "reason": None}
        with _within(budget):
            starts, reason = tick.starts_together(
                application, question.tenant, question.user, question.priority, question.together, budget
            )
        return {"starts": starts, "reason": encode(reason)}

    def _promise(
        self, tick: Tick, question: _AboutPlan, application: Application, budget: StepCount
    ) -> dict[str, Any] | None:
        """Return the promise that would be made; None if none is requested."""
        if question.deadline_s is None or application.promise is None or self._decisions is None:
            return None
        wanted = tick.fresh(application, question.tenant, question.user, question.deadline_s)
        with _within(budget):
            found = self._decisions.decide_new(tick, wanted, budget.spent_after(PASS_STEPS + PROMISE_STEPS))
        return {"terms": encode(found.terms), "offers": encode(found.offers)}

    def plan_together(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return the common promise for executions submitted now; nothing is stored."""
        members, budget = planned_together(_read(PromiseRequest, body)), StepCount(left)
        if self._decisions is None:
            raise Refusal("not_yet", "this master decides no promises")
        with _within(budget):
            give_up = budget.spent_after(PASS_STEPS + PROMISE_STEPS)
            found = self._decisions.decide_new_group(self._tick(), members, give_up)
        return {"answers": [{"terms": encode(answer.terms), "offers": encode(answer.offers)} for answer in found]}

    def dry_run(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return the effect of another policy on the present queue."""
        policy, budget = decode(Policy, _read(_AboutPolicy, body).policy), StepCount(left)
        with _within(budget):
            present, wanted = self._tick().dry_run(policy, budget.spent_after(2 * PASS_STEPS))  # a pass for each policy
        return {"present": _dry_run_view(present), "wanted": _dry_run_view(wanted)}

    def node_loss(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return what the loss of nodes would do."""
        nodes, budget, tick = frozenset(_read(_AboutNodes, body).nodes), StepCount(left), self._tick()
        with _within(budget):
            found = tick.node_loss(nodes, budget)
        return node_loss_view(tick.snapshot, found)

    def logs(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:
        """Return a piece of a service's output; the bytes as base64."""
        question = _read(_AboutLogs, body)
        try:
            chunk = self._backend.logs(question.service_id, question.offset, question.limit, left)
        except BackendError as error:
            raise Refusal("no_logs", str(error)) from None
        return {**asdict(chunk), "data": base64.b64encode(chunk.data).decode()}

    def files(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:  # noqa: ARG002 - a Slow's signature
        """Return the endpoint of a program that serves a user's files."""
        question = _read(_AboutFiles, body)
        try:
            system_user = self._system_users.user_for(question.tenant, question.user)
            return asdict(self._backend.files(question.tenant, question.user, system_user))
        except BackendError as error:
            raise Refusal("files_unavailable", str(error)) from None

    def move_workspace(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:  # noqa: ARG002 - as above
        """Give a user's workspace to another user, and return the state of the move."""
        question = _read(_AboutMove, body)
        tenant, numbers = question.tenant, self._system_users
        move = WorkspaceMove(
            tenant,
            question.user,
            question.to,
            numbers.user_for(tenant, question.user),
            numbers.user_for(tenant, question.to),
        )
        return dict(encode(self._backend.move_workspace(move)))

    def make_volume(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:  # noqa: ARG002 - as above
        """Reserve the space of a volume of blocks."""
        question = _read(_AboutVolume, body)
        with _of_volumes():
            self._volumes().make_volume(question.volume, question.size_bytes, question.filters, question.key)
        return {}

    def remove_volume(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:  # noqa: ARG002 - as above
        """Remove a volume of blocks that is not attached."""
        question = _read(_AboutVolume, body)
        with _of_volumes():
            self._volumes().remove_volume(question.volume)
        return {}

    def _volumes(self) -> VolumeBackend:
        if not isinstance(self._backend, VolumeBackend):
            raise BackendError("this back-end stores no volumes")
        return self._backend

    def terminal(self, body: dict[str, Any], left: Left = never) -> dict[str, Any]:  # noqa: ARG002 - as all slow ones
        """Start a command in a service, and return the endpoint for the API."""
        question = _read(_AboutTerminal, body)
        request = TerminalRequest(tuple(question.command), question.tty, question.rows, question.columns, question.term)
        try:
            return asdict(self._backend.terminal(question.service_id, request))
        except BackendError as error:
            raise Refusal("no_terminal", str(error)) from None

    def services(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return what the back-end says of an execution's services, without those that run as they should."""
        question = _read(_AboutExecution, body)
        of_execution = (seen for seen in self._backend.observe() if seen.execution_id == question.execution_id)
        told = {s.service_id: {"message": s.message, "detail": s.detail} for s in of_execution if s.message}
        return {"services": told}

    def usage(self, _body: dict[str, Any]) -> dict[str, Any]:
        """Return what every running service uses now."""
        return {"usage": [asdict(used) for used in self._backend.usage()]}

    def storage(self, _body: dict[str, Any]) -> dict[str, Any]:
        """Return the object store's bandwidth by tenant and execution, as of the last poll."""
        if self._storage is None:
            return {"configured": False}
        report = self._storage()
        tenants = [
            {
                "tenant": name,
                "granted": _rates(bandwidth.granted),
                "achieved": _rates(bandwidth.achieved) if bandwidth.achieved is not None else None,
                "missed": _rates(bandwidth.missed) if bandwidth.missed is not None else None,
            }
            for name, bandwidth in report.tenants.items()
        ]
        amounts = (
            {"capacity": _rates(report.capacity), "promised": _rates(report.promised)} if not report.problem else {}
        )
        return {
            "configured": True,
            "problem": report.problem,
            "resting": report.resting,
            "at_s": report.at_s or None,
            "tenants": tenants,
            "executions": self._of_executions(report),
            "warnings": list(report.unkept),
            "caveats": [{"tenant": tenant, "sentence": text} for tenant, text in report.caveats.items()],
            **amounts,
        }

    def _of_executions(self, report: BandwidthReport) -> list[dict[str, Any]]:
        """Return grants and transfers of executions, without those that ended since the poll."""
        known = ((execution, self._master.execution(execution)) for execution in sorted(report.executions))
        return [
            {
                "execution_id": text,
                "tenant": execution.tenant,
                "user": execution.user,
                "granted": _both_ways(report.executions[text].slo),
                "achieved": _both_ways(report.executions[text].achieved),
            }
            for text, execution in known
            if execution is not None
        ]

    def address(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the address of a named port of a service."""
        question = _read(_AboutPort, body)
        try:
            address = self._backend.address(question.service_id, question.port)
        except BackendError as error:
            raise Refusal("no_address", str(error)) from None
        execution = self._master.execution(question.service_id.partition(".")[0])
        sign_in = self._master.port_secrets.headers(execution, question.service_id, question.port)
        return {"host": address.host, "port": address.port, "headers": {**address.headers, **sign_in}}

    def _tick(self) -> Tick:
        """Return the last tick as of now; Refusal before the first."""
        tick = self._master.present()
        if tick is None:
            raise Refusal("not_yet", "the master has not observed the cluster yet")
        return tick


@contextmanager
def _of_volumes() -> Iterator[None]:
    """Turn an error of the back-end into a refusal."""
    try:
        yield
    except BackendError as error:
        raise Refusal("volume_refused", str(error)) from None


@contextmanager
def _within(budget: StepCount) -> Iterator[None]:
    """Raise Refusal if one pass over the queue exceeds the budget, or the client has disconnected."""
    try:
        yield
    except OutOfBudget:
        cut = f"it was cut after {budget.cut_after:,} steps" if budget.cut_after else "its client has left"
        raise Refusal("queue_too_long", f"one pass over the queue takes longer than a question may: {cut}") from None


def _rates(rates: Rates) -> dict[str, int]:
    return {"read_bytes_per_s": rates.read, "write_bytes_per_s": rates.write}


def _both_ways(rates: BandwidthSlo | AchievedBandwidth) -> dict[str, int]:
    return {
        "read_bytes_per_s": int(rates.read_bytes_per_s or 0),
        "write_bytes_per_s": int(rates.write_bytes_per_s or 0),
    }


def _dry_run_view(answer: DryRun) -> dict[str, Any]:
    return {
        "first": answer.sequence[:DRY_RUN_SHOWN_MAX],
        "starts": answer.starts[:DRY_RUN_SHOWN_MAX],
        "starts_total": len(answer.starts),
        "preempted_total": answer.preempted,
        "window_ahead_total": answer.window_ahead,
        "window_ahead_without_limit": answer.without_limit,
    }


Question = TypeVar("Question", bound=BaseModel)


def _read(model: type[Question], body: dict[str, Any]) -> Question:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise Refusal("bad_request", "; ".join(sentences(error))[:500]) from None
