"""Convert values to rows of the tables and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.arrays import member_of
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark, Outcome, Service
from zoe_lib.domain.values.conditions import NO_CONDITIONS, Conditions
from zoe_lib.domain.values.deadlines import NO_EARLIER, DeadlineMiss, EarlierAttempts
from zoe_lib.domain.values.finish_times import Promise, PromiseOffers
from zoe_lib.domain.values.forecast import Forecast
from zoe_lib.domain.values.locality import InputPlaces
from zoe_lib.domain.values.owners import FormerUser
from zoe_lib.domain.values.reasons import Reason
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import InputRead
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.documents.codec import decode, encode, field_names
from zoe_lib.store.documents.documents import stored_document

T = TypeVar("T")
Values = dict[str, Any]
Row = Any  # a row of SQLAlchemy, with columns as attributes


def fixed_values(execution: Execution) -> Values:
    """Return the values of an execution that never change."""
    return {
        "id": execution.id,
        "name": execution.name,
        "tenant": execution.tenant,
        "notes": list(execution.notes),
        "array_id": None if (member := member_of(execution.id)) is None else member.array_id,
    }


# The values of an execution that events change: by column, the field, and the conversion.
_CHANGING: Mapping[str, tuple[str, Callable[[Execution], Any]]] = {
    "user_name": ("user", lambda e: e.user),
    "application_hash": ("application", lambda e: stored_document(e.application)[0]),
    "application": ("application", lambda e: stored_document(e.application)[1]),
    "priority": ("priority", lambda e: e.priority),
    "deadline_s": ("deadline_s", lambda e: e.deadline_s),
    "conditions": ("conditions", lambda e: None if e.conditions == NO_CONDITIONS else encode(e.conditions)),
    "submitted_at_s": ("submitted_at_s", lambda e: e.submitted_at_s),
    "state": ("state", lambda e: e.state.value),
    "version": ("version", lambda e: e.version),
    "attempt": ("attempt", lambda e: e.attempt),
    "failed_attempts": ("failed_attempts", lambda e: e.failed_attempts),
    "not_before_s": ("not_before_s", lambda e: e.not_before_s),
    "marks": ("marks", lambda e: encode(e.marks)),
    "started_at_s": ("marks", lambda e: e.marks.get(Mark.STARTED)),
    "ended_at_s": ("marks", lambda e: e.marks.get(Mark.ENDED)),
    "outcome": ("outcome", lambda e: encode(e.outcome)),
    "exit_code": ("exit_code", lambda e: e.exit_code),
    "cause": ("cause", lambda e: encode(e.cause)),
    "message": ("message", lambda e: e.message),
    "reason": ("reason", lambda e: encode(e.reason)),
    "forecast": ("forecast", lambda e: encode(e.forecast)),
    "inputs": ("inputs", lambda e: encode(e.inputs)),
    "places": ("places", lambda e: encode(e.places)),
    "storage_problem": ("storage_problem", lambda e: e.storage_problem),
    "granted_s": ("granted_s", lambda e: encode(e.granted_s)),
    "earlier": ("earlier", lambda e: None if e.earlier == NO_EARLIER else encode(e.earlier)),
    "missed": ("missed", lambda e: encode(e.missed)),
    "promise": ("promise", lambda e: encode(e.promise)),
    "offers": ("offers", lambda e: encode(e.offers)),
    "transfers": ("transfers", lambda e: encode(e.transfers)),
    "former_owners": ("former_owners", lambda e: encode(e.former_owners) or None),
}


CHANGING_COLUMNS = tuple(_CHANGING)


def changing_values(execution: Execution, columns: Iterable[str] = CHANGING_COLUMNS) -> Values:
    """Return the values of an execution that events change."""
    return {name: _CHANGING[name][1](execution) for name in columns}


def changed_columns(before: Execution, after: Execution) -> Iterator[str]:
    """Return the columns of an execution that may have changed."""
    for name, (field, _) in _CHANGING.items():
        if getattr(before, field) is not getattr(after, field):
            yield name


def to_execution(row: Row, application: Application, services: Sequence[Service]) -> Execution:
    """Return the execution of a row."""
    return Execution(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        user=row.user_name,
        application=application,
        submitted_at_s=row.submitted_at_s,
        state=ExecutionState(row.state),
        version=row.version,
        attempt=row.attempt,
        failed_attempts=row.failed_attempts,
        priority=row.priority,
        deadline_s=row.deadline_s,
        not_before_s=row.not_before_s,
        services=tuple(services),
        marks={Mark(name): float(at_s) for name, at_s in row.marks.items()},
        outcome=None if row.outcome is None else Outcome(row.outcome),
        exit_code=row.exit_code,
        cause=None if row.cause is None else Cause(row.cause),
        message=row.message,
        reason=None if row.reason is None else decode(Reason, row.reason),
        forecast=None if row.forecast is None else decode(Forecast, row.forecast),
        notes=tuple(row.notes),
        inputs=tuple(decode(InputRead, input_) for input_ in row.inputs),
        places=tuple(decode(InputPlaces, place) for place in row.places),
        storage_problem=row.storage_problem,
        granted_s={int(day): float(seconds) for day, seconds in row.granted_s.items()},
        earlier=NO_EARLIER if row.earlier is None else decode(EarlierAttempts, row.earlier),
        missed=None if row.missed is None else decode(DeadlineMiss, row.missed),
        promise=None if row.promise is None else decode(Promise, row.promise),
        offers=None if row.offers is None else decode(PromiseOffers, row.offers),
        transfers=None if row.transfers is None else decode(StoreTransfers, row.transfers),
        former_owners=tuple(decode(FormerUser, former) for former in row.former_owners or ()),
        conditions=NO_CONDITIONS if row.conditions is None else decode(Conditions, row.conditions),
    )


def changed_services(before: Execution | None, after: Execution) -> Iterator[Values]:
    """Return the rows of new or changed services; of all live services, if their reservations may have changed."""
    known = before.services if before is not None else ()
    resized = before is not None and before.application is not after.application
    for position, service in enumerate(after.services):
        if position >= len(known) or known[position] is not service or (resized and service.alive):
            # Ended services keep their earlier reservation: memory that grows for the next attempt does not count for
            # them.
            holder = before if before is not None and position < len(known) and not service.alive else after
            yield _service_values(after, position, service, holder.component_of(service).reservation)


def _service_values(execution: Execution, position: int, service: Service, reservation: Resources) -> Values:
    return {
        "id": service.id,
        "execution_id": execution.id,
        "position": position,
        "component": service.component,
        "instance": service.index,
        "core": service.core,
        "attempt": service.attempt,
        "cores_milli": reservation.cores_milli,
        "memory_bytes": reservation.memory_bytes,
        "devices": encode(reservation.devices),
        "state": service.state.value,
        "node": service.node,
        "backend_id": service.backend_id,
        "not_before_s": service.not_before_s,
        "started_at_s": service.started_at_s,
        "ready_at_s": service.ready_at_s,
        "ended_at_s": service.ended_at_s,
        "exit_code": service.exit_code,
        "cause": encode(service.cause),
        "message": service.message,
        "left_files": service.left_files,
    }


def to_service(row: Row) -> Service:
    """Return the service of a row."""
    columns = row._mapping
    values = {name: columns["instance" if name == "index" else name] for name in field_names(Service)}
    return decode(Service, values)


def node_values(node: Node, reserved: Resources, at_s: float) -> Values:
    """Return a node's row; `reserved` is the part that Zoe's services hold."""
    free = node.usable - reserved
    return {
        "name": node.name,
        "ready": node.ready,
        "cores_total_milli": node.total.cores_milli,
        "cores_foreign_milli": node.foreign.cores_milli,
        "cores_free_milli": free.cores_milli,
        "memory_total_bytes": node.total.memory_bytes,
        "memory_foreign_bytes": node.foreign.memory_bytes,
        "memory_free_bytes": free.memory_bytes,
        "devices_total": encode(node.total.devices),
        "devices_foreign": encode(node.foreign.devices),
        "gateway_cores_milli": node.gateway.cores_milli,
        "gateway_memory_bytes": node.gateway.memory_bytes,
        "containers": node.containers,
        "labels": encode(node.labels),
        "message": node.message,
        "seen_at_s": at_s,
    }


def to_node(row: Row) -> Node:
    """Return the node of a row."""
    return Node(
        name=row.name,
        total=Resources(row.cores_total_milli, row.memory_total_bytes, row.devices_total),
        foreign=Resources(row.cores_foreign_milli, row.memory_foreign_bytes, row.devices_foreign),
        labels=row.labels,
        ready=row.ready,
        containers=row.containers,
        message=row.message,
        gateway=Resources(row.gateway_cores_milli, row.gateway_memory_bytes),
    )


def row_of(value: object) -> Values:
    """Return the row of a value with its fields as columns; the field `user` becomes `user_name`, since USER is a
    keyword of SQL.
    """
    values: Values = encode(value)
    if "user" in values:
        values["user_name"] = values.pop("user")
    return values


def from_row(wanted: type[T], row: Row) -> T:
    """Return the value of such a row; JSON columns are not converted."""
    columns = row._mapping
    return wanted(**{name: columns["user_name" if name == "user" else name] for name in field_names(wanted)})
