"""What the wheel holds, and that it works without its source tree."""

from __future__ import annotations

import json
import tomllib
import zipfile
from pathlib import Path

from tests.docs.documents import ROOT
from tests.package.conftest import Installed
from tests.support.postgres import PostgresServer
from zoe_lib.descriptions import catalogue

MIGRATE = """
import os
from zoe_lib.store.postgres.migrate import up_to_date, upgrade
url = os.environ["ZOE_DATABASE_URL"]
print(up_to_date(url))
upgrade(url)
print(up_to_date(url))
"""
CATALOGUE = """
import json
from zoe_lib.descriptions import catalogue, catalogue_directory, catalogue_document, parse
for entry in catalogue():
    parse(catalogue_document(entry))
print(json.dumps({"entries": [entry.id for entry in catalogue()], "directory": str(catalogue_directory())}))
"""


def test_the_web_ui_is_there(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "zoe_api/static/index.html" in names
    assert any(name.startswith("zoe_api/static/assets/") and name.endswith(".js") for name in names)
    assert not any(name.startswith("web/") for name in names)


def test_the_documentation_is_there(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"zoe_api/docs_site/{name}" for name in ("index.html", "searchindex.js", "use/waiting.html")} <= names
    assert not any(name.startswith("docs/") for name in names)


def test_migrations_and_catalogue_lie_inside_the_library(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packages = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert packages == {
        "zoe_client",
        "zoe_lib",
        "zoe_master",
        "zoe_api",
        "zoe_cli",
        "zoe_embedded",
        "zoe_files",
        "zoe_job",
        "zoe_simulator",
        "storage_bridge",
        "storage_controller",
        "storage_filters",
        "storage_gateway",
    }
    for name in ("zoe_lib/migrations/env.py", "zoe_lib/catalogue/catalogue.json"):
        assert name in names
    assert {f"zoe_lib/migrations/versions/0057_tables_of_0_3_0.{kind}" for kind in ("py", "sql")} <= set(names)
    assert not any("__pycache__" in name or "/tests/" in name for name in names)


def test_the_wheel_names_its_licence_and_programs(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
    text = archive.read(metadata).decode()
    assert "License-Expression: Apache-2.0" in text
    (programs,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert {"zoe", "zoe-master", "zoe-api"} <= set(archive.read(programs).decode().split())


def test_zoe_says_its_version(installed: Installed) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert installed.run("zoe", "--version") == f"zoe {version}\n"
    assert f"\n## [{version}] - " in (ROOT / "CHANGELOG.md").read_text(), "a version has a section of changes"
    origin = installed.run("python", "-c", "import zoe_lib; print(zoe_lib.__file__)")
    assert str(installed.directory) in origin


def test_migrations_run_on_a_fresh_database(installed: Installed, postgres_server: PostgresServer) -> None:
    url = postgres_server.create_empty_database()
    try:
        assert installed.run("python", "-c", MIGRATE, ZOE_DATABASE_URL=url).split() == ["False", "True"]
    finally:
        postgres_server.drop_database(url)


def test_the_catalogue_is_there(installed: Installed) -> None:
    found = json.loads(installed.run("python", "-c", CATALOGUE))
    assert found["entries"] == [entry.id for entry in catalogue()]
    assert str(installed.directory) in found["directory"]


def test_the_command_line_works_without_a_server(installed: Installed) -> None:
    text = json.dumps({"version": 4, "name": "n", "frameworks": [{"framework": "mpi"}]})
    expanded = json.loads(installed.run("zoe", "validate", "-", "--offline", "--expand", stdin=text))
    assert [c["name"] for c in expanded["components"]] == ["mpi-worker", "mpi-launcher"]
