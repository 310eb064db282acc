"""A command is held to its share of a core by stopping it, and ends as it would alone."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import psutil
import pytest

PROGRAM = Path(__file__).resolve().parents[4] / "app_descriptions" / "programs" / "core_share.py"
_SPIN = "import time; end = time.process_time() + {cpu_s}\nwhile time.process_time() < end: pass"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("core_share", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("hungry", [1.0, 2.0])
def test_whatever_it_could_use_it_uses_its_share(module: ModuleType, share: float, hungry: float) -> None:
    pace, passed_s, used_s = module.Pace(share), 0.0, 0.0
    stop_s = 0.0
    for _ in range(2000):  # it runs for one check, and stops as long as requested
        taken_s = hungry * module.LOOK_S
        now_s = module.LOOK_S + stop_s
        passed_s, used_s = passed_s + now_s, used_s + taken_s
        stop_s = pace.stop_s(now_s, taken_s)
    assert used_s / passed_s == pytest.approx(share, rel=0.05)


def test_command_below_its_share_is_never_stopped_and_saves_nothing(module: ModuleType) -> None:
    pace = module.Pace(0.5)
    assert all(pace.stop_s(0.05, 0.02) == 0 for _ in range(1000))
    assert pace.stop_s(0.05, 0.3) > 0.2, "no more than BURST_S was left"


def test_a_command_that_computes_takes_as_long_as_with_its_share() -> None:
    began_s = time.monotonic()
    done = subprocess.run([sys.executable, PROGRAM, "0.4", sys.executable, "-c", _SPIN.format(cpu_s=1.0)], check=False)
    assert done.returncode == 0
    assert time.monotonic() - began_s > 0.8 * 1.0 / 0.4, "a machine that is busy makes it longer, never shorter"


def test_exit_codes_are_those_of_the_command() -> None:
    assert subprocess.run([sys.executable, PROGRAM, "0.5", "sh", "-c", "exit 7"], check=False).returncode == 7
    killed = subprocess.run([sys.executable, PROGRAM, "0.5", "sh", "-c", "kill -9 $$"], check=False)
    assert killed.returncode == 128 + signal.SIGKILL


def test_it_ends_at_once_when_it_is_told_even_while_the_command_is_stopped() -> None:
    command = [sys.executable, PROGRAM, "0.02", sys.executable, "-c", _SPIN.format(cpu_s=1000)]
    process = subprocess.Popen(command)
    time.sleep(1.0)
    children = psutil.Process(process.pid).children(recursive=True)
    process.terminate()
    assert process.wait(10) == 128 + signal.SIGTERM
    assert children
    assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


@pytest.mark.parametrize("arguments", [[], ["0.5"], ["0", "true"], ["2", "true"], ["nan", "true"], ["half", "true"]])
def test_a_wrong_share_is_refused_with_a_sentence(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage" in done.stderr
