"""Settings that users give to `make serve` and the demos."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_embedded.demos.given_settings import GivenSettingsError, given_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "zoe.toml"


def test_variables_come_before_the_file(file: Path) -> None:
    file.write_text('retention_s = 5000\nlog_level = "error"\n')
    given = given_settings(file, {"ZOE_LOG_LEVEL": "debug", "ZOE_URL": "http://not.a.setting", "PATH": "/bin"})
    assert given == {"retention_s": 5000, "log_level": "debug"}


def test_variables_of_another_installation_are_left_out() -> None:
    assert given_settings(None, {"ZOE_DATABASE_URL": "postgresql://other/zoe", "ZOE_KEYS_DIR": "/etc/zoe/keys"}) == {}


def test_parts_of_a_setting_have_variables() -> None:
    assert given_settings(None, {"ZOE_SWARM_ENGINES__A": "tcp://a:1"}) == {"swarm_engines": {"a": "tcp://a:1"}}


def test_a_back_end_of_one_machine_may_be_chosen_where_it_is_offered(file: Path) -> None:
    both = ("local", "docker")
    file.write_text('backend = "docker"\n')
    assert given_settings(file, {}, both) == {"backend": "docker"}
    assert given_settings(None, {"ZOE_BACKEND": "docker"}, both) == {"backend": "docker"}
    assert given_settings(None, {"ZOE_BACKEND": "swarm"}, both) == {}
    assert given_settings(file, {"ZOE_BACKEND": "local"}, both) == {"backend": "local"}
    file.write_text('backend = "swarm"\n')
    with pytest.raises(GivenSettingsError, match="backend swarm cannot be used here, only local or docker"):
        given_settings(file, {}, both)
    with pytest.raises(GivenSettingsError, match="only local"):
        given_settings(file, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "is not valid TOML"),
        ("nope = 1", "setting nope .ZOE_NOPE.: is unknown"),
        ('retention_s = "x"', "setting retention_s .ZOE_RETENTION_S.: must be a number"),
        ('environment_wheelhouse = "/nowhere"', "environment_wheelhouse .*: /nowhere is not a directory"),
        ('storage_services.zoe.url = "not a url"', "storage_services.zoe.url .*'not a url' is not an http"),
        ('database_url = "postgresql://a/b"', "database_url cannot be set here"),
        ("#" * ((1 << 20) + 1), "is larger than"),
    ],
)
def test_invalid_setting_is_named(file: Path, text: str, words: str) -> None:
    file.write_text(text)
    with pytest.raises(GivenSettingsError, match=words):
        given_settings(file, {})


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(GivenSettingsError, match="is not a file"):
            given_settings(place, {})
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(GivenSettingsError, match="is not valid TOML"):
        given_settings(tmp_path / "binary", {})


def test_a_variable_that_is_no_json_is_named() -> None:
    with pytest.raises(GivenSettingsError, match="local_nodes"):
        given_settings(None, {"ZOE_LOCAL_NODES": "["})
