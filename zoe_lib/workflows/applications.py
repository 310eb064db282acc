"""Documents that are stored under a name: descriptions with parameters, and workflows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic
from zoe_client.documents.reading import mapping, objects, text
from zoe_lib.descriptions import parse
from zoe_lib.descriptions import scalars as s
from zoe_lib.descriptions.model import Model
from zoe_lib.descriptions.shape import check_shape
from zoe_lib.descriptions.structure import read_model
from zoe_lib.workflows.compiling import compile_workflow
from zoe_lib.workflows.filling import Filler
from zoe_lib.workflows.model import PARAMETERS_MAX, Parameter
from zoe_lib.workflows.parameters import parameters_of
from zoe_lib.workflows.values import RunPlace, Value


class _Parameters(Model):
    params: dict[s.Label, Parameter] = Field(default={}, max_length=PARAMETERS_MAX)


def is_workflow(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a workflow; else it is a description."""
    return "steps" in document


def filled_application(document: dict[str, Any], given: Mapping[str, object]) -> dict[str, Any]:
    """Return a description with the values of its parameters in place of `{param:NAME}`, without `params`.

    DescriptionError with what is wrong with the parameters and with their places; the description is not checked.
    """
    values, found = _values(document, given)
    unset = dict.fromkeys(mapping(document, "params"), "")  # each without a value has a finding of its own
    filled, wrong = _filled(document, {**unset, **values})
    if found or wrong:
        raise DescriptionError([*found, *wrong])
    return filled


def check_stored(document: dict[str, Any]) -> None:
    """Raise DescriptionError with what is wrong with a document before it is stored.

    While a parameter has no default, only parameters and their places can be checked; the rest is when it runs.
    """
    declared = mapping(document, "params").values()
    if any(isinstance(one, dict) and one.get("default") is None for one in declared):
        unset = [name for name, one in mapping(document, "params").items() if isinstance(one, dict)]
        wrong = [one for one in _values(document, {})[1] if one.code != Code.MISSING]
        if not wrong and not is_workflow(document):
            wrong = _filled(document, dict.fromkeys(unset, ""))[1]
        if wrong:
            raise DescriptionError(wrong)
    elif is_workflow(document):
        compile_workflow(document, {}, RunPlace("WORKFLOW"))
    else:
        parse(filled_application(document, {}))


def _values(document: dict[str, Any], given: Mapping[str, object]) -> tuple[dict[str, Value], list[Diagnostic]]:
    if wrong := check_shape(document):
        raise DescriptionError(wrong)
    _, found = read_model(_Parameters, {"params": document.get("params", {})})
    values, wrong = parameters_of(document, given)
    return values, [*found, *wrong]


def _filled(document: dict[str, Any], values: Mapping[str, Value]) -> tuple[dict[str, Any], list[Diagnostic]]:
    inputs = objects(mapping(document, "storage"), "inputs")
    names = frozenset(one for _, item in inputs if (one := text(item, "name")))
    filler = Filler({"param": values}, {}, {}, names)
    filled = filler.fill({key: one for key, one in document.items() if key != "params"})
    return filled, filler.found
