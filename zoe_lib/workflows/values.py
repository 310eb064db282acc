"""What a workflow is compiled to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from zoe_client.documents.diagnostics import Diagnostic, index_of, pointer
from zoe_client.vocabulary import DependencyKind

Value = str | int | float | bool
OF_ENTRY = ".{index}"
"""Behind the name of a step with `for_each`: the place of the entry, which the array fills in."""
RESULTS_DIRECTORY = ".zoe-workflows"
"""Below the workspace of its owner."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a run of a workflow keeps its results, and for how long.

    `kept`: which run's results are used of steps that are not run again, by the name of the step.
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
    """The list for whose entries a step runs: `name` in templates, `source` as STEP.RESULT, `path` below the workspace,
    and how many entries run at once (None: any number).
    """

    name: str
    source: str
    path: str
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """Another step that has to end first, by its position in the workflow."""

    kind: DependencyKind
    position: int


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """One execution of a workflow.

    `name` is unique: that of the step in the document, and with a matrix its number behind a dot. `values`: those of
    the matrix. `after`: the positions of steps that stand before this one. `on_failure`: it runs once one of these has
    failed. `deadline_s`: seconds after the submission by which it must have ended; `deadlines`: the same as times, read
    at the submission. `origin`: its index in the document.
    `paths`: of its results below the workspace, by name; with `each`, of those of one entry, with `{index}`. `script`:
    the component whose command a script runs, and how many arguments stand before it. `each`: it runs once for each
    entry of that list, as an array.
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

    def located(self, found: Diagnostic) -> Diagnostic:
        """Return a finding about its description with its place in the document of the workflow."""
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
    """The steps in an order in which each stands behind those that it runs after; the parameters with their values."""

    name: str
    parameters: Mapping[str, Value]
    steps: tuple[CompiledStep, ...]
