"""Names and messages of other users never control a terminal, in any format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Zoe
from tests.cli.server import Server
from zoe_cli.output import table
from zoe_cli.rows import Rows
from zoe_cli.text import json_text, printable
from zoe_cli.yaml_text import yaml_text
from zoe_lib.domain.executions.execution import Execution

HOSTILE = [
    "[red]bold[/red] [link=x]y[/link] :smile:",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J",
    "\x9b31m \x85 next",
    "line\nline\r\ttab\x08\x7f",
    "\u202eright to left \u2028 \u200f",
    "wide 漢字 é ñ",
    "n" * 120,
]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200f\u2028\u202e\ud800-\udfff]")


def _of_before(server: Server, zoe: Zoe, app_file: Path, name: str) -> str:
    """Submit a name like an old API that took any text; return its id."""
    accepted = server.store.execution(zoe("run", str(app_file), "-o", "json").json()["id"])
    execution = Execution(
        id=f"before-{HOSTILE.index(name)}",
        name=name,
        tenant=accepted.tenant,
        user=accepted.user,
        application=accepted.application,
        submitted_at_s=accepted.submitted_at_s,
    )
    return server.store.submit(execution, "test").id


@pytest.mark.parametrize("name", HOSTILE)
def test_names(server: Server, zoe: Zoe, app_file: Path, name: str) -> None:
    execution_id = _of_before(server, zoe, app_file, name)
    server.start(execution_id)
    server.end(execution_id, 1, f"message {name}")
    for command in (["ls"], ["show", execution_id], ["wait", execution_id]):
        text = zoe(*command)
        assert not CONTROL.search(text.out + text.err)
        assert printable(name) in text.out
        whole = zoe(*command, "-o", "json")
        assert not CONTROL.search(whole.out)
        json.loads(whole.out)
        yaml_text = zoe(*command, "-o", "yaml").out
        assert not CONTROL.search(yaml_text)
        yaml.safe_load(yaml_text)


def test_a_long_name_stays_on_one_line_of_a_pipe(server: Server, zoe: Zoe, app_file: Path) -> None:
    zoe("run", str(app_file), "--name", "x" * 128)
    assert any("x" * 128 in line for line in zoe("ls").out.splitlines())


@given(st.text())
def test_printable_is_one_line_without_controls(text: str) -> None:
    shown = printable(text)
    assert not CONTROL.search(shown)
    assert "\n" not in shown
    shown.encode()


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_reads_back(data: object) -> None:
    text = json_text(data)
    assert not CONTROL.search(text)
    text.encode()
    assert json.loads(text) == data


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_yaml_reads_back(data: object) -> None:
    text = yaml_text(data)
    assert not CONTROL.search(text)
    text.encode()
    assert yaml.safe_load(text) == data


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=5))
def test_tables_hold_every_row_in_a_line(rows: list[tuple[str, str]]) -> None:
    lines = table(Rows(("name", "state"), rows)).splitlines()
    assert len(lines) == 1 + len(rows)
