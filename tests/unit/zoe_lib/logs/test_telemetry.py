"""Logging never disturbs the logged program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import logging, structlog, types
from zoe_lib.logs.telemetry import configure_logging
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


FLOOD = """
import logging, structlog, types
from zoe_lib.logs import telemetry
now_s = [1000.0]
telemetry.TroubleLimiter.__init__.__defaults__ = (types.SimpleNamespace(now_s=lambda: now_s[0]),)
telemetry.configure_logging("json", "info", "test", 5)
for second in range(3):
    now_s[0] += 1
    for number in range(100):
        structlog.get_logger().warning("ours")
        logging.getLogger("library").error("theirs %d", 1)
    structlog.get_logger().info("work")
"""


OF_CLIENT = """
import structlog, types
from zoe_lib.logs import telemetry
from zoe_lib.logs.few_lines import LineLimiter
now_s = [1000.0]
clock = types.SimpleNamespace(now_s=lambda: now_s[0])
telemetry.configure_logging("json", "info", "test", None, LineLimiter(5, clock))
for second in range(2):
    now_s[0] += 1
    with structlog.contextvars.bound_contextvars(address="192.0.2.1"):
        for number in range(100):
            structlog.get_logger().info("ours")
    structlog.get_logger().info("theirs", address="192.0.2.2")
    structlog.get_logger().info("work")
"""


def test_lines_of_a_client_are_few_a_second_and_the_next_one_counts_the_others() -> None:
    done = subprocess.run([sys.executable, "-c", OF_CLIENT], capture_output=True, text=True, timeout=60, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in lines] == [*["ours"] * 5, "theirs", "work"] * 2
    assert [line["lines_dropped"] for line in lines if "lines_dropped" in line] == [95]


def test_troubles_are_few_a_second_and_the_others_are_counted() -> None:
    done = subprocess.run([sys.executable, "-c", FLOOD], capture_output=True, text=True, timeout=60, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    troubles = [line for line in lines if line["level"] in ("warning", "error")]
    assert len(troubles) == 3 * 5
    assert [line.get("lines_dropped") for line in troubles].count(195) == 2
    assert sum(line["event"] == "work" for line in lines) == 3
    assert {line["event"].partition(" ")[0] for line in troubles} == {"ours", "theirs"}
