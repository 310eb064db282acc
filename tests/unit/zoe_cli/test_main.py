"""Options of all commands."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from zoe_cli import main
from zoe_cli.main import app


@pytest.mark.parametrize(
    ("words", "variables", "watched", "said"),
    [
        (["--token", "zoe_x"], {}, True, True),
        (["--token", "zoe_x"], {}, False, False),
        ([], {"ZOE_TOKEN": "zoe_x"}, True, False),
    ],
)
def test_a_person_who_types_a_token_hears_who_can_see_it(
    words: list[str], variables: dict[str, str], watched: bool, said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "on_terminal", lambda: watched)
    done = CliRunner().invoke(app, [*words, "context", "list"], env=variables)
    assert ("list of processes" in done.stderr) is said
