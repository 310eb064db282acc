"""Programs are told apart by what runs, and compared in doublings of their numbers."""

from __future__ import annotations

import pytest

from tests.support.applications import application, component
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.program import half_doublings, without_numbers
from zoe_lib.domain.values.resources import Resources


def program(components: list[Component]) -> str:
    return application(*components).program


def running(*command: str, **changes: object) -> Component:
    return component(command=command, **changes)


BASE = running("python", "work.py", "--rows", "1000")


@pytest.mark.parametrize(
    "same",
    [
        running("python", "work.py", "--rows", "1100", essential=4),
        running("python", "work.py", "--rows", "1000", name="other", reservation=Resources(8000, 1)),
        running("python", "work.py", "--rows", "1000", environment=(("KEY", "value"), ("ZOE_ARRAY_ID", "a1"))),
        running("python", "work.py", "--rows", "1000", files=(("zoe_job/steps/script.py", "import sys"),)),
    ],
)
def test_names_amounts_and_files_of_zoe_do_not_matter(same: Component) -> None:
    assert program([same]) == program([BASE])


@pytest.mark.parametrize(
    "other",
    [
        running("python", "other.py", "--rows", "1000"),
        running("python", "work.py", "--columns", "1000"),
        running("python", "work2.py", "--rows", "1000"),
        running("python", "work.py", "--rows", "1000", image="other"),
        running("python", "work.py", "--rows", "1000", environment=(("KEY", "other"),)),
        running("python", "work.py", "--rows", "1000", files=(("slurm_script", "srun other"),)),
        running("python", "work.py", "--rows", "1000", requirements=("numpy",)),
    ],
)
def test_another_program_shares_no_run_times(other: Component) -> None:
    assert without_numbers(program([other])) != without_numbers(program([BASE]))


def test_numbers_are_compared_in_doublings() -> None:
    forty = program([running("python", "work.py", "--rows", "40000")])
    assert without_numbers(forty) == without_numbers(program([BASE]))
    assert forty != program([BASE])
    script = running("run", files=(("slurm_script", "srun ./work 3 1e3 0.5"),))
    assert program([script]).split(":")[1] == "2,10,1"


def test_very_many_and_very_large_numbers_are_taken() -> None:
    many = " ".join(map(str, range(100)))
    one, other = (program([running("run", f"{many} {last}")]) for last in (8, 9))
    assert len(one.split(",")) == 32
    assert without_numbers(one) != without_numbers(other), "later numbers are a part of the program"
    assert program([running("run", "9" * 999)]).endswith(":997")


def test_half_doublings() -> None:
    assert [half_doublings(amount) for amount in (0, 0.5, 1, 2, 3, 1000)] == [0, 0, 0, 2, 3, 20]
