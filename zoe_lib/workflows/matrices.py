"""Matrices: one step that runs once with each combination of values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, pointer
from zoe_client.documents.reading import mapping, objects
from zoe_lib.workflows.graph import edges_of
from zoe_lib.workflows.model import DEPENDENCIES_MAX, STEPS_MAX
from zoe_lib.workflows.values import Value


def size_of(step: dict[str, Any]) -> int:
    """Return how often a step runs: the product of the numbers of values, without making the combinations."""
    return math.prod(len(values) for values in mapping(step, "matrix").values() if isinstance(values, list))


def combinations(step: dict[str, Any]) -> list[dict[str, Value]]:
    """Return the values of each run, in the order of the document; the last key changes first."""
    matrix = mapping(step, "matrix")
    return [dict(zip(matrix, values, strict=True)) for values in product(*matrix.values())]


def check_sizes(document: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield the steps that make the workflow too large."""
    steps = objects(document, "steps")
    sizes = [(i, size_of(step)) for i, step in steps]
    total = sum(size for _, size in sizes)
    if total > STEPS_MAX:
        i, largest = max(sizes, key=lambda item: item[1])
        message = f"the workflow has {_count(total)} executions, {_count(largest)} of them in this step"
        place = pointer("steps", i, *(["matrix"] if largest > 1 else []))
        yield Diagnostic(place, Code.OUT_OF_RANGE, message, f"the maximum is {STEPS_MAX}")
        return
    by_name = {name: size_of(step) for _, step in steps if isinstance(name := step.get("name"), str)}
    links = [(i, size_of(step) * sum(by_name.get(e.on, 0) for e in edges_of(i, step))) for i, step in steps]
    if (number := sum(count for _, count in links)) > DEPENDENCIES_MAX:
        i, _ = max(links, key=lambda item: item[1])
        message = f"the workflow has {number} dependencies between its executions, most of them in this step"
        yield Diagnostic(pointer("steps", i), Code.OUT_OF_RANGE, message, f"the maximum is {DEPENDENCIES_MAX}")


def _count(number: int) -> str:
    return str(number) if number < 10**12 else "more than 10^12"
