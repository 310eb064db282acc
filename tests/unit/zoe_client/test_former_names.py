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


@pytest.mark.parametrize("name", ["Client", "ZoeError", "Refused", "NeverFits", "TimedOut"])
def test_the_former_sdk_gives_the_same_classes(name: str) -> None:
    assert getattr(zoe_lib.sdk, name) is getattr(zoe_client, name)


@pytest.mark.parametrize(("former", "present"), FORMER)
def test_each_module_has_its_former_name(former: str, present: str) -> None:
    names = {module.name for module in pkgutil.iter_modules(import_module(former).__path__)}
    assert len(names) > 5
    for name in names:
        old, new = (import_module(f"{package}.{name}") for package in (former, present))
        own = {one for one, value in vars(new).items() if getattr(value, "__module__", "") == new.__name__}
        assert own
        for public in own:
            if not public.startswith("_"):
                assert getattr(old, public) is getattr(new, public)


def test_models_have_their_former_names() -> None:
    assert zoe_lib.wire.SubmitRequest is wire.SubmitRequest
    with pytest.raises(AttributeError):
        _ = zoe_lib.wire.Nothing
