"""Steps with `for_each`: they run once for each entry of a list that another step makes while the workflow runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, pointer
from zoe_client.documents.reading import mapping, objects, text
from zoe_lib.workflows.values import EachEntry, RunPlace


def is_mapped(step: dict[str, Any]) -> bool:
    """Return whether a step runs once for each entry of a list."""
    return bool(mapping(step, "for_each"))


def each_entry(step: dict[str, Any], steps: Mapping[str, dict[str, Any]], place: RunPlace) -> EachEntry | None:
    """Return the list that a step runs for; None without one, or if the document has no such result."""
    for name, reference in mapping(step, "for_each").items():
        on, _, result = reference.partition(".") if isinstance(reference, str) else ("", "", "")
        path = mapping(steps.get(on, {}), "results").get(result)
        at_once = step.get("at_once")
        if isinstance(path, str):
            return EachEntry(name, reference, place.result(on, path), at_once if isinstance(at_once, int) else None)
    return None


def check_mapped(document: dict[str, Any]) -> Iterator[Diagnostic]:
    """Yield findings on keys that exclude `for_each`."""
    names = {name: step for _, step in objects(document, "steps") if (name := text(step, "name"))}
    for i, step in objects(document, "steps"):
        place = pointer("steps", i, "for_each")
        if not is_mapped(step):
            if step.get("at_once") is not None:
                message = "`at_once` says how many entries of `for_each` run at once, which the step does not have"
                yield Diagnostic(pointer("steps", i, "at_once"), Code.CONFLICT, message)
            continue
        if step.get("matrix"):
            message = "a step has either `for_each` or `matrix`"
            yield Diagnostic(place, Code.CONFLICT, message, "let the list have an entry for each combination")
        for name, reference in mapping(step, "for_each").items():
            other = names.get(reference.partition(".")[0], {}) if isinstance(reference, str) else {}
            key = next((entry for entry in ("matrix", "for_each") if other.get(entry)), None)
            if key is not None:
                message = f"{reference} is made once for each run of its step, which has `{key}`: these are many lists"
                hint = "add a step that reads them as an input and makes one list"
                yield Diagnostic(pointer("steps", i, "for_each", name), Code.CONFLICT, message, hint)
