"""Which runtimes are there, and which are installed at their first use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.waiting import until
from zoe_embedded.home import Home
from zoe_embedded.runtimes import install_progress, on_demand
from zoe_embedded.runtimes.interpreters import PythonMissingError
from zoe_embedded.runtimes.on_demand import Installable, OnDemand
from zoe_embedded.runtimes.runtime import Runtime


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", os.geteuid() == 0, tmp_path / "runtimes")


def never(_: Home) -> bool:
    raise PythonMissingError("needs python3.11")


def test_images_are_there_installable_or_lacking(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"lab"}
    found = Runtime(("/bin",), {"X": "1"})
    entries = {
        name: Installable(name, 7, (lambda _, name=name: name in there), lambda _: found) for name in ("lab", "mpi")
    }
    monkeypatch.setattr(on_demand, "INSTALLABLE", {**entries, "spark": Installable("spark", 7, never, lambda _: found)})
    monkeypatch.setattr(on_demand, "IMAGES", {"zoe/notebook": "lab", "zoe/mpi": "mpi", "zoe/spark": "spark"})
    monkeypatch.setattr(on_demand, "R_KERNELS", ())
    clock = ManualClock()
    demand = OnDemand(home, clock)
    command = [sys.executable, "-m", "zoe_embedded.runtimes.on_demand", "mpi"]
    assert demand.images() == {
        "zoe/notebook": {"path": ["/bin"], "environment": {"X": "1"}},
        "zoe/mpi": {
            "install": [*command, f"--home={home.path}", f"--runtimes={home.runtimes}"],
            "installs": "mpi, about 7 MB",
        },
    }
    assert demand.lacking == {"zoe/spark": "needs python3.11"}
    assert demand.hold_new() == []
    there.add("mpi")
    assert demand.hold_new() == []  # within ten seconds of the last look
    clock.advance(10)
    assert demand.hold_new() == ["mpi"]


def test_progress_is_the_share_of_the_expected_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(install_progress.GROWTH, "1")
    monkeypatch.setattr(install_progress, "_GROWTH_S", 0.01)
    (tmp_path / "old").write_bytes(bytes(5 << 20))
    with install_progress.announced("X", 4, tmp_path):
        (tmp_path / "new").write_bytes(bytes(3 << 20))
        until(lambda: "[installing X: 3 of about 4 MB, 75 %]" in capsys.readouterr().out)
    assert "[installed X in" in capsys.readouterr().out
