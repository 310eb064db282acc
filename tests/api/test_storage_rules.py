"""`zoe storage policy` and related commands, from command line to controller: errors have a sentence and a code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from storage_controller.settings import NodeKind, NodeSettings
from tests.support.api import Api
from tests.support.asked_controller import asks
from tests.support.storage_controller import served_controller
from zoe_cli.commands.storage import top as storage_top
from zoe_cli.exits import exit_of
from zoe_cli.main import app
from zoe_client.errors import ZoeError

RULE = "FOR TENANT red WHEN GETS_SEC > 5 DO SET NOOP"
NODES = {"object-1": NodeSettings(kind=NodeKind.OBJECT, url="http://127.0.0.1:1")}


@pytest.fixture
def admin(api: Api, postgres_url: str) -> Iterator[CliRunner]:
    with served_controller(postgres_url, nodes=NODES) as controller:
        asks(api, controller)
        yield CliRunner(env={"ZOE_URL": api.url, "ZOE_TOKEN": api.admin, "COLUMNS": "200"})


@pytest.fixture(scope="module")
def unchanged(shared_api: Api) -> Iterator[CliRunner]:
    """For commands that change nothing."""
    with served_controller(shared_api._database_url, nodes=NODES) as controller:
        asks(shared_api, controller)
        yield CliRunner(env={"ZOE_URL": shared_api.url, "ZOE_TOKEN": shared_api.admin, "COLUMNS": "200"})


def storage(admin: CliRunner, *arguments: str, stdin: str = "") -> tuple[int, str]:
    """The exit code, and all that was printed."""
    done = admin.invoke(app, ["storage", *arguments], input=stdin)
    if isinstance(done.exception, ZoeError):
        return exit_of(done.exception), str(done.exception)
    return done.exit_code, " ".join(done.output.split())


def test_a_rule_is_there_once_however_it_is_added(admin: CliRunner) -> None:
    def numbers(*more: str) -> list[int]:
        return [load["id"] for load in json.loads(storage(admin, "policy", "ls", "-o", "json", *more)[1])["rules"]]

    assert storage(admin, "policy", "add", RULE)[0] == 0
    [first] = numbers()
    code, said = storage(admin, "policy", "add", f"{RULE}  ")
    assert (code, f"rule {first} says this already" in said) == (2, True)
    assert storage(admin, "policy", "rm", str(first))[0] == 0
    restored = json.loads(storage(admin, "policy", "restore", str(first), "-o", "json")[1])["rules"]
    [again] = numbers()
    assert [entry["id"] for entry in restored] == [again], "as `add` prints it"
    assert again != first
    code, said = storage(admin, "policy", "restore", str(first))
    assert (code, f"rule {again} says this already" in said) == (2, True)
    assert (numbers(), numbers("--removed")) == ([again], [first])
    assert storage(admin, "policy", "ls", "--removed")[1].endswith(f" {again}"), "it is in force under this number"


@pytest.mark.parametrize(
    "arguments",
    [
        ("policy", "rm", "99"),
        ("policy", "restore", "99"),
        ("policy", "resume", "99"),
        ("policy", "cancel", "99"),
        ("restart", "object-9"),
        ("controllers", "absent"),
        ("controllers", "rule-99", "--mode", "off"),
        ("metric", "rm", "absent"),
        ("slo", "rm", "red"),
        ("cores", "rm", "red"),
    ],
)
def test_unknown_rules_and_jobs_are_not_found(unchanged: CliRunner, arguments: tuple[str, ...]) -> None:
    code, said = storage(unchanged, *arguments)
    assert code == 3, said
    assert any(
        words in said
        for words in (
            "there is no ",
            "no removed rule",
            "has no ",
            "does not exist",
            "not running",
            "no job",
            "no cores",
        )
    ), said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("policy", "try", ""), "write CONTAINER/OBJECT"),
        (("policy", "try", "noslash"), "'noslash' does not name an object: write CONTAINER/OBJECT"),
        (("why", "c1"), "'c1' does not name an object"),
        (("why", "c1/"), "'c1/' does not name an object"),
        (("policy", "add", ""), "the text has no rule"),
        (("policy", "add", "-"), "the text has no rule"),
        (("slo", "set", "", "--read", "1MB/s"), "'' cannot be the name of a tenant"),
        (("slo", "set", "a/b", "--read", "1MB/s"), "'a/b' cannot be the name of a tenant"),
        (("slo", "set", "red", "--read", "1B/s"), "less than 100 kB/s"),
        (("cores", "set", "<b>x</b>", "1"), "cannot be the name of a tenant"),
    ],
)
def test_senseless_arguments_are_refused(unchanged: CliRunner, arguments: tuple[str, ...], sentence: str) -> None:
    code, said = storage(unchanged, *arguments)
    assert (code, sentence in said) == (2, True), said


def test_watching_prints_a_document_a_line(admin: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = iter((0.0, 0.0))

    def pause(_: float) -> None:
        if next(pauses, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(storage_top, "time", SimpleNamespace(sleep=pause))
    done = admin.invoke(app, ["storage", "top", "--watch", "-o", "json"])
    assert [json.loads(line)["rows"] for line in done.stdout.splitlines()] == [[], [], []]
