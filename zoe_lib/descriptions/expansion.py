"""Replace references to frameworks by their components, and map findings back to the references. Pure."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean, index_of, pointer
from zoe_client.documents.reading import mapping
from zoe_client.words.plain_errors import sentences
from zoe_lib.descriptions.bounds import FRAMEWORKS_MAX, GIB, KIB, MIB
from zoe_lib.descriptions.expressions import ExpressionError, substitute
from zoe_lib.descriptions.frameworks import Framework, parameter_values
from zoe_lib.descriptions.model import FrameworkUse
from zoe_lib.descriptions.structure import read_model
from zoe_lib.domain.applications.templates import TemplateError, rename

_UNITS = {"KiB": KIB, "MiB": MIB, "GiB": GIB}


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of an expanded component: the reference at `use`, the framework's component `local`."""

    use: int
    local: str
    override: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expansion:
    """An expanded document, the origins of its first components, and the findings."""

    document: dict[str, Any]
    origins: tuple[Origin, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = field(default=())

    def in_user_document(self, found: Diagnostic) -> Diagnostic:
        """Return the finding with its pointer mapped from the expanded document to the user's document."""
        parts = found.pointer.split("/")
        index = index_of(parts[2]) if parts[:2] == ["", "components"] and len(parts) > 2 else None
        if index is None or not self.origins:
            return found
        if index >= len(self.origins):
            own = "/".join(["", "components", str(index - len(self.origins)), *parts[3:]])
            return replace(found, pointer=own)
        origin = self.origins[index]
        message = f"component {origin.local!r} of the framework: {found.message}"
        return replace(found, pointer=_origin_pointer(origin, parts[3:]), message=message)


def expand_frameworks(document: Mapping[str, Any], frameworks: Mapping[str, Framework]) -> Expansion:
    """Return the document with its framework references replaced by their components, which come first."""
    uses = document.get("frameworks", [])
    rest = {key: value for key, value in document.items() if key != "frameworks"}
    if not isinstance(uses, list) or len(uses) > FRAMEWORKS_MAX:
        message = f"must be a list of at most {FRAMEWORKS_MAX} references"
        return Expansion(rest, (), (Diagnostic("/frameworks", Code.WRONG_TYPE, message),))
    results = [_expand_use(index, use, frameworks) for index, use in enumerate(uses)]
    components = [component for expanded, _ in results for _, component in expanded]
    diagnostics = tuple(diagnostic for _, wrong in results for diagnostic in wrong)
    own = document.get("components", [])
    if not isinstance(own, list):
        return Expansion({**rest, "components": own}, (), diagnostics)
    origins = tuple(origin for expanded, _ in results for origin, _ in expanded)
    return Expansion({**rest, "components": [*components, *own]}, origins, diagnostics)


_Expanded = list[tuple[Origin, dict[str, Any]]]


def _expand_use(index: int, raw: object, frameworks: Mapping[str, Framework]) -> tuple[_Expanded, list[Diagnostic]]:
    place = pointer("frameworks", index)
    use, wrong = read_model(FrameworkUse, raw)
    if use is None:
        return [], [replace(diagnostic, pointer=place + diagnostic.pointer) for diagnostic in wrong]
    framework = frameworks.get(use.framework)
    if framework is None:
        hint = did_you_mean(use.framework, list(frameworks))
        message = f"framework {use.framework!r} does not exist"
        return [], [Diagnostic(f"{place}/framework", Code.UNKNOWN_REFERENCE, message, hint)]
    values, wrong = parameter_values(framework, use.parameters, f"{place}/parameters")
    wrong += _wrong_overrides(use, framework, place)
    if wrong:
        return [], wrong
    try:
        return _components(index, use, framework, values), []
    except ExpressionError as error:
        return [], [Diagnostic(place, Code.CONFLICT, f"framework {use.framework!r}: {error}")]


def _wrong_overrides(use: FrameworkUse, framework: Framework, place: str) -> list[Diagnostic]:
    known = list(framework.components)
    found = []
    for name, override in use.overrides.items():
        where = place + pointer("overrides", name)
        if name not in known:
            message = f"the framework has no component {name[:64]!r}"
            found.append(Diagnostic(where, Code.UNKNOWN_REFERENCE, message, did_you_mean(name, known)))
        elif "name" in override:
            found.append(Diagnostic(f"{where}/name", Code.CONFLICT, "a component of a framework cannot be renamed"))
    return found


def _components(index: int, use: FrameworkUse, framework: Framework, values: Mapping[str, object]) -> _Expanded:
    names = {local: f"{use.name or use.framework}-{local}" for local in framework.components}
    expanded = []
    for local, template in framework.components.items():
        override = use.overrides.get(local, {})
        component = _merge(substitute(template, {**_UNITS, **values}), override)
        expanded.append(
            (Origin(index, local, override), _rename_references({"name": names[local], **component}, names))
        )
    return expanded


def _merge(base: Any, override: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396): objects merge, null removes, all else replaces."""
    if not isinstance(override, dict):
        return copy.deepcopy(override)
    merged = dict(base) if isinstance(base, dict) else {}
    for key, value in override.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge(merged.get(key), value)
    return merged


def _rename_references(component: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Replace references to components of the framework in templates by their full names."""

    def rewrite(value: object) -> object:
        try:
            return rename(value, lambda name: names.get(name, name)) if isinstance(value, str) else value
        except TemplateError:
            return value  # the rules report it, with its place

    if isinstance(component.get("command"), list):
        component["command"] = [rewrite(argument) for argument in component["command"]]
    if "environment" in component and mapping(component, "environment"):
        component["environment"] = {key: rewrite(value) for key, value in component["environment"].items()}
    return component


def _origin_pointer(origin: Origin, parts: list[str]) -> str:
    """Return the longest part of the place that exists in the override, or the reference itself."""
    here: object = origin.override
    for depth, part in enumerate(parts):
        if isinstance(here, list) and depth:
            break
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, Mapping) or key not in here:
            if depth == 0:
                return pointer("frameworks", origin.use)
            break
        here = here[key]
    return "/".join([pointer("frameworks", origin.use, "overrides", origin.local), *parts])


def read_framework(text: str) -> Framework:
    """Return the framework in a file's text; ValueError if it is not valid."""
    try:
        return Framework.model_validate(json.loads(text))
    except ValidationError as error:
        raise ValueError(f"the framework is not valid: {'; '.join(sentences(error))}") from None
