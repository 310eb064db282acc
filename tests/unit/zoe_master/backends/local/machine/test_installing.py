"""Runtimes that are installed at their first use."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.waiting import until
from zoe_master.backends.base import ImageState
from zoe_master.backends.local.machine.installing import RuntimeInstallations
from zoe_master.backends.local.settings import Runtime

ANSWER = json.dumps({"path": ["/opt/x/bin"], "environment": {"X": "1"}})
WAIT = "import pathlib, time\nwhile not pathlib.Path('{go}').exists(): time.sleep(0.01)\n"


class Machine:
    """Runtimes of which `a` and `b` are installed by the same program, `c` is there."""

    def __init__(self, program: str) -> None:
        to_install = Runtime(install=(sys.executable, "-c", program), installs="X, about 3 MB")
        self.woken = threading.Event()
        self.it = RuntimeInstallations({"a": to_install, "b": to_install, "c": Runtime(("/usr/bin",))}, self.woken.set)

    def status(self, image: str = "a") -> tuple[ImageState, str]:
        found = self.it.status(image)
        return found.state, found.message

    def wait(self) -> None:
        assert self.woken.wait(10)
        self.woken.clear()


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    made = Machine(request.param.replace("{go}", str(tmp_path / "go")))
    yield made
    made.it.close()


@pytest.mark.parametrize("machine", [f"print('[7 of 9]', flush=True)\n{WAIT}print({ANSWER!r})"], indirect=True)
def test_all_images_of_a_program_are_there_at_its_end(machine: Machine, tmp_path: Path) -> None:
    assert machine.it.installs() == {"a": "X, about 3 MB", "b": "X, about 3 MB"}
    assert machine.status()[0] is ImageState.INSTALLING
    until(lambda: machine.status("b") == (ImageState.INSTALLING, "7 of 9"))
    assert machine.status("c")[0] is ImageState.PRESENT
    (tmp_path / "go").touch()
    machine.wait()
    assert [machine.status(name)[0] for name in "ab"] == [ImageState.PRESENT] * 2
    installed = machine.it.runtimes["b"]
    assert (installed.path, installed.environment) == (("/opt/x/bin",), {"X": "1"})
    assert machine.it.installs() == {}


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        ("print('one')\nprint('error: no network')\nprint('two')\nraise SystemExit(3)", "error: no network"),
        ("print('two')\nraise SystemExit(3)", "two"),
        ("raise SystemExit(3)", "exit code 3"),
        ("print('done')", "the last line of the installer is not a runtime as JSON: done"),
        ("print('{\"path\": 3}')", 'the last line of the installer is not a runtime as JSON: {"path": 3}'),
        ("", "the last line of the installer is not a runtime as JSON: no output"),
    ],
    indirect=["machine"],
)
def test_a_failure_is_told_once_and_then_tried_again(machine: Machine, reason: str) -> None:
    machine.status()
    machine.wait()
    assert machine.status() == (ImageState.UNAVAILABLE, f"image a is not installed: {reason}")
    assert machine.status()[0] is ImageState.INSTALLING
    machine.wait()


def test_a_program_that_cannot_run_is_told(tmp_path: Path) -> None:
    woken = threading.Event()
    there = RuntimeInstallations({"a": Runtime(install=(str(tmp_path / "absent"),), installs="X")}, woken.set)
    there.status("a")
    assert woken.wait(10)
    assert "No such file or directory" in there.status("a").message


@pytest.mark.parametrize("machine", [WAIT], indirect=True)
def test_close_ends_the_program(machine: Machine) -> None:
    machine.status()
    until(lambda: machine.it._running[machine.it.runtimes["a"].install]._process is not None)
    machine.it.close()
    machine.wait()
    assert machine.status()[0] is ImageState.UNAVAILABLE


@pytest.mark.parametrize("machine", [""], indirect=True)
def test_an_image_without_a_runtime_is_unavailable(machine: Machine) -> None:
    assert machine.status("zoe/none")[0] is ImageState.UNAVAILABLE
