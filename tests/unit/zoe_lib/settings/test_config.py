"""Basic settings come first in the reference."""

from __future__ import annotations

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
