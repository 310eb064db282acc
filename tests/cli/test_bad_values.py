"""Invalid values of options and arguments, for every command: a plain sentence, never the library's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.cli.conftest import Zoe
from tests.cli.server import Server
from zoe_cli.main import app

WRONG = ("bogus", "-1", "nan", "1e300", "9" * 30, "0001-01-01", "9999-12-31", '{"a": 1, "a": 2}')
RAW = re.compile(
    r"Input should|Value error|[Uu]nable to parse|pydantic|validation error|Traceback|type=|Field required"
)


def commands(group: Any, context: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each command with the words that call it."""
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if hasattr(found, "list_commands"):
            yield from commands(found, context, (*path, name))
        else:
            yield (*path, name), found


def all_commands() -> list[tuple[tuple[str, ...], Any]]:
    root = typer.main.get_command(app)
    return list(commands(root, typer.Context(root)))


def calls(words: tuple[str, ...], command: Any) -> Iterator[list[str]]:
    """Yield calls with each wrong value for each option and argument, and valid values for required ones."""
    for wrong in WRONG:
        for place in command.params:
            if getattr(place, "is_flag", False):
                continue
            given = [word for param in command.params for word in written(param, wrong if param is place else None)]
            yield [*words, *given]


def written(place: Any, value: str | None) -> list[str]:
    """Return the words of an option or argument with a value, or of a required one with a valid value."""
    if value is None and not place.required:
        return []
    if place.param_type_name == "argument":
        return [] if (value or "x").startswith("-") else [value or "x"]
    return [f"{place.opts[0]}={'x' if value is None else value}"]


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Return options for a server that does not answer and an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZOE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setattr("zoe_cli.context.FOLLOWING_PATIENCE_S", 0.0)  # or copies wait for one


@pytest.mark.usefixtures("nowhere")
def test_no_option_of_any_command_is_refused_in_words_of_the_library(zoe: Zoe) -> None:
    made = [call for words, command in all_commands() for call in calls(words, command)]
    made += [[option, wrong, "status"] for option in ("--patience", "--output", "--url") for wrong in WRONG[:3]]
    codes = set()
    for call in made:
        told = zoe(*call, token="zoe_a_b")
        codes.add(told.code)
        assert told.code != 0 or not told.err, call
        raw = RAW.search(told.err)
        assert raw is None, (call, told.err)
    assert len(made) > 300
    assert codes >= {2, 75}


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("ls --state running,bogus", "'--state' / '-s': 'bogus' is no state; states are waiting, "),
        ("run --memory 12XB job.py", "'--memory': '12XB' is not a size; "),
        ("run --memory 1KB job.py", "'--memory': must be at least 1MiB, is 1KB"),
        ("schedule add night bad job.py", "job.py is a script: `zoe run --show job.py > app.json` writes its"),
        ("ls --limit -1", "'--limit' / '-n': must be at least 1, is -1"),
        ("ls --limit x", "'--limit' / '-n': must be a whole number, is 'x'"),
        ("usage --from x", "'--from': 'x' is not a date; use 2026-11-01 or '2026-11-01 08:30'"),
        ("usage --from 0001-01-01", "'--from': '0001-01-01' is out of range; use a date from 1970-01-01 to 2069-12-07"),
        (
            "replay --from 9999-12-31",
            "'--from': '9999-12-31' is out of range; use a date from 1970-01-01 to 2069-12-07",
        ),
        ("replay --from 2026-01-01 --to 0001-01-01", "'--to': '0001-01-01' is out of range"),
        (
            "admin limit set --cores 1e300",
            "'--cores': '1e300' is above the maximum of a limit; for no limit use `none`",
        ),
        ("admin limit set --memory 99999999999TiB", "'--memory': '99999999999TiB' is above the maximum of a limit"),
    ],
)
def test_it_says_which_value_is_wrong_and_what_is_wanted(zoe: Zoe, call: str, said: str) -> None:
    told = zoe(*call.split(), token="zoe_a_b")
    assert (told.code, said in told.err) == (2, True), told.err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("queue_scan_max=1e30", "queue_scan_max: must be a whole number, is 1e+30"),
        ("version=3", "the policy has no key 'version' (`zoe policy get` lists them)"),
        ("order=bogus", "order: must be one of 'fifo', "),
        (
            'tenant_limits={"red": {"cores_milli": 5}, "red": {}}',
            "tenant_limits: line 1 column 29: key 'red' occurs twice in one object",
        ),
        ('tenant_limits={"red": {"cores_milli": -5}}', "tenant_limits.red.cores_milli: must be at least 0, is -5"),
        ("weighers=" + "[" * 100_000, "weighers: must be an object, is a string"),
    ],
)
@pytest.mark.usefixtures("server")
def test_invalid_policy_is_explained(zoe: Zoe, monkeypatch: pytest.MonkeyPatch, setting: str, said: str) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    for command in (["policy", "set", setting], ["replay", "--from", "2026-01-01", "--policy", setting]):
        told = zoe(*command)
        assert told.code == 2, told.err
        assert not RAW.search(told.err)
    assert said in zoe("policy", "set", setting).err


@pytest.mark.usefixtures("server")
def test_a_change_of_a_description_with_a_key_that_stands_twice_is_refused(zoe: Zoe, app_file: Path) -> None:
    told = zoe("validate", str(app_file), "--set", 'main.resources={"memory": "1GiB", "memory": "2GiB"}')
    assert (told.code, "key 'memory' occurs twice in one object" in told.err) == (2, True), told.err


def test_limits_of_a_tenant_or_user_that_is_not_there(server: Server, zoe: Zoe) -> None:
    for command in (["get"], ["set", "--cores", "1"]):
        for whose in (["--tenant", "nope"], ["--tenant", "lab", "--user", "nope"]):
            told = zoe("admin", "limit", *command, *whose)
            assert (told.code, "'nope'" in told.err or "nope" in told.err) == (3, True), (command, whose, told.err)
    assert zoe("admin", "limit", "get", "--tenant", "lab").code == 0
    assert zoe("admin", "limit", "get").code == 0


@pytest.mark.parametrize("name", ["..", ".", "../status", "x/../../status"])
def test_name_that_leaves_its_path_is_not_sent(server: Server, zoe: Zoe, name: str) -> None:
    """Each of these would be answered by another route once a client or a proxy has removed the dots."""
    for words in (("show", name), ("cancel", name), ("events", name), ("secret", "rm", name), ("logs", name)):
        done = zoe(*words)
        assert (done.code, f"{name!r} is neither a name nor an id" in done.err) == (3, True), (words, done)
