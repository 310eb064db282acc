from __future__ import annotations

from typing import Any

import pytest

from tests.support.possible import BASE, MIB
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.checks.engine import check_amounts
from zoe_lib.domain.cluster.platform import BackendCapabilities, EngineLimits, Platform
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources

DOCKER = Platform(capabilities=BackendCapabilities(engine=EngineLimits(4 * MIB, 6 * MIB, 10)))
RESERVED = ("resources", "memory")


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({}, []),
        ({"reservation": Resources(50, 6 * MIB - 1)}, [RESERVED]),
        ({"reservation": Resources(50, 6 * MIB)}, []),
        ({"reservation": Resources(50, 4 * MIB), "memory_limit_bytes": 8 * MIB}, []),
        ({"reservation": Resources(50, 4 * MIB), "memory_limit_bytes": 5 * MIB}, [("resources", "limits", "memory")]),
        ({"cores_limit_milli": 9}, [("resources", "limits", "cores")]),
        ({"cores_limit_milli": 10}, []),
    ],
)
def test_less_than_the_engine_takes_is_found(changes: dict[str, Any], places: list[tuple[str, ...]]) -> None:
    asking: Component = changed(BASE, **changes)
    found = list(check_amounts(asking, DOCKER))
    assert [finding.place for finding in found] == places
    assert all(finding.certain and finding.hint.endswith(" or more") for finding in found)
    assert list(check_amounts(asking, Platform())) == []
