"""validate, convert, catalogue and --set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Zoe
from tests.cli.server import Server
from tests.unit.zoe_lib.descriptions.convert.old_documents import v0, v1, v2, v3
from zoe_lib.descriptions import parse

REPOSITORY = Path(__file__).parents[2]
ENERGY = str(REPOSITORY / "app_descriptions" / "energy-report.json")


def test_validate(server: Server, zoe: Zoe, app_file: Path) -> None:
    done = zoe("validate", str(app_file))
    assert (done.code, done.out, done.err) == (0, "", "valid\n")
    assert zoe("validate", str(app_file), "-o", "json").json() == {"valid": True, "notes": []}


def test_validate_expands_frameworks_and_settings(zoe: Zoe) -> None:
    done = zoe("validate", ENERGY, "--offline", "--expand", "--set", "spark.elastic_workers=7")
    components = {c["name"]: c for c in done.json()["components"]}
    assert components["spark-worker"]["total_count"] == 8
    assert "frameworks" not in done.json()
    as_yaml = zoe("-o", "yaml", "validate", ENERGY, "--offline", "--expand", "--set", "spark.elastic_workers=7")
    assert yaml.safe_load(as_yaml.out) == done.json()


def test_validate_says_what_will_not_be_done(server: Server, zoe: Zoe, app_file: Path) -> None:
    done = zoe("validate", str(app_file), "--set", 'storage={"bandwidth": {"read": "40MB/s"}}')
    assert done.code == 0
    assert "note: no storage controller" in done.err


@pytest.mark.parametrize("command", [("validate",), ("validate", "--offline"), ("plan",), ("run",)])
def test_a_where_that_cannot_be_read_is_told_with_its_place(
    server: Server, zoe: Zoe, app_file: Path, command: tuple[str, ...]
) -> None:
    pushdown = {"columns": ["id"], "where": "kwh => 3"}
    reads = {"inputs": [{"name": "meters", "uri": "swift2d://meters.zoe/2015", "pushdown": pushdown}]}
    done = zoe(command[0], str(app_file), *command[1:], "--set", f"storage={json.dumps(reads)}")
    assert (done.code, done.out) == (2, "")
    assert "/storage/inputs/0/pushdown/where" in done.err
    assert "expected at character 6, not '>'" in done.err


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
def test_a_number_that_cannot_be_sent_is_told_with_its_place(
    server: Server, zoe: Zoe, tmp_path: Path, app_file: Path, command: str
) -> None:
    document = json.loads(app_file.read_text())
    document["deadline_s"] = document["components"][0]["resources"]["cores"] = 123456.5
    file = tmp_path / "endless.json"
    file.write_text(json.dumps(document).replace("123456.5", "1e400"))
    done = zoe(command, str(file))
    assert (done.code, done.out) == (2, "")
    for place in ("/deadline_s", "/components/0/resources/cores"):
        assert place in done.err
    assert done.err.count("not a finite number") == 2


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("worker.total_count", "has no '='"),
        ("werker.total_count=3", "worker"),
        ("worker.total=3", "components have no 'total'"),
        ("*.environment.NONE=1", "no component has 'NONE'"),
        ("main.command=sh -c 'x", "not a valid command line"),
        ("main.command.7=x", "does not exist"),
        ("[red]bold[/red]\x1b[31m=1", "[red]bold[/red]\\x1b[31m"),
    ],
)
def test_settings_that_cannot_be(zoe: Zoe, app_file: Path, setting: str, words: str) -> None:
    done = zoe("validate", str(app_file), "--offline", "--set", setting)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_all_bad_settings_are_told_at_once(zoe: Zoe, app_file: Path) -> None:
    done = zoe("validate", str(app_file), "--offline", "--set", "a.b=1", "--set", "c")
    assert len(done.err.splitlines()) == 3


@pytest.mark.parametrize("old", [v0(), v1(), v2(), v3()])
def test_convert(zoe: Zoe, tmp_path: Path, old: dict[str, object]) -> None:
    file = tmp_path / "old.json"
    file.write_text(json.dumps(old))
    done = zoe("convert", str(file))
    assert done.code == 0
    assert parse(done.json()).name
    assert all(line.startswith("note: ") for line in done.err.splitlines())
    (tmp_path / "new.json").write_text(done.out)
    assert zoe("validate", str(tmp_path / "new.json"), "--offline").code == 0
    assert zoe("convert", str(tmp_path / "new.json")).json() == done.json()


def test_convert_refuses_what_is_no_description(zoe: Zoe) -> None:
    for text in (b"", b"[]", b"nonsense", b'{"version": 9}', b"\xff"):
        done = zoe("convert", "-", stdin=text)
        assert (done.code, done.out) == (2, "")


def test_a_file_that_is_no_description_is_read_no_further_than_needed(zoe: Zoe) -> None:
    done = zoe("validate", "/dev/zero", "--offline")
    assert (done.code, done.out) == (2, "")
    assert "larger" in done.err or "1 MiB" in done.err


def test_catalogue(server: Server, zoe: Zoe) -> None:
    assert "batch" in zoe("catalogue", "-o", "name").out.split()
    assert "One command" in zoe("catalogue").out
    entry = zoe("catalogue", "batch")
    assert parse(entry.json()).name == "batch"
    assert zoe("catalogue", "nothing").code == 3
    assert zoe("run", "-", "-o", "name", stdin=entry.out.encode()).code == 0
