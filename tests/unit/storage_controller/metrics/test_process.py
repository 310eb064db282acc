"""Programs of metrics: their input, and the bounds for programs that crash, hang, grow or lie."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from storage_controller.metrics.process import MetricProcess, check_source
from storage_controller.metrics.values import MetricFault
from tests.support.waiting import until
from zoe_embedded.runtimes.runtime import CLONE

GOOD = """
class Metric:
    def __init__(self):
        self.calls = 0

    def evaluate(self, counters):
        self.calls += 1
        print("nobody reads this")
        return {row["tenant"]: row["answered"] / counters["seconds"] + self.calls for row in counters["rows"]}
"""
ROWS = {"seconds": 5, "rows": [{"tenant": "acme", "answered": 10}]}


def evaluating(body: str) -> str:
    return f"class Metric:\n    def evaluate(self, counters):\n        {body}\n"


@pytest.fixture
def patient() -> Iterator[None]:
    """No process is left behind."""
    before = children()
    yield
    assert children() <= before


def children() -> set[int]:
    return {process.pid for process in psutil.Process().children()}


def test_a_program_keeps_its_state_and_is_given_counters(patient: None) -> None:
    process = MetricProcess(GOOD, start_s=60)
    try:
        assert process.evaluate(ROWS) == {"acme": 3.0}
        assert process.evaluate(ROWS) == {"acme": 4.0}
    finally:
        process.close()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("class Metric:\n  def", r"SyntaxError.*\(line 2\)"),
        ("x = 1", "defines no class Metric"),
        ("class Metric: pass", "has no method evaluate"),
        ("import nothing_here", "ModuleNotFoundError"),
        ("while True: pass", "did not answer within 3 s|the program ended with -24"),
        ("import time; time.sleep(60)", "did not answer within 3 s"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x" * 70_000, "longer than 65536 bytes"),
    ],
)
def test_invalid_program_is_refused_with_a_sentence(patient: None, source: str, sentence: str) -> None:
    with pytest.raises(MetricFault, match=sentence):
        check_source(source)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return 1 / 0", r"ZeroDivisionError: division by zero \(line 3\)"),
        ("return object()", "TypeError: Object of type object is not JSON"),
        ("import os; os._exit(9)", "the program ended with 9"),
        ("import time; time.sleep(100)", "did not answer within 2 s"),
        ("return 'x' * 10_000_000", "answers more than 262144 bytes"),
        ("return bytearray(10**9)", "MemoryError"),
        ("import os; os.write(os.memfd_create('x'), b'x')", "OSError.*File too large"),
        (
            "import os\n        while True: os.write(4, b'x' * 1000)",
            "more than 262144 bytes",
        ),
    ],
)
def test_a_program_that_misbehaves_is_ended_and_told(patient: None, body: str, sentence: str) -> None:
    process = MetricProcess(evaluating(body), answer_s=2, start_s=60)
    try:
        with pytest.raises(MetricFault, match=sentence):
            process.evaluate(ROWS)
    finally:
        process.close()


def test_an_endless_loop_is_ended_in_time(patient: None) -> None:
    began_s = time.monotonic()
    process = MetricProcess(evaluating("\n        while True: pass"), answer_s=1, start_s=60)
    with pytest.raises(MetricFault, match="did not answer within 1 s"):
        process.evaluate(ROWS)
    assert time.monotonic() - began_s < 60


def test_a_program_sees_nothing_of_the_environment(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_SECRET", "hidden")
    process = MetricProcess(
        evaluating("import os; return float('ZOE_SECRET' in os.environ) + (os.getuid() == 0)"), start_s=60
    )
    try:
        assert process.evaluate(ROWS) == 0.0
    finally:
        process.close()


def test_a_program_that_sleeps_ends_with_a_controller_that_is_killed() -> None:
    source = evaluating("import time; time.sleep(600)")
    program = (
        "from storage_controller.metrics.process import MetricProcess\n"
        f"process = MetricProcess({source!r}, answer_s=600, start_s=60)\n"
        "print(process._process.pid, flush=True)\n"
        "process.evaluate({})\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=CLONE, stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        child = Path("/proc") / parent.stdout.readline().strip() / "stat"
        until(lambda: child.read_text().rpartition(")")[2].split()[0] == "S")
        parent.kill()
    until(lambda: not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z")
