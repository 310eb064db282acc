"""Stored documents: descriptions with parameters, and workflows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import Field

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, index_of, pointer
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

    The description itself is checked only if there are faults in the parameters or in their places: DescriptionError
    with all of them.
    """
    filled, found = _checked_values(document, given)
    if found:
        raise DescriptionError([*found, *_other_findings(found, document, filled)])
    return filled


def check_stored(document: dict[str, Any]) -> None:
    """Raise DescriptionError with all faults of a document before it is stored.

    Places of a parameter without a default cannot be checked before a run.
    """
    try:
        if is_workflow(document):
            compile_workflow(document, {}, RunPlace("WORKFLOW"))
        else:
            parse(filled_application(document, {}))
    except DescriptionError as error:
        unset = _unset(document)
        places = {pointer("params", name) for name in unset}
        given_later = {
            diagnostic
            for diagnostic in error.diagnostics
            if diagnostic.pointer in places and diagnostic.code == Code.MISSING
        }
        left = [
            diagnostic
            for diagnostic in error.diagnostics
            if diagnostic not in given_later and not _depends_on(diagnostic, document, unset)
        ]
        if left:
            raise DescriptionError(left) from None


def _checked_values(document: dict[str, Any], given: Mapping[str, object]) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Return a filled description, and the faults of parameters and of their places."""
    values, found = _values(document, given)
    unset = dict.fromkeys(mapping(document, "params"), "")  # each missing value has its own finding
    filled, wrong = _fill(document, {**unset, **values})
    return filled, [*found, *wrong]


def _other_findings(found: Sequence[Diagnostic], document: dict[str, Any], filled: dict[str, Any]) -> list[Diagnostic]:
    """Return the other findings on a filled description, except for places that depend on a faulty parameter."""
    wrong = {diagnostic.pointer.split("/")[2] for diagnostic in found if diagnostic.pointer.startswith("/params/")}
    known = {diagnostic.pointer for diagnostic in found}
    try:
        parse(filled)
    except DescriptionError as error:
        return [
            diagnostic
            for diagnostic in error.diagnostics
            if diagnostic.pointer not in known and not _depends_on(diagnostic, document, wrong)
        ]
    return []


def _unset(document: dict[str, Any]) -> set[str]:
    """Return the parameters without a default."""
    declared = mapping(document, "params").items()
    return {name for name, entry in declared if isinstance(entry, dict) and entry.get("default") is None}


def _depends_on(found: Diagnostic, document: Any, names: Collection[str]) -> bool:
    """Return whether a text at the place of a finding, or below, takes the value of one of these parameters."""
    for part in found.pointer.split("/")[1:]:
        key: str | int = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            key = index if (index := index_of(part)) is not None and index < len(document) else -1
        elif not isinstance(document, dict) or key not in document:
            break
        document = document[key]
    templates = [f"{{param:{name}}}" for name in names]
    todo = [document]
    while todo:
        one = todo.pop()
        if isinstance(one, str) and any(template in one for template in templates):
            return True
        todo.extend(one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
    return False


def _values(document: dict[str, Any], given: Mapping[str, object]) -> tuple[dict[str, Value], list[Diagnostic]]:
    if wrong := check_shape(document):
        raise DescriptionError(wrong)
    _, found = read_model(_Parameters, {"params": document.get("params", {})})
    values, wrong = parameters_of(document, given)
    return values, [*found, *wrong]


def _fill(document: dict[str, Any], values: Mapping[str, Value]) -> tuple[dict[str, Any], list[Diagnostic]]:
    inputs = objects(mapping(document, "storage"), "inputs")
    names = frozenset(one for _, item in inputs if (one := text(item, "name")))
    filler = Filler({"param": values}, {}, {}, names)
    filled = filler.fill({key: entry for key, entry in document.items() if key != "params"})
    return filled, filler.found
