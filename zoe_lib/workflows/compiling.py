"""Compile the document of a workflow to descriptions of executions and their dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from zoe_client.documents.diagnostics import (
    DIAGNOSTICS_MAX,
    Code,
    DescriptionError,
    Diagnostic,
    pointer,
)
from zoe_client.documents.reading import mapping, objects, text
from zoe_lib.descriptions import parse
from zoe_lib.descriptions.rules.whole import check_one_deadline
from zoe_lib.descriptions.shape import check_shape
from zoe_lib.descriptions.structure import read_model
from zoe_lib.workflows import model
from zoe_lib.workflows.graph import check_graph, edges_of, in_order
from zoe_lib.workflows.mapping import check_mapped
from zoe_lib.workflows.matrices import check_sizes, combinations, size_of
from zoe_lib.workflows.parameters import parameters_of
from zoe_lib.workflows.steps import StepMaker
from zoe_lib.workflows.values import CompiledStep, CompiledWorkflow, Need, RunPlace, Value


def compile_workflow(document: object, given: Mapping[str, object], place: RunPlace) -> CompiledWorkflow:
    """Return the executions of a workflow; DescriptionError has all faults of the document and the parameters.

    The work is limited: by the size of the document, and by the number of executions before any is made.
    """
    usable = _usable(document)
    read, found = read_model(model.Workflow, usable)
    parameters, wrong = parameters_of(usable, given)
    found += [*wrong, *islice(check_graph(usable), DIAGNOSTICS_MAX), *check_sizes(usable), *_check_deadlines(usable)]
    found += islice(check_mapped(usable), DIAGNOSTICS_MAX)
    maker = StepMaker(usable, parameters, place)
    found += islice(_check_steps(usable, maker), DIAGNOSTICS_MAX)
    if found or read is None:
        raise DescriptionError(_in_document_order(found, usable))
    return CompiledWorkflow(read.name, parameters, tuple(_compile_steps(usable, read, maker)))


def _usable(document: object) -> dict[str, Any]:
    wrong = check_shape(document)
    if not wrong and not isinstance(document, dict):
        wrong = [Diagnostic("", Code.WRONG_TYPE, "a workflow is an object with `version`, `name` and `steps`")]
    if wrong or not isinstance(document, dict):
        raise DescriptionError(wrong)
    return document


def _check_steps(document: dict[str, Any], maker: StepMaker) -> Iterator[Diagnostic]:
    """Yield the faults in the steps' descriptions, each with the first values of its matrix."""
    for i, step in objects(document, "steps"):
        values: dict[str, Value] = {
            name: some[0] for name, some in mapping(step, "matrix").items() if isinstance(some, list) and some
        }
        made, found = maker.make(i, step, text(step, "name") or "step", values)
        yield from found
        if made is None:
            continue
        try:
            parse(made.plain, each=made.each.name if made.each is not None else None)
        except DescriptionError as error:
            yield from map(replace(made, application=made.plain).in_workflow_document, error.diagnostics)


def _compile_steps(document: dict[str, Any], read: model.Workflow, maker: StepMaker) -> Iterator[CompiledStep]:
    by_name = {step["name"]: (i, step) for i, step in objects(document, "steps")}
    edges = {name: edges_of(i, step) for name, (i, step) in by_name.items()}
    positions: dict[str, range] = {}
    position = 0
    wrong: list[Diagnostic] = []
    for name in in_order({name: [edge.on for edge in found] for name, found in edges.items()}):
        i, step = by_name[name]
        positions[name] = range(position, position + size_of(step))
        position += size_of(step)
        after = tuple(Need(edge.kind, position) for edge in edges[name] for position in positions[edge.on])
        on_failure = bool(step.get("on_failure"))
        for number, values in enumerate(combinations(step)):
            full = f"{name}.{number}" if values else name
            made, found = maker.make(i, step, full, values)
            if made is None or found:
                wrong += found
                continue
            compiled = made.compile(after, on_failure, _deadline_s(read, read.steps[i], on_failure))
            yield replace(compiled, deadlines=_deadlines(read, read.steps[i], on_failure))
    if wrong:
        raise DescriptionError(wrong)


def _deadline_s(workflow: model.Workflow, step: model.Step, on_failure: bool) -> float | None:
    """Return the deadline of a step. The workflow's deadline does not apply to steps after a failure, such as a missed
    deadline.
    """
    of_whole = None if on_failure else workflow.deadline_s
    return min((none for none in (of_whole, step.deadline_s) if none is not None), default=None)


def _deadlines(workflow: model.Workflow, step: model.Step, on_failure: bool) -> tuple[str, ...]:
    """Return the deadlines that are given as times, by the rule of `_deadline_s`."""
    of_whole = None if on_failure else workflow.deadline
    return tuple(none for none in (of_whole, step.deadline) if none is not None)


def _check_deadlines(document: dict[str, Any]) -> Iterator[Diagnostic]:
    yield from check_one_deadline(pointer("deadline"), document)
    for i, step in objects(document, "steps"):
        yield from check_one_deadline(pointer("steps", i, "deadline"), step)


def _in_document_order(found: list[Diagnostic], document: dict[str, Any]) -> list[Diagnostic]:
    """Return one finding for each place and message, in the order of the document."""
    keys = list(document)

    def place(one: Diagnostic) -> tuple[int, int]:
        parts = one.pointer.split("/")[1:]
        first = keys.index(parts[0]) if parts and parts[0] in keys else -1
        return first, int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() and len(parts[1]) < 9 else -1

    return sorted(dict.fromkeys(found), key=place)
