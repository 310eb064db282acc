"""The file that a variable names is read, or the program ends with a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from storage_controller.settings import ControllerSettings
from zoe_lib.settings.config import Settings
from zoe_lib.settings.file_settings import FileSettings, misspelt, read_settings


def said(kind: type[FileSettings], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        read_settings(kind, "zoe")
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("kind", [Settings, ControllerSettings])
@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "cannot be read: No such file or directory"),
        (Path.mkdir, "cannot be read: it is not a regular file"),
        (os.mkfifo, "cannot be read: it is not a regular file"),
        (lambda path: path.write_bytes(b"\xff\xfe\x80"), "is not valid TOML: it is not UTF-8 text"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(
    kind: type[FileSettings],
    make: Callable[[Path], object],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "zoe.toml"
    make(path)
    monkeypatch.setenv(kind.file_variable, str(path))
    assert said(kind, capsys) == f"zoe: {path} {why}\n"


def test_an_empty_name_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_CONFIG", "")
    assert read_settings(Settings, "zoe").api_port == Settings.model_fields["api_port"].default


@pytest.mark.parametrize("kind", [Settings, ControllerSettings])
@pytest.mark.parametrize(
    "url", ["postgres//zoe", "mysql://x/hunter2", "postgres://x/y", "postgresql+none://x/y", "postgresql://h:x/y", ""]
)
def test_a_database_that_is_not_postgresql_is_refused(
    kind: type[FileSettings], url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variable = f"{kind.model_config['env_prefix']}DATABASE_URL"
    monkeypatch.setenv(variable, url)
    words = "must be a URL such as postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
    told = said(kind, capsys)
    assert told.startswith(f"zoe: setting database_url ({variable}): {words}\n")
    assert "hunter2" not in told


@pytest.mark.parametrize(
    "url", ["postgresql:///zoe", "postgresql+psycopg2://u:p@/zoe?host=h1:1&host=h2:2&connect_timeout=3"]
)
def test_urls_of_postgresql_are_accepted(url: str) -> None:
    assert Settings(database_url=url).database_url.get_secret_value() == url


def test_a_variable_that_is_almost_a_setting_is_named() -> None:
    names = ["ZOE_LOG_LEVLE", "ZOE_LOCAL_NODE", "ZOE_SWARM_ENGINE__A", "PATH", "ZOE_LOG_LEVEL", "ZOE_SWARM_ENGINES__A"]
    assert list(misspelt(Settings, names)) == [
        "variable ZOE_LOG_LEVLE is ignored; did you mean ZOE_LOG_LEVEL?",
        "variable ZOE_LOCAL_NODE is ignored; did you mean ZOE_LOCAL_NODES?",
        "variable ZOE_SWARM_ENGINE__A is ignored; did you mean ZOE_SWARM_ENGINES?",
    ]


def test_variables_of_other_programs_are_not_taken_for_settings() -> None:
    others = (
        "CONFIG URL TOKEN TOKEN_FILE CONTEXT HOME USER INPUTS IMAGE SITE INDEX EXECUTION_ID SERVICE_ID WORKSPACE "
        "STRICT VERBOSE TERMINAL COMPLETE TEST_LONG TEST_DATA TEST_LOG RUNTIME_PYTHON PROPERTY_CHECKS API_ADDRESS "
        "VOLUME_DATA STORAGE_ADDRESS GRAFANA_PORT POSTGRES_IMAGE SDS_HOST SDS_DATABASE_URL SDS_LIMITS_ENDPOINT "
        "SDS_TOKEN_FILE"
    )
    assert list(misspelt(Settings, [f"ZOE_{name}" for name in others.split()])) == []
