"""Plain answers have the fields and types of the models."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from zoe_client import wire
from zoe_client.quick import plain

PAIRS: list[tuple[Any, type[BaseModel]]] = [
    (plain.Reason, wire.ReasonView),
    (plain.Service, wire.ServiceView),
    (plain.Summary, wire.ExecutionSummary),
    (plain.Execution, wire.ExecutionView),
    (plain.InputRead, wire.InputReadView),
    (plain.InputPlaces, wire.InputPlacesView),
    (plain.Held, wire.HeldView),
    (plain.Page, wire.ExecutionList),
    (plain.Usage, wire.UsageView),
    (plain.UsageList, wire.UsageList),
]
REASON = {"code": "no_resources", "sentence": "full", "counts": {"node": 1}, "hint": ""}


@pytest.mark.parametrize(("kind", "model"), PAIRS, ids=lambda entry: entry.__name__)
def test_a_plain_answer_has_every_field_of_its_model_in_order(kind: Any, model: type[BaseModel]) -> None:
    assert list(kind.__annotations__) == list(model.model_fields)
    nullable = {name for name, field in model.model_fields.items() if "None" in str(field.annotation)}
    assert {name for name, part in kind.__annotations__.items() if "None" in str(part)} == nullable


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"of_a_newer_server": 1}, True),
        ({"code": 5}, False),
        ({"counts": {"node": "1"}}, False),
        ({"counts": {"node": True}}, False),
        ({"counts": []}, False),
        ({"hint": None}, False),
    ],
)
def test_an_answer_fits_if_it_has_the_keys_and_types(change: dict[str, Any], fits: bool) -> None:
    assert plain.matches_type({**REASON, **change}, plain.Reason) is fits


def test_a_missing_key_and_another_kind_of_answer_do_not_fit() -> None:
    assert not plain.matches_type({"code": "x"}, plain.Reason)
    assert not plain.matches_type([], plain.Page)
    page: dict[str, Any] = {"executions": [], "next_cursor": None, "searched_to_s": 1}
    assert plain.matches_type(page, plain.Page)
    assert not plain.matches_type({**page, "executions": [REASON]}, plain.Page)
