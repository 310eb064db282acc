"""Requirements of tests on the machine. A missing program may fail it; a missing privilege or data is a named skip."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def need_program(name: str) -> str:
    """The path of a program; without it a skip, or a failure where everything is required."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("ZOE_REQUIRE_ALL") == "1":
            pytest.fail(f"missing program: {name}")
        pytest.skip(f"missing program: {name}")
    return found


def need_header(name: str) -> None:
    """Skip, or fail where everything is required, without this header of a C library."""
    if not (Path("/usr/include") / name).exists():
        if os.environ.get("ZOE_REQUIRE_ALL") == "1":
            pytest.fail(f"missing header: {name}")
        pytest.skip(f"missing header: {name}")


def need_root() -> None:
    """Skip unless run by root."""
    if os.geteuid() != 0:
        pytest.skip("missing privilege: root")


def test_data() -> Path:
    """The folder of shared test data; a skip where ZOE_TEST_DATA is not set."""
    directory = os.environ.get("ZOE_TEST_DATA")
    if directory is None:
        pytest.skip("absent data: ZOE_TEST_DATA is not set")
    return Path(directory)


test_data.__test__ = False  # type: ignore[attr-defined]
