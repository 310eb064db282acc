"""The compiled form of a workflow: steps as executions, and their dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from zoe_client.documents.diagnostics import Diagnostic, index_of, pointer
from zoe_client.vocabulary import DependencyKind

Value = str | int | float | bool
OF_ENTRY = ".{index}"
"""Suffix of the directory of a step with `for_each`: the number of the entry, which the array fills in."""
RESULTS_DIRECTORY = ".zoe-workflows"
"""Directory of results, below the owner's workspace."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Location and retention of a workflow run's results.

    `kept`: the run with the results of each step that is not run again, by the step's name.
    """

    workflow_id: str
    run: int = 1
    results_kept_s: float = 30 * 86400.0
    kept: Mapping[str, int] | None = None

    @property
    def base(self) -> str:
        """Return the directory of all workflows, as a template."""
        return f"{{workspace}}/{RESULTS_DIRECTORY}"

    def directory(self, step: str) -> str:
        """Return the directory with the results of a step, as a template."""
        run = (self.kept or {}).get(step.removesuffix(OF_ENTRY), self.run)
        return f"{self.base}/{self.workflow_id}/{run}/{step}"

    def attempt(self, step: str) -> str:
        """Return the directory that an attempt of a step writes, as a template."""
        return f"{self.directory(step)}.attempt-{{attempt}}"

    def result(self, step: str, path: str) -> str:
        """Return the path of a result below the workspace."""
        return str(PurePosixPath(self.directory(step).removeprefix("{workspace}/"), path))


@dataclass(frozen=True, slots=True)
class EachEntry:
    """The list of a step with `for_each`: `name` in templates, `source` as STEP.RESULT, `path` below the workspace, and
    the maximum of entries at the same time (None: any number).
    """

    name: str
    source: str
    path: str
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """Another step that must end first, by its position in the workflow."""

    kind: DependencyKind
    position: int


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """One execution of a workflow.

    `name` is unique: the step's name in the document, with a matrix followed by a dot and its number. `values`: those
    of the matrix. `after`: the positions of earlier steps that it depends on. `on_failure`: it runs once one of these
    has failed. `deadline_s`: deadline in seconds after the submission; `deadlines`: the same as times, parsed at the
    submission. `origin`: its index in the document. `paths`: of its results below the workspace, by name; with `each`,
    of those of one entry, with `{index}`. `script`: the component whose command runs in a script, and the number of
    arguments before it. `each`: it runs once for each entry of that list, as an array.
    """

    name: str
    step: str
    origin: int
    values: Mapping[str, Value]
    after: tuple[Need, ...]
    on_failure: bool
    application: dict[str, Any]
    paths: Mapping[str, str]
    deadline_s: float | None
    short: bool
    script: tuple[int, int] | None = None
    deadlines: tuple[str, ...] = ()
    each: EachEntry | None = None

    def in_workflow_document(self, found: Diagnostic) -> Diagnostic:
        """Return a finding on its description with its place in the document of the workflow."""
        place = self._before_the_script(found.pointer)
        place = _of_short_form(place) if self.short else f"/application{place}"
        message = found.message if not self.values else f"{found.message} (in {self.name})"
        return Diagnostic(pointer("steps", self.origin) + place, found.code, message, found.hint)

    def _before_the_script(self, place: str) -> str:
        """Return the place in the command that the user wrote."""
        if self.script is None:
            return place
        command = pointer("components", self.script[0], "command")
        argument = index_of(place.removeprefix(f"{command}/"))
        return place if argument is None else f"{command}/{max(argument - self.script[1], 0)}"


def _of_short_form(place: str) -> str:
    rest = place.removeprefix("/components/0") if place.startswith("/components/0") else place
    return rest.replace("/resources/", "/", 1) if rest.startswith("/resources/") else rest


@dataclass(frozen=True, slots=True)
class CompiledWorkflow:
    """The steps in an order in which each follows its dependencies, and the parameters with their values."""

    name: str
    parameters: Mapping[str, Value]
    steps: tuple[CompiledStep, ...]
