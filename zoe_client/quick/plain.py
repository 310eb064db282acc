"""Answers of the API as typed dicts: importing pydantic's models takes longer than a quick command runs.

A test compares each with its model in `zoe_client.wire`.
"""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, TypedDict, get_args, get_origin, get_type_hints, is_typeddict


class Reason(TypedDict):
    """Why an execution waits."""

    code: str
    sentence: str
    counts: dict[str, int]
    hint: str


class Service(TypedDict):
    """One service of an execution."""

    id: str
    name: str
    component: str
    index: int
    core: bool
    attempt: int
    state: str
    node: str | None
    started_at_s: float | None
    ready_at_s: float | None
    ended_at_s: float | None
    exit_code: int | None
    cause: str | None
    message: str
    detail: str
    left_files: str


class Deadline(TypedDict):
    """How an execution stands to its deadline."""

    at_s: float
    status: str | None
    cause: str | None
    costs_s: dict[str, float]
    expected_run_s: float | None


class Progress(TypedDict):
    """Progress of an execution, as reported by its program."""

    share: float | None
    at_s: float
    text: str
    problem: str
    remaining_s: float | None
    remaining_low_s: float | None
    remaining_high_s: float | None


class Summary(TypedDict):
    """One execution as a line of a list."""

    id: str
    name: str
    application: str
    kind: str
    tenant: str
    user: str
    state: str
    version: int
    attempt: int
    priority: int
    deadline_s: float | None
    deadline: Deadline | None
    promise: dict[str, Any] | None
    offers: dict[str, Any] | None
    submitted_at_s: float
    marks: dict[str, float]
    ran_s: float | None
    outcome: str | None
    exit_code: int | None
    cause: str | None
    message: str
    reason: Reason | None
    forecast: dict[str, Any] | None
    core_total: int
    core_ready: int
    elastic_total: int
    elastic_ready: int
    elastic_preferred: int | None
    progress: Progress | None


class Array(TypedDict):
    """One array as a line of a list."""

    id: str
    name: str
    application: str
    tenant: str
    user: str
    state: str
    version: int
    run: int
    indices: str
    size: int
    at_once_max: int | None
    priority: int
    deadline_s: float | None
    submitted_at_s: float
    ended_at_s: float | None
    message: str
    reason: Reason | None
    notes: list[str]
    counts: dict[str, int]
    active_states: dict[str, int]
    ran_s: float | None
    cause: str | None


class ArrayPage(TypedDict):
    """A page of arrays; `next_cursor` asks for the next one."""

    arrays: list[Array]
    next_cursor: str | None


class InputRead(TypedDict):
    """The way in which an input with a pushdown is read."""

    name: str
    uri: str
    view: str | None
    columns: list[str]
    why: str
    decided: bool
    unanswered: bool


class Held(TypedDict):
    """How many of the examined objects a node holds."""

    node: str
    objects: int
    bytes: int
    services: int


class InputPlaces(TypedDict):
    """Locations of an input's objects."""

    name: str
    known: bool
    objects: int
    bytes: int
    listed: int
    complete: bool
    nodes: list[Held]


class Dependency(TypedDict):
    """An execution that has to end before another enters the queue."""

    kind: str
    on: str
    met: bool | None


class Conditions(TypedDict):
    """Conditions that keep an execution from the queue, or have kept it."""

    held: str | None
    begin_at_s: float | None
    after: list[Dependency]
    keep: bool


class Transfers(TypedDict):
    """Bytes that an execution moved to and from the object store."""

    read_bytes: int
    written_bytes: int
    transferring_s: float
    waiting_s: float
    whole: bool
    final: bool
    at_s: float


class StoreQuery(TypedDict):
    """What a Spark query read of the scanned parts of objects, and why it read parts plainly."""

    number: int
    object_bytes: int
    read_bytes: int
    plainly: list[str]
    at_s: float


class ParentJob(TypedDict):
    """The job that submitted an execution by its token."""

    execution_id: str
    attempt: int


class Instances(TypedDict):
    """Instances of a component: with a place, preferred, and at most."""

    component: str
    given: int
    preferred: int
    total: int


class Execution(Summary):
    """One execution with its services, its notes and its description."""

    services: list[Service]
    inputs: list[InputRead]
    places: list[InputPlaces]
    notes: list[str]
    instances: list[Instances]
    conditions: Conditions | None
    storage_problem: str
    scaling_problem: str
    transfers: Transfers | None
    queries: list[StoreQuery]
    detail: str
    access: str
    submitted_by: ParentJob | None
    submitted: list[str]
    description: dict[str, Any]


class Usage(TypedDict):
    """Usage of a service: CPU seconds since its start, and memory in bytes at that time."""

    execution_id: str
    service_id: str
    node: str
    at_s: float
    cpu_s: float
    memory_bytes: int


class UsageList(TypedDict):
    """Samples of usage."""

    usage: list[Usage]
    interval_s: float | None


class Price(TypedDict):
    """A price, before discounts."""

    amount: str
    currency: str
    gaps: list[str]


class ExecutionUse(TypedDict):
    """Usage and cost of an execution."""

    execution_id: str
    price: Price | None
    unused: str | None


class ExecutionUseList(TypedDict):
    """Usage of executions."""

    use: list[ExecutionUse]


class Page(TypedDict):
    """A page of executions."""

    executions: list[Summary]
    next_cursor: str | None
    searched_to_s: float | None


def matches_type(value: object, kind: Any) -> bool:
    """Return whether JSON has the keys and types of a TypedDict; other keys, of newer servers, are allowed."""
    if is_typeddict(kind):
        return isinstance(value, dict) and all(
            name in value and matches_type(value[name], part) for name, part in _parts(kind).items()
        )
    origin = get_origin(kind)
    if origin is UnionType:
        return any(matches_type(value, entry) for entry in get_args(kind))
    if origin is list:
        return isinstance(value, list) and all(matches_type(entry, get_args(kind)[0]) for entry in value)
    if origin is dict:
        return isinstance(value, dict) and all(matches_type(entry, get_args(kind)[1]) for entry in value.values())
    return kind is Any or _is(value, kind)


def _is(value: object, kind: type) -> bool:
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, int | float if kind is float else kind)


@cache
def _parts(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
