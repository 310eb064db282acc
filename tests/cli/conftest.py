"""A server per module, and `zoe` as a function."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog

from tests.cli.held import ada, running, store
from tests.cli.helper import Helper
from tests.cli.server import ADMIN, Server
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.stack import stack
from zoe_cli.main import main

__all__ = ["ada", "postgres_server", "running", "stack", "store"]


@dataclass(frozen=True)
class Result:
    """The result of a call of `zoe`."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Zoe = Callable[..., Result]
APP = {
    "version": 4,
    "name": "sums",
    "components": [
        {
            "name": "main",
            "image": "zoe/tiny",
            "command": ["true"],
            "resources": {"memory": "1GiB"},
            "ends_application": True,
        },
        {
            "name": "worker",
            "image": "zoe/tiny",
            "resources": {"memory": "1GiB"},
            "essential_count": 1,
            "total_count": 2,
        },
    ],
}


@pytest.fixture(scope="module")
def database_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a migrated database of this module."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="module")
def server(database_url: str) -> Iterator[Server]:
    # The server's logs would otherwise stand among the command's output.
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)
    with Server(database_url) as server:
        yield server
    structlog.reset_defaults()


@pytest.fixture
def zoe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest, tmp_path: Path
) -> Zoe:
    """Run the command line in this process, as the admin of the module's server or of the stack if there is one."""
    for name in ("ZOE_CONTEXT", "ZOE_TOKEN", "ZOE_TOKEN_FILE", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if "server" in request.fixturenames:
        monkeypatch.setenv("ZOE_URL", request.getfixturevalue("server").url)
        monkeypatch.setenv("ZOE_TOKEN", ADMIN)
    if "stack" in request.fixturenames:
        monkeypatch.setenv("ZOE_URL", request.getfixturevalue("stack").url)
        monkeypatch.setenv("ZOE_TOKEN_FILE", str(request.getfixturevalue("stack").token_file))

    def run(*arguments: str, stdin: bytes = b"", token: str | None = None) -> Result:
        before = ["--token", token] if token is not None else []
        monkeypatch.setattr(sys, "argv", ["zoe", *before, *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Result(int(end.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(scope="module")
def helped(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the variables of callers of a helper."""
    directory = tmp_path_factory.mktemp("helper")
    own = {"XDG_RUNTIME_DIR": str(directory), "XDG_CONFIG_HOME": str(directory / "config"), "ZOE_HELPER": "1"}
    # As most users have it: standard output is buffered, and modules are compiled once.
    shared = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**shared, **own, "ZOE_URL": server.url, "ZOE_TOKEN": ADMIN}


@pytest.fixture(scope="module")
def helper(helped: dict[str, str]) -> Iterator[Helper]:
    """A resident helper that the tests of a module share."""
    found = Helper(helped, Path(helped["XDG_RUNTIME_DIR"]) / "zoe")
    found.start()
    yield found
    found.end()


@pytest.fixture
def app_file(tmp_path: Path) -> Path:
    """A description of two essential services and an elastic one."""
    path = tmp_path / "app.json"
    path.write_text(json.dumps(APP))
    return path


@pytest.fixture
def submitted(server: Server, zoe: Zoe, app_file: Path) -> str:
    """Return the id of a fresh execution."""
    return zoe("run", str(app_file), "-o", "name").out.strip()
