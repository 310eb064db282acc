"""A command about one unit runs for several."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from zoe_cli.commands.words.arguments import for_each
from zoe_cli.exits import Exit
from zoe_cli.output import Format, emit
from zoe_cli.rows import Rows
from zoe_client.errors import NotFound
from zoe_client.wire import Problem


def context_of(form: Format) -> Any:
    command = SimpleNamespace(params=[], listed="", name="show")
    given = SimpleNamespace(output=form)
    return SimpleNamespace(obj=given, find_object=lambda _: given, command=command, parent=None)


def show(context: Any, id_: str) -> None:
    if id_ == "gone":
        raise NotFound(Problem(type="", title="Not found", status=404, code="not_found", detail="no gone"))
    emit({"id": id_}, context.obj.output, Rows(("id",), [(id_,)]))


@pytest.mark.parametrize(
    ("form", "ids", "out"),
    [
        (Format.JSON, ["a"], {"id": "a"}),
        (Format.JSON, ["a", "b", "a"], [{"id": "a"}, {"id": "b"}]),
        (Format.JSON, ["gone", "b"], [{"id": "b"}]),
    ],
)
def test_json_is_a_list_only_for_several(
    form: Format, ids: list[str], out: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    context = context_of(form)
    code = 0
    try:
        for_each(context, ids, lambda id_: show(context, id_))
    except typer.Exit as ended:
        code = ended.exit_code
    assert json.loads(capsys.readouterr().out) == out
    assert code == (Exit.NOT_FOUND if "gone" in ids else 0)


def test_a_table_names_each_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    context = context_of(Format.TABLE)
    with pytest.raises(typer.Exit):
        for_each(context, ["a", "b"], lambda id_: show(context, id_))
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == ["a:", "ID", "a", "", "b:", "ID", "b"]
