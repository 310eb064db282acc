"""Read framework files: named, parameterised groups of components, and a user's values for the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean
from zoe_client.documents.quantities import bytes_of, size_text
from zoe_lib.descriptions import bounds
from zoe_lib.descriptions import scalars as s
from zoe_lib.descriptions.model import Model

ParameterType = Literal["integer", "number", "memory", "string", "strings", "boolean"]


class Parameter(Model):
    """A declared parameter of a framework. `memory` accepts the same as `resources.memory` and becomes bytes."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
    type: ParameterType
    default: Any
    minimum: float | None = None
    maximum: float | None = None
    description: s.Description


class Framework(Model):
    """A framework file. `components` are version-4 components with `$(...)` for computed values."""

    framework: s.Label
    title: s.Title
    description: s.Description
    parameters: list[Parameter]
    components: Annotated[dict[s.Label, dict[str, Any]], Field(min_length=1)]


def parameter_values(
    framework: Framework, given: Mapping[str, object], place: str
) -> tuple[dict[str, object], list[Diagnostic]]:
    """Return the value of each parameter, given or default, and the findings for the given values."""
    declared = {parameter.name: parameter for parameter in framework.parameters}
    found = [_unknown(f"{place}/{name}", name, declared) for name in given if name not in declared]
    values: dict[str, object] = {}
    for name, parameter in declared.items():
        values[name], wrong = _value(parameter, given.get(name, parameter.default))
        found.extend(Diagnostic(f"{place}/{name}", code, message) for code, message in wrong)
    return values, found


def _unknown(place: str, name: str, declared: Mapping[str, Parameter]) -> Diagnostic:
    message = f"the framework has no parameter {name[:64]!r}"
    return Diagnostic(place, Code.UNKNOWN_KEY, message, did_you_mean(name, list(declared)))


_Wrong = list[tuple[Code, str]]


def _value(parameter: Parameter, value: object) -> tuple[object, _Wrong]:
    wrong: _Wrong = []
    if parameter.type == "memory" and isinstance(value, str):
        try:
            value = bytes_of(value[:64])
        except ValueError as error:
            return value, [(Code.BAD_FORMAT, str(error))]
    if not _has_type(parameter.type, value):
        return value, [(Code.WRONG_TYPE, f"must be {_TYPES[parameter.type]}")]
    if isinstance(value, int | float):
        wrong.extend(_out_of_range(parameter, value))
    return value, wrong


_TYPES: Mapping[str, str] = {
    "integer": "a whole number",
    "number": "a number",
    "memory": "bytes, or a string such as '2GiB'",
    "string": f"a string of at most {bounds.DESCRIPTION_LENGTH_MAX} characters",
    "strings": "a list of texts",
    "boolean": "true or false",
}


def _has_type(kind: str, value: object) -> bool:
    match kind:
        case "integer" | "memory":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str) and len(value) <= bounds.DESCRIPTION_LENGTH_MAX
        case "strings":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, bool)


def _out_of_range(parameter: Parameter, value: float) -> Iterator[tuple[Code, str]]:
    def text_of_bound(amount: float) -> str:
        return size_text(int(amount)) if parameter.type == "memory" else f"{amount:g}"

    if parameter.minimum is not None and value < parameter.minimum:
        yield Code.OUT_OF_RANGE, f"must be at least {text_of_bound(parameter.minimum)}"
    if parameter.maximum is not None and value > parameter.maximum:
        yield Code.OUT_OF_RANGE, f"must be at most {text_of_bound(parameter.maximum)}"
