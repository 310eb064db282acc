"""Make the description of one step with one combination of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, pointer
from zoe_client.documents.reading import mapping, objects, text
from zoe_lib.descriptions.bounds import NAME_LENGTH_MAX, TITLE_LENGTH_MAX
from zoe_lib.workflows.filling import Filler
from zoe_lib.workflows.mapping import each_entry, is_mapped
from zoe_lib.workflows.matrices import size_of
from zoe_lib.workflows.model import SHORT_FORM
from zoe_lib.workflows.publishing import Reads, ResultList, added_arguments, check_publisher, with_results
from zoe_lib.workflows.values import OF_ENTRY, CompiledStep, EachEntry, Need, RunPlace, Value

_RESOURCES: Mapping[str, Any] = {"memory": "1GiB", "cores": 1.0}
_OVERRIDES = ("retries", "retry", "time_limit_s")


@dataclass(frozen=True, slots=True)
class MadeStep:
    """A step without its dependencies. `plain`: its description without the script that publishes its results."""

    name: str
    step: str
    origin: int
    values: Mapping[str, Value]
    application: dict[str, Any]
    paths: Mapping[str, str]
    short: bool
    plain: dict[str, Any]
    each: EachEntry | None = None

    def compile(self, after: tuple[Need, ...], on_failure: bool, deadline_s: float | None) -> CompiledStep:
        """Return the step with its dependencies."""
        return CompiledStep(
            name=self.name,
            step=self.step,
            origin=self.origin,
            values=self.values,
            after=after,
            on_failure=on_failure,
            application=self.application,
            paths=self.paths,
            deadline_s=deadline_s,
            short=self.short,
            script=added_arguments(self.plain, self.application),
            each=self.each,
        )

    def in_workflow_document(self, found: Diagnostic) -> Diagnostic:
        """Return a finding on its description with its place in the document of the workflow."""
        return self.compile((), False, None).in_workflow_document(found)


class StepMaker:
    """Makes descriptions of steps of one document, for one run."""

    def __init__(self, document: dict[str, Any], parameters: Mapping[str, Value], place: RunPlace) -> None:
        self._parameters = parameters
        self._place = place
        self._title = text(document, "name") or "workflow"
        self._steps = {name: step for _, step in objects(document, "steps") if (name := text(step, "name"))}
        declared = mapping(document, "params")
        # The missing value has its own finding.
        self._unfilled: dict[str, Value] = {name: "" for name in declared if isinstance(name, str)}

    def make(
        self, index: int, step: dict[str, Any], name: str, values: Mapping[str, Value]
    ) -> tuple[MadeStep | None, list[Diagnostic]]:
        """Return the step with these values of its matrix, and its findings, without structural ones."""
        short = step.get("application") is None
        both = [key for key in SHORT_FORM if key in step] if not short else []
        if both:
            message = f"a step has either `application` or `{both[0]}`"
            return None, [Diagnostic(pointer("steps", index, both[0]), Code.CONFLICT, message)]
        if short and not {"image", "command"} & set(step):
            message = "a step has `application`, or `image` and `command`"
            return None, [Diagnostic(pointer("steps", index), Code.MISSING, message)]
        source = _short_form(step, name) if short else step["application"]
        if not isinstance(source, dict):
            return None, []
        results = {key: path for key, path in mapping(step, "results").items() if isinstance(path, str)}
        inputs, lists = self._inputs(step)
        each = each_entry(step, self._steps, self._place)
        own = f"{name}{OF_ENTRY}" if is_mapped(step) else name
        foreign = mapping(source, "storage")
        names = frozenset(one for _, item in objects(foreign, "inputs") if (one := text(item, "name")))
        given: dict[str, Mapping[str, Value]] = {"param": {**self._unfilled, **self._parameters}, "matrix": values}
        filler = Filler(
            given,
            inputs,
            {key: f"{self._place.attempt(own)}/{path}" for key, path in results.items()},
            names,
            each=next(iter(mapping(step, "for_each")), None),
        )
        application = filler.fill(source)
        application = {**application, **{key: step[key] for key in _OVERRIDES if step.get(key) is not None}}
        paths = {key: self._place.result(own, path) for key, path in results.items()}
        made = MadeStep(name, text(step, "name") or "", index, values, application, paths, short, application, each)
        found = [made.in_workflow_document(diagnostic) for diagnostic in filler.found]
        if inputs or results:
            faults = check_publisher(application)
            found += [Diagnostic(pointer("steps", index), fault.code, fault.message, fault.hint) for fault in faults]
            if not faults:
                reads = Reads(inputs, lists)
                application = with_results(application, self._place, own, reads, results)
        return replace(made, application=application), found

    def _inputs(self, step: dict[str, Any]) -> tuple[dict[str, list[str]], dict[str, ResultList]]:
        """Return the paths of each input: one, or one for each run of a step with a matrix; for a step with `for_each`,
        that of a file with the paths, and the contents of this file.
        """
        found: dict[str, list[str]] = {}
        lists: dict[str, ResultList] = {}
        for name, reference in mapping(step, "inputs").items():
            on, _, result = reference.partition(".") if isinstance(reference, str) else ("", "", "")
            other = self._steps.get(on)
            path = mapping(other, "results").get(result) if other is not None else None
            if other is None or not isinstance(path, str):
                found[name] = []  # the graph's findings cover it
                continue
            if is_mapped(other):
                lists[name] = self._list(name, on, other, path)
                found[name] = [lists[name].file]
                continue
            size = size_of(other) if mapping(other, "matrix") else 0
            makers = [f"{on}.{number}" for number in range(min(size, 1000))] or [on]
            found[name] = [f"{self._place.directory(maker)}/{path}" for maker in makers]
        return found, lists

    def _list(self, name: str, on: str, other: dict[str, Any], path: str) -> ResultList:
        each = each_entry(other, self._steps, self._place)
        source = "" if each is None else f"{{workspace}}/{each.path}"  # without one, the graph's findings cover it
        return ResultList(f"{{scratch}}/zoe-input-{name}", self._place.directory(on), path, source)


def _short_form(step: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the description of one command: one component with one instance, which ends the application."""
    given = {key: step[key] for key in SHORT_FORM if key in step}
    amounts: dict[str, Any] = {key: given.pop(key) for key in ("memory", "cores", "devices") if key in given}
    label = name.partition(".")[0][:NAME_LENGTH_MAX] or "step"
    resources: dict[str, Any] = {**_RESOURCES, **amounts}
    component: dict[str, Any] = {"name": "main", **given, "resources": resources, "ends_application": True}
    return {"version": 4, "name": label[:TITLE_LENGTH_MAX], "components": [component]}
