"""Logs are worth less than what is logged about."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import logging, structlog
from zoe_lib.telemetry import configure_logging
configure_logging("FORM", "info", "test")
for number in range(2000):
    structlog.get_logger().info("something", number=number, text="x" * 100)
    logging.getLogger("library").warning("something else")
print("went on")
"""


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_full_disk_costs_logs_and_nothing_else(form: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.replace("FORM", form)],
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stdout == "went on\n"
