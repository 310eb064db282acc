"""What older scripts import: `zoe_lib.sdk` and `zoe_lib.wire`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import pytest

import zoe_client
import zoe_lib.sdk
import zoe_lib.wire
from zoe_client import wire

FORMER = [("zoe_lib.sdk", "zoe_client"), ("zoe_lib.wire", "zoe_client.wire")]
# What the SDK has gained since.
NEW = {"amounts", "documents", "lazy_names", "plain", "plain_errors", "quick", "tls", "vocabulary", "wire"}


@pytest.mark.parametrize("name", ["Client", "ZoeError", "Refused", "NeverFits", "TimedOut"])
def test_the_former_sdk_gives_the_same_classes(name: str) -> None:
    assert getattr(zoe_lib.sdk, name) is getattr(zoe_client, name)


@pytest.mark.parametrize(("former", "present"), FORMER)
def test_each_module_has_its_former_name(former: str, present: str) -> None:
    for module in pkgutil.iter_modules(import_module(present).__path__):
        if module.name in NEW:
            continue
        old, new = (import_module(f"{package}.{module.name}") for package in (former, present))
        own = {name for name, one in vars(new).items() if getattr(one, "__module__", "") == new.__name__}
        assert own
        for name in own:
            if not name.startswith("_"):
                assert getattr(old, name) is getattr(new, name)


def test_models_have_their_former_names() -> None:
    assert zoe_lib.wire.SubmitRequest is wire.SubmitRequest
    with pytest.raises(AttributeError):
        _ = zoe_lib.wire.Nothing
