"""Everyday tasks by the number of commands that they take, typed into a real shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.stack import environment
from zoe_embedded.stack import Stack

SCRIPT = """
import csv
with open("readings.csv") as file:
    total = sum(int(row["kwh"]) for row in csv.DictReader(file))
with open("total.txt", "w") as file:
    file.write(f"{total}\\n")
print("total", total)
"""


class Shell:
    """A user's shell in a directory of a laptop; it counts commands."""

    def __init__(self, stack: Stack, directory: Path) -> None:
        self._environment, self._directory = environment(stack), directory
        self.commands = 0

    def __call__(self, line: str) -> str:
        self.commands += 1
        done = subprocess.run(
            ["sh", "-c", line], env=self._environment, cwd=self._directory, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def test_an_own_script_over_a_large_own_file_takes_one_command_with_its_result(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text(SCRIPT.replace('"readings.csv"', "__import__('sys').argv[1]"))
    (tmp_path / "readings.csv").write_text("day,kwh\n" + "1,2\n" * 200_000)  # too large for a description
    shell = Shell(stack, tmp_path)
    assert "total 400000" in shell("zoe run sum.py --follow --result total.txt --fetch -- readings.csv")
    assert (shell.commands, (tmp_path / "total.txt").read_text()) == (1, "400000\n")


def test_over_a_small_file_it_takes_one_command(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text(SCRIPT.replace('"readings.csv"', "__import__('sys').argv[1]"))
    (tmp_path / "few.csv").write_text("day,kwh\n1,20\n2,22\n")
    shell = Shell(stack, tmp_path)
    assert shell("zoe run sum.py --follow -- few.csv") == "total 42\n"
    shell("zoe cp :total.txt .")
    assert (shell.commands, (tmp_path / "total.txt").read_text()) == (2, "42\n")
