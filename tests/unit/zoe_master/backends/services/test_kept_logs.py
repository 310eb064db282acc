"""The newest output is kept, by size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import Observation, ObservedState
from zoe_master.backends.engine.services.service_files import Mark, ServiceFiles
from zoe_master.backends.local.services.outputs import KeptOutputs
from zoe_master.backends.services.kept_logs import BYTES_MIN, KeptOutput, bytes_of, outputs_to_remove

FOR_EVER_S = 1e12


def test_the_oldest_go_beyond_the_bytes_and_all_that_are_too_old() -> None:
    kept = {name: KeptOutput(at_s, size) for name, at_s, size in (("a", 1.0, 5), ("b", 3.0, 10), ("c", 2.0, 10))}
    assert list(outputs_to_remove(kept, 25, 0.0)) == []
    assert list(outputs_to_remove(kept, 24, 0.0)) == ["a"]
    assert list(outputs_to_remove(kept, 19, 0.0)) == ["c", "a"]
    assert list(outputs_to_remove(kept, 25, 2.5)) == ["c", "a"]
    assert list(outputs_to_remove(kept, 0, 0.0)) == ["b", "c", "a"]


def printed(directory: Path, name: str, size: int, at_s: float) -> Path:
    place = directory / name
    (place / "output").mkdir(parents=True)
    (place / "output" / "0").write_bytes(b"x" * size)
    os.utime(place, (at_s, at_s))
    return place


def test_a_small_one_counts_too(tmp_path: Path) -> None:
    assert bytes_of(printed(tmp_path, "a", 1, 0.0)) == BYTES_MIN
    assert bytes_of(printed(tmp_path, "b", BYTES_MIN + 1, 0.0)) == BYTES_MIN + 1


def test_each_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here as in directories of Swarm's services, where only forgotten ones are removed."""
    measured: list[str] = []

    def counted(directory: Path) -> int:
        measured.append(directory.name)
        return bytes_of(directory)

    monkeypatch.setattr("zoe_master.backends.local.services.outputs.bytes_of", counted)
    monkeypatch.setattr("zoe_master.backends.engine.services.service_files.bytes_of", counted)
    local, swarm = tmp_path / "local", tmp_path / "swarm"
    files = ServiceFiles(swarm)
    for number in range(4):
        printed(local, f"{number}", 3 * BYTES_MIN, float(number))
        end = Observation(f"{number}", "e", ObservedState.ENDED, float(number), "n", cause=Cause.EXITED)
        files.write(f"{number}", Mark(end=end, forgotten=number != 3))
    kept = KeptOutputs(local)
    assert kept.prune(9 * BYTES_MIN, FOR_EVER_S) == 1
    assert kept.prune(6 * BYTES_MIN, FOR_EVER_S) == 1
    files.prune(3 * BYTES_MIN, FOR_EVER_S)
    files.prune(1 * BYTES_MIN, FOR_EVER_S)
    assert sorted(place.name for place in local.iterdir()) == ["2", "3"]
    assert sorted(place.name for place in swarm.iterdir()) == ["2", "3"]
    assert sorted(measured) == sorted(["0", "1", "2", "3", "0", "1", "2"])
