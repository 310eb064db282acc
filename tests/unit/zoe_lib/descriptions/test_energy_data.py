"""The demo's data: the same bytes every time, and an answer that a database confirms."""

from __future__ import annotations

import importlib.util
import sqlite3
from pathlib import Path
from types import ModuleType

import pytest

from zoe_lib.descriptions import catalogue_directory


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, catalogue_directory() / "programs" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


energy_data, energy_report = program("energy_data"), program("energy_report")


@pytest.fixture
def readings(tmp_path: Path) -> Path:
    energy_data.generate(tmp_path / "readings", rows=25_500, seed=7)
    return tmp_path / "readings"


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_same_seed_same_bytes(readings: Path, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    energy_data.generate(tmp_path / "again", rows=25_500, seed=7, progress=lambda *step: steps.append(step))
    assert contents(tmp_path / "again") == contents(readings)
    assert steps[-1] == (25_500, 25_500)
    energy_data.generate(tmp_path / "again", rows=25_500, seed=8)
    assert contents(tmp_path / "again") != contents(readings)


def test_the_number_of_rows_is_kept(readings: Path) -> None:
    lines = [line for path in readings.glob("part-*.csv") for line in path.read_text().splitlines()]
    assert len(lines) == 25_500 + 8
    assert lines[0] == ",".join(energy_report.COLUMNS)


def test_completeness_is_known(readings: Path) -> None:
    assert energy_data.is_complete(readings, 25_500, 7)
    assert not energy_data.is_complete(readings, 25_500, 8)
    assert not energy_data.is_complete(readings.parent / "absent")


def test_the_expected_report_is_what_the_query_gives(readings: Path) -> None:
    with sqlite3.connect(":memory:") as database:
        columns = ", ".join(f"`{name}` {kind}" for name, kind in energy_report.COLUMNS.items())
        database.execute(f"CREATE TABLE readings ({columns})")
        for path in readings.glob("part-*.csv"):
            rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
            database.executemany(f"INSERT INTO readings VALUES ({', '.join('?' * 12)})", rows)
        cursor = database.execute(energy_report.QUERY)
        names = [column[0] for column in cursor.description]
        answer = [dict(zip(names, row, strict=True)) for row in cursor]
    database.close()
    assert energy_data.expected_report(readings) == answer
    assert sum(row["readings"] for row in answer) == 25_500


def test_the_result_is_written_whole(tmp_path: Path) -> None:
    energy_report.write([{"region": "a"}], tmp_path / "result")
    assert [path.name for path in (tmp_path / "result").iterdir()] == ["result.json"]
