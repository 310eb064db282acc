"""The wheel for laptops, installed alone by each Python of Debian, against a real API."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from scripts.other_python import find
from tests.cli.conftest import APP
from tests.cli.helper import Helper
from tests.cli.server import OTHER, Server
from tests.docs.documents import ROOT
from tests.package.conftest import TIMEOUT_S, UV, Installed, build, installation_of
from tests.support.postgres import PostgresServer
from tests.support.waiting import until

PYTHONS = ("3.11", "3.13")
OURS = {"zoe_client", "zoe_cli", "zoe_job"}


@pytest.fixture(scope="module")
def client_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("client-wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", directory],
        cwd=ROOT / "packaging" / "client",
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = directory.glob("zoe_client-*.whl")
    return built


@pytest.fixture(scope="module", params=PYTHONS)
def laptop(request: pytest.FixtureRequest, client_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    interpreter = find(request.param)
    if interpreter is None:
        pytest.skip(f"needs Python {request.param}")
    directory = tmp_path_factory.mktemp("laptop")
    made = installation_of(directory, interpreter)
    into = (UV, "pip", "install", "-q", "--python", directory / "venv" / "bin" / "python")
    arguments = ("--constraint", "requirements/zoe.lock", client_wheel)
    if build(*into, "--offline", *arguments).returncode != 0:
        online = build(*into, *arguments)
        if online.returncode != 0:
            pytest.skip(f"needs the client's packages for Python {request.param}: {online.stderr[-200:]}")
    return made


@pytest.fixture(scope="module")
def server(postgres_server: PostgresServer) -> Iterator[Server]:
    url = postgres_server.create_database()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)
    with Server(url) as server:
        yield server
    structlog.reset_defaults()
    postgres_server.drop_database(url)


def test_it_holds_the_client_alone(client_wheel: Path, laptop: Installed) -> None:
    site = next((laptop.directory / "venv" / "lib").glob("python3*/site-packages"))
    assert {path.name for path in site.glob("zoe_*") if path.is_dir() and ".dist-info" not in path.name} == OURS
    assert not list(site.glob("storage_*"))
    for package in ("sqlalchemy", "psycopg2", "fastapi", "zmq", "numpy"):
        assert not (site / package).exists()
    assert client_wheel.stat().st_size < 550_000


def test_from_login_to_a_list(laptop: Installed, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    file.write_text(json.dumps(APP))
    token = tmp_path / "token"
    token.write_text(OTHER)
    token.chmod(0o600)
    own = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert "zoe" in laptop.run("zoe", "--help", **own)
    assert laptop.run("zoe", "--version", **own).startswith("zoe 1.")
    laptop.run("zoe", "login", server.url, "--token-file", str(token), **own)
    submitted = laptop.run("zoe", "run", str(file), "--set", "worker.total_count=3", "-o", "name", **own).strip()
    assert laptop.run("zoe", "ls", "-n", "1", "-o", "name", **own).strip() == submitted
    shown = json.loads(laptop.run("zoe", "show", submitted, "-o", "json", **own))
    assert len(shown["services"]) == 4
    assert "sums" in laptop.run("zoe", "ls", **own)
    laptop.run("zoe", "validate", str(file), **own)
    assert "signed_in: true" in laptop.run("zoe", "context", "list", "-o", "yaml", **own)
    assert json.loads(laptop.run("zoe", "convert", str(file), **own))["version"] == 4


def test_its_helper_runs_the_second_command(laptop: Installed, server: Server, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    variables = {"XDG_RUNTIME_DIR": str(tmp_path), "ZOE_HELPER": "1", "ZOE_URL": server.url, "ZOE_TOKEN": OTHER}
    helper = Helper({**laptop.environment, **variables}, tmp_path / "zoe")
    first = laptop.run("zoe", "whoami", "-o", "json", **variables)
    until(helper.process)
    try:
        only_helped = "import sys; from zoe_cli.helper import caller; caller._run_here = sys.exit; caller.main()"
        assert laptop.run("python", "-c", only_helped, "whoami", "-o", "json", **variables) == first
    finally:
        helper.end()


def test_the_sdk_works_alone(laptop: Installed, server: Server) -> None:
    script = f"from zoe_client import Client; print(Client({server.url!r}, {OTHER!r}).me().user)"
    assert laptop.run("python", "-c", script) == "eve\n"
