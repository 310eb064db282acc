"""Change a document by path, for `--set` on the command line and form fields of the catalogue."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, did_you_mean, index_of
from zoe_client.documents.load import load_json
from zoe_client.documents.reading import objects, text

# A test compares these lists with the models of format version 4.
KEYS_OF_APPLICATION = (
    "name", "kind", "description", "size", "time_limit_s", "retries", "retry", "notify", "priority", "deadline_s",
    "deadline", "promise", "results", "storage",
)  # fmt: skip
KEYS_OF_COMPONENT = (
    "name", "image", "command", "work_dir", "environment", "secrets", "volumes", "resources", "essential_count",
    "total_count", "preferred_count", "startup_order", "labels", "ports", "scaling", "progress", "readiness",
    "ends_application", "read_only_root", "stop_grace_s", "files", "requirements", "build_requirements", "sources",
    "api",
)  # fmt: skip
_TEXTS = ("environment", "labels")


def set_values(document: Mapping[str, Any], settings: Iterable[str]) -> dict[str, Any]:
    """Return a copy of the document with each `PATH=VALUE` applied; DescriptionError lists all failures.

    VALUE is parsed as JSON if possible, else taken as text; variables and labels are always text.
    """
    diagnostics: list[Diagnostic] = []
    assignments: list[tuple[str, object]] = []
    for setting in settings:
        path, equals, value = setting.partition("=")
        if equals:
            assignments.append((path.strip(), _read(path.strip(), value)))
        else:
            diagnostics.append(_finding(f"{setting[:64]!r} has no '='", "write component.key=value"))
    return assign(document, assignments, diagnostics)


def assign(
    document: Mapping[str, Any], assignments: Iterable[tuple[str, object]], diagnostics: Sequence[Diagnostic] = ()
) -> dict[str, Any]:
    """Return a copy of the document with each value set at its path; DescriptionError lists all failures.

    A path is a key of the application (`time_limit_s`), `COMPONENT.key` (also below: `driver.environment.NAME`,
    `driver.resources.memory`, `driver.command.3`), `FRAMEWORK.parameter` with the name of a framework reference,
    `FRAMEWORK-COMPONENT.key` for an override, or `*.environment.NAME` for every component that has the variable. A text
    given for a command is split as a shell would.
    """
    changed = copy.deepcopy(dict(document))
    wrong = list(diagnostics)
    for path, value in assignments:
        try:
            _assign(changed, path.split("."), value)
        except DescriptionError as error:
            wrong.extend(error.diagnostics)
    if wrong:
        raise DescriptionError(wrong)
    return changed


def _assign(document: dict[str, Any], path: list[str], value: object) -> None:
    owners = {name: c for _, c in objects(document, "components") if (name := text(c, "name"))}
    uses = {text(u, "name") or text(u, "framework"): u for _, u in objects(document, "frameworks")}
    match path:
        case [owner, *rest] if owner in owners and rest:
            _check_key(rest[0], KEYS_OF_COMPONENT)
            _put(owners[owner], rest, value)
        case [owner, parameter] if owner in uses:
            _put(uses[owner], ["parameters", parameter], value)
        case [owner, *rest] if rest and (override := _override(uses, owner)):
            _check_key(rest[0], KEYS_OF_COMPONENT)
            _put(override[0], ["overrides", override[1], *rest], value)
        case ["*", group, name] if group in _TEXTS:
            _set_in_all_components(owners.values(), group, name, value)
        case [key, *_] if key in KEYS_OF_APPLICATION:
            _put(document, path, value)
        case _:
            names = [*owners, *(name for name in uses if name), *KEYS_OF_APPLICATION]
            _refuse(f"the description has no {path[0][:64]!r}", did_you_mean(path[0], names))


def _override(uses: Mapping[str | None, dict[str, Any]], owner: str) -> tuple[dict[str, Any], str] | None:
    """Return the framework reference and the component name for `spark-worker`; None if no reference has that
    prefix.
    """
    for name, use in uses.items():
        if name and owner.startswith(name + "-"):
            return use, owner.removeprefix(name + "-")
    return None


def _set_in_all_components(components: Iterable[dict[str, Any]], group: str, name: str, value: object) -> None:
    having = [c for c in components if isinstance(c.get(group), dict) and name in c[group]]
    if not having:
        _refuse(f"no component has {name[:64]!r} in its {group}")
    for component in having:
        _put(component, [group, name], value)


def _put(owner: dict[str, Any], path: list[str], value: object) -> None:
    here: Any = owner
    for part in path[:-1]:
        here = here.setdefault(part, {}) if isinstance(here, dict) else _item(here, part, path)
    if isinstance(here, dict):
        here[path[-1]] = _coerce(path, value)
    else:
        _item(here, path[-1], path)
        here[int(path[-1])] = value


def _item(here: object, part: str, path: list[str]) -> Any:
    index = index_of(part)
    if isinstance(here, list) and index is not None and index < len(here):
        return here[index]
    return _refuse(f"{'.'.join(path)[:64]!r} does not exist: {part[:64]!r} is missing")


def _coerce(path: list[str], value: object) -> object:
    if len(path) > 1 and path[-2] in _TEXTS:
        return value if isinstance(value, str) else json.dumps(value)
    if path[-1] == "command" and isinstance(value, str):
        return _command(value)
    return value


def _read(path: str, value: str) -> object:
    if any(f".{group}." in path for group in _TEXTS):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return load_json(value) if isinstance(found, dict | list) else found


def _command(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        return _refuse(f"not a valid command line: {error}", "use a JSON list of strings")


def _check_key(key: str, known: Sequence[str]) -> None:
    if key not in known:
        _refuse(f"components have no {key[:64]!r}", did_you_mean(key, known))


def _finding(message: str, hint: str = "") -> Diagnostic:
    return Diagnostic("", Code.BAD_SETTING, message, hint)


def _refuse(message: str, hint: str = "") -> NoReturn:
    raise DescriptionError([_finding(message, hint)])
