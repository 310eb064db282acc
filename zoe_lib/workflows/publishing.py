"""Publish a step's results for other steps, with a script around its command.

The script runs as the step's user on every back-end, so no other program has to enter the workspace. Each attempt
writes its own directory. If the command succeeds and has left all results, the directory is made read-only and renamed
to its public name in one step: a result exists completely, or not at all, and never changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic
from zoe_client.documents.reading import mapping, objects
from zoe_lib.workflows.values import OF_ENTRY, RunPlace

SCRIPT_NAME = "zoe-workflow-step.sh"
SCRIPT = r"""#!/bin/sh
# Usage: BASE KEPT_MIN WORKFLOW ATTEMPT FINAL ENTRIES RESULT... -- [FILE STEP RESULT LIST]... -- INPUT_VARIABLE... --
# COMMAND...
base=$1 kept_min=$2 workflow=$3 attempt=$4 final=$5 entries=$6
shift 6
results=
while [ "$1" != -- ]; do results="$results $1"; shift; done
shift
# Results of workflows that have not run for the retention go, a bounded number each time.
mkdir -p "$workflow" && touch "$workflow"
find "$base" -mindepth 1 -maxdepth 1 -type d -mmin "+$kept_min" 2>/dev/null | head -n 20 | while read -r old; do
    chmod -R u+w "$old" && rm -rf "$old"
done
# Results of a step that has run for a list: their paths go into a file, one a line, in the order of the entries.
while [ "$1" != -- ]; do
    count=$(cat "$2.entries" 2>/dev/null)
    # Without an entry, nothing has written how many there are.
    [ -n "$count" ] || { [ "$(tr -d ' \t\r\n' < "$4")" = "[]" ] && count=0; } ||
        { echo "zoe: the results below $2 are not there any more" >&2; exit 66; }
    number=0
    while [ "$number" -lt "$count" ]; do
        input=$2.$number/$3
        [ -e "$input" ] || { echo "zoe: the input $input is not there any more" >&2; exit 66; }
        echo "$input"
        number=$((number + 1))
    done > "$1" || exit 73
    shift 4
done
shift
while [ "$1" != -- ]; do
    eval "inputs=\${$1-}" # Zoe made the name
    IFS=,
    for input in $inputs; do
        [ -e "$input" ] || { echo "zoe: the input $input is not there any more" >&2; exit 66; }
    done
    unset IFS
    shift
done
shift
[ -z "$results" ] || { rm -rf "$attempt"; mkdir -p "$attempt" || exit 73; }
"$@" &
child=$! stopped=
trap 'stopped=1; kill -TERM "$child"' TERM INT
wait "$child"
status=$?
[ -z "$stopped" ] || { wait "$child"; status=$?; }
[ "$status" -eq 0 ] && [ -n "$results" ] || exit "$status"
for result in $results; do
    [ -e "$attempt/$result" ] || { echo "zoe: the step has not left its result $result" >&2; status=65; }
done
[ "$status" -eq 0 ] || exit "$status"
chmod -R a-w "$attempt"
if [ -n "$entries" ] && [ ! -e "$entries" ]; then
    echo "$ZOE_ARRAY_SIZE" > "$attempt.entries" && mv "$attempt.entries" "$entries" || exit 73
fi
# Others may have read the results of an earlier attempt that succeeded unseen.
[ -e "$final" ] || mv "$attempt" "$final" || exit 73
"""


@dataclass(frozen=True, slots=True)
class ResultList:
    """The results of a step that runs for each entry of a list, as templates of the back-end.
    file: where a reading step finds their paths, one a line. directory: of the entry's results without its number.
    path: of each result in its directory. source: the list.
    """

    file: str
    directory: str
    path: str
    source: str


@dataclass(frozen=True, slots=True)
class Reads:
    """The inputs of a step: the paths of each by name, and the inputs that are files with paths."""

    inputs: Mapping[str, Sequence[str]]
    lists: Mapping[str, ResultList]


def publisher_of(application: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """Return the component that ends the application, with its index: the one marked so, or the only one."""
    components = objects(application, "components")
    ending = [component for component in components if component[1].get("ends_application") is True]
    if not ending and len(components) == 1 and not application.get("frameworks"):
        ending = [component for component in components if component[1].get("total_count", 1) == 1]
    return ending[0] if len(ending) == 1 else None


def check_publisher(application: dict[str, Any]) -> list[Diagnostic]:
    """Return why this application cannot leave results."""
    found = publisher_of(application)
    if found is None:
        message = "results and inputs need one component that ends the application"
        return [Diagnostic("", Code.CONFLICT, message, "set its `ends_application`")]
    if not isinstance(found[1].get("command"), list) or not found[1]["command"]:
        return [Diagnostic("", Code.CONFLICT, "results and inputs need a `command`, since a script runs around it")]
    if SCRIPT_NAME in mapping(found[1], "files"):
        return [Diagnostic("", Code.CONFLICT, f"the file name {SCRIPT_NAME} is taken by workflows")]
    return []


def with_results(
    application: dict[str, Any],
    place: RunPlace,
    step: str,
    reads: Reads,
    results: Mapping[str, str],
) -> dict[str, Any]:
    """Return the description of a step that reads these inputs and leaves these results; `check_publisher` first."""
    variables = {_variable("INPUT", name): ",".join(paths) for name, paths in reads.inputs.items()}
    variables |= {_variable("RESULT", name): f"{place.attempt(step)}/{path}" for name, path in results.items()}
    components = [_with_variables(component, variables) for component in application["components"]]
    found = publisher_of(application)
    assert found is not None
    components[found[0]] = _with_script(components[found[0]], place, step, reads, results)
    kept = [*application.get("results", []), *(place.result(step, path) for path in results.values())]
    return {**application, "components": components, **({"results": kept} if kept else {})}


def added_arguments(plain: dict[str, Any], application: dict[str, Any]) -> tuple[int, int] | None:
    """Return the component whose command `with_results` has changed, and the number of arguments inserted before it."""
    found = publisher_of(application)
    if found is None or plain is application:
        return None
    index, component = found
    return index, len(component["command"]) - len(plain["components"][index]["command"])


def _variable(kind: str, name: str) -> str:
    return f"ZOE_{kind}_{name.upper().replace('-', '_')}"


def _with_variables(component: Any, variables: Mapping[str, str]) -> Any:
    if not isinstance(component, dict) or not variables:
        return component
    return {**component, "environment": {**variables, **mapping(component, "environment")}}


def _with_script(
    component: dict[str, Any],
    place: RunPlace,
    step: str,
    reads: Reads,
    results: Mapping[str, str],
) -> dict[str, Any]:
    workflow = f"{place.base}/{place.workflow_id}"
    kept_min = str(math.ceil(place.results_kept_s / 60))
    script = ["/bin/sh", f"{{files}}/{SCRIPT_NAME}", place.base, kept_min, workflow]
    mapped = step.endswith(OF_ENTRY) and bool(results)
    entries = f"{place.directory(step).removesuffix(OF_ENTRY)}.entries" if mapped else ""
    script += [place.attempt(step), place.directory(step), entries, *results.values(), "--"]
    lists = [part for entry in reads.lists.values() for part in (entry.file, entry.directory, entry.path, entry.source)]
    script += [*lists, "--"]
    script += [*(_variable("INPUT", name) for name in reads.inputs), "--"]  # there may be more paths than arguments
    files = {**mapping(component, "files"), SCRIPT_NAME: SCRIPT}
    command = component.get("command")
    assert isinstance(command, list)
    return {**component, "command": [*script, *command], "files": files}
