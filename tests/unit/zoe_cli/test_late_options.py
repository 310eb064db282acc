"""Options that stand after a program."""

from __future__ import annotations

import pytest

from zoe_cli.commands.words.late_options import note_late_options


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["--workers", "3"], "--workers"), (["x", "--workers=3"], "--workers"), (["--mine", "3"], ""), (["workers"], "")],
)
def test_an_option_of_the_command_after_the_program_is_noted(
    capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    note_late_options(arguments, {"--workers", "--memory"}, "program")
    said = capsys.readouterr().err
    assert said.startswith(f"zoe: {named} is passed to the program") if named else said == ""
