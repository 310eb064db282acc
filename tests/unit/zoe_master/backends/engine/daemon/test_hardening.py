"""Actual settings of a process are compared with the requirements; an unknown answer fails."""

from __future__ import annotations

import typing

import pytest

from zoe_lib.settings.engine import Ulimit
from zoe_master.backends.engine.daemon.hardening import LIMITS, problems

GOOD = """\
Name:\tcat
NoNewPrivs:\t1
Limit                     Soft Limit           Hard Limit           Units
Max core file size        0                    0                    bytes
Max open files            1024                 65536                files
"""
MOST = {"core": 0, "nofile": 65536}


def test_an_engine_that_gives_what_must_be_has_no_problems() -> None:
    assert list(problems(GOOD, MOST)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "without --no-new-privileges"),
        ("NoNewPrivs:\t1\n", "", "without --no-new-privileges"),
        ("65536  ", "unlimited", "allows nofile unlimited, more than 65536"),
        ("65536", "65537", "allows nofile 65537"),
        ("0                    0 ", "0                    1 ", "allows core 1, more than 0"),
        ("Max core file size", "Max other", "allows core unknown"),
    ],
)
def test_each_lack_is_told(old: str, new: str, said: str) -> None:
    assert old in GOOD
    [told] = problems(GOOD.replace(old, new), MOST)
    assert said in told


def test_the_limits_of_the_settings_are_those_that_can_be_checked() -> None:
    assert set(typing.get_args(Ulimit)) == set(LIMITS)
