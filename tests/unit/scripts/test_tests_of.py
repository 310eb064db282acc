"""Which tests see a change of a file is told by the file's name."""

from __future__ import annotations

import pytest

from scripts.tests_of import main


def test_the_nearest_tests_come_first_and_others_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoe_lib/domain/lifecycle.py"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["unit tests:", "  tests/unit/zoe_lib/domain/test_lifecycle.py"]
    other = lines.index("tests of other parts:")
    assert lines[other - 1].startswith("  and ")
    assert not any(line.startswith("  tests/unit/") for line in lines[other:])


def test_commands_are_tested_by_their_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoe_cli/commands/ssh.py"]) == 0
    assert capsys.readouterr().out.endswith("the part that is most about zoe_cli: cli\n")


@pytest.mark.parametrize("arguments", [[], ["zoe_lib/no_such.py"]])
def test_what_is_no_file_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "give files of" in capsys.readouterr().err
