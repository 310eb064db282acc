"""Basic settings come first in the reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from scripts.reference.settings import settings_page
from zoe_lib.settings.config import Settings


def test_basic_settings_exist_and_are_about_a_dozen() -> None:
    assert set(Settings.basic) <= Settings.model_fields.keys()
    assert 10 <= len(Settings.basic) <= 15


def test_each_setting_stands_in_one_of_the_two_tables() -> None:
    basic, advanced = settings_page().split("## Advanced settings")
    advanced = advanced.split("\n## ")[0]
    for name in Settings.model_fields:
        row = f"\n| `{name}` |"
        assert (row in basic, row in advanced) == (name in Settings.basic, name not in Settings.basic), name


@pytest.mark.parametrize("field", ["master_endpoint", "master_advertised_endpoint"])
@pytest.mark.parametrize(
    "endpoint",
    ["foo", "tcp://nobody", "tcp://127.0.0.1:99999", "tcp://:5101", "ipc://", "tcp://a b:1"],
)
def test_an_endpoint_that_cannot_be_used_is_refused(field: str, endpoint: str) -> None:
    with pytest.raises(ValidationError, match="is not a ZeroMQ endpoint"):
        Settings(**{field: endpoint})


@pytest.mark.parametrize(
    "endpoint",
    ["tcp://127.0.0.1:5101", "tcp://*:5101", "tcp://[::1]:65535", "tcp://h:1", "ipc:///run/zoe"],
)
def test_endpoints_of_zeromq_are_accepted(endpoint: str) -> None:
    assert Settings(master_endpoint=endpoint, master_advertised_endpoint="").master_endpoint == endpoint


@pytest.mark.parametrize(("former", "name"), Settings.former_names.items())
def test_a_former_name_of_a_setting_is_read_everywhere(
    former: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = _another_value(Settings.model_fields[name].default)
    file = tmp_path / "zoe.toml"
    file.write_text(f"{former} = {_toml(given)}\n")
    monkeypatch.setenv("ZOE_CONFIG", str(file))
    of_file = getattr(Settings(), name)
    assert of_file != Settings.model_fields[name].default
    assert getattr(Settings(**{former: given}), name) == of_file
    monkeypatch.delenv("ZOE_CONFIG")
    monkeypatch.setenv(f"ZOE_{former}".upper(), given if isinstance(given, str) else json.dumps(given))
    assert getattr(Settings(), name) == of_file


def test_a_setting_of_both_names_is_refused_and_variables_win(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="swarm_user is the former name of engine_user"):
        Settings(**{"swarm_user": "1:1", "engine_user": "2:2"})
    file = tmp_path / "zoe.toml"
    file.write_text('swarm_user = "1:1"\n')
    monkeypatch.setenv("ZOE_CONFIG", str(file))
    monkeypatch.setenv("ZOE_ENGINE_USER", "2:2")
    assert Settings().engine_user == "2:2"


def _another_value(default: Any) -> Any:
    if isinstance(default, bool):
        return not default
    if isinstance(default, int):
        return default + 1
    if isinstance(default, list):
        return ["other"]
    return {"core": 7} if isinstance(default, dict) and default else {"a": "7:7"} if default == {} else "7:7"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)
