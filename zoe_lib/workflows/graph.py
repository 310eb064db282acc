"""Dependencies between steps: references, cycles, and an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean, duplicates, pointer
from zoe_client.documents.reading import mapping, objects, text
from zoe_client.vocabulary import DependencyKind

_NAMED_MAX = 12
"""Maximum steps of a cycle in its message."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A step runs after another one; `place` is where the document says so."""

    kind: DependencyKind
    on: str
    place: str


def edges_of(index: int, step: dict[str, Any]) -> list[Edge]:
    """Return the dependencies of a step, each other step once for each kind; entries of a wrong type are left out."""
    found = [_edge(text, pointer("steps", index, "needs", i)) for i, text in _texts(step, "needs")]
    for key, name, reference in references_of(step):
        found.append(Edge(DependencyKind.OK, reference.partition(".")[0], pointer("steps", index, key, name)))
    for i, other in _texts(step, "on_failure"):
        found.append(Edge(DependencyKind.FAIL, other, pointer("steps", index, "on_failure", i)))
    return list({(edge.kind, edge.on): edge for edge in reversed(found)}.values())[::-1]


def references_of(step: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the results of other steps that a step reads, as STEP.RESULT, with key and name of the reference."""
    for key in ("inputs", "for_each"):
        for name, reference in mapping(step, key).items():
            if isinstance(reference, str):
                yield key, name, reference


def _edge(reference: str, place: str) -> Edge:
    kind, colon, on = reference.rpartition(":")
    known = DependencyKind(kind) if colon and kind in tuple(DependencyKind) else DependencyKind.OK
    return Edge(known, on, place)


def _texts(step: dict[str, Any], key: str) -> list[tuple[int, str]]:
    found = step.get(key)
    return [(i, entry) for i, entry in enumerate(found) if isinstance(entry, str)] if isinstance(found, list) else []


def check_graph(document: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield faults in names and references; of cycles, each reference that closes one."""
    steps = objects(document, "steps")
    yield from duplicates(((pointer("steps", i, "name"), text(step, "name")) for i, step in steps), "step")
    names = {name: (i, step) for i, step in steps if (name := text(step, "name"))}
    for i, step in steps:
        yield from _check_edges(i, step, names)
    counts = Counter(text(step, "name") for _, step in steps)  # a reference to a repeated name is ambiguous
    after = {name: edges_of(i, step) for name, (i, step) in names.items() if counts[name] == 1}
    for cycle in cycles({name: [e.on for e in edges if e.on in after] for name, edges in after.items()}):
        place = next(e.place for e in after[cycle[0]] if e.on == cycle[1])
        yield Diagnostic(place, Code.CONFLICT, f"a cycle: {_cycle_text(cycle)}")


def _cycle_text(cycle: Sequence[str]) -> str:
    names = [name[:63] for name in cycle]
    if (left := len(names) - _NAMED_MAX) > 0:
        names[_NAMED_MAX - 1 : -1] = [f"{left} more"]
    return " after ".join(names)


def _check_edges(i: int, step: dict[str, Any], names: Mapping[str, tuple[int, dict[str, Any]]]) -> Iterator[Diagnostic]:
    for edge in edges_of(i, step):
        if edge.on not in names:
            message = f"no step has the name {edge.on[:63]!r}"
            yield Diagnostic(edge.place, Code.UNKNOWN_REFERENCE, message, did_you_mean(edge.on, list(names)))
    if step.get("on_failure") and any(step.get(key) for key in ("needs", "inputs", "for_each")):
        message = "a step with `on_failure` has no `needs`, `inputs` or `for_each`: its inputs may be missing"
        yield Diagnostic(pointer("steps", i, "on_failure"), Code.CONFLICT, message)
    for key, name, reference in references_of(step):
        on, _, result = reference.partition(".")
        made = mapping(names[on][1], "results") if on in names else None
        if made is not None and result not in made:
            message = f"step {on!r} has no result {result[:63]!r}"
            place = pointer("steps", i, key, name)
            yield Diagnostic(place, Code.UNKNOWN_REFERENCE, message, did_you_mean(result, list(made)))


def cycles(after: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield cycles as names, with the first one again at the end: one for each reference, from the first to the second
    name, that closes one in a traversal. Without these references, there is no cycle. Not recursive.
    """
    done: set[str] = set()
    for start in after:
        path: list[str] = []
        todo: list[tuple[str, bool]] = [(start, True)]
        on_path: set[str] = set()
        while todo:
            name, enters = todo.pop()
            if not enters:
                path.pop()
                on_path.discard(name)
                done.add(name)
            elif name in on_path:
                yield [path[-1], *path[path.index(name) :]]
            elif name not in done:
                path.append(name)
                on_path.add(name)
                todo.append((name, False))
                todo.extend((text, True) for text in reversed(after.get(name, ())))


def in_order(after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names in an order in which each follows its dependencies, else in their given order; requires no
    cycles.
    """
    placed: dict[str, None] = {}
    for start in after:
        todo: list[tuple[str, bool]] = [(start, True)]
        while todo:
            name, enters = todo.pop()
            if name in placed:
                continue
            if enters:
                todo.append((name, False))
                todo.extend((text, True) for text in reversed(after[name]) if text not in placed)
            else:
                placed[name] = None
    return list(placed)
