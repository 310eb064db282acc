from __future__ import annotations

import pytest

from zoe_master.backends.engine.daemon.container_facts import wrong_shares


@pytest.mark.parametrize(
    ("tags", "shares"),
    [
        ({}, None),
        ({"zoe.cores-milli": "1000"}, 1024),
        ({"zoe.cores-milli": "0"}, 2),
        ({"zoe.cores-milli": "500", "zoe.promised": "true"}, 65_536),
        ({"zoe.cores-milli": "64000", "zoe.promised": "true"}, 262_144),
    ],
)
def test_reserved_cores_weigh_more_if_they_are_promised(tags: dict[str, str], shares: int | None) -> None:
    container = {"Config": {"Labels": tags}, "State": {"Running": True}, "HostConfig": {"CpuShares": 7}}
    assert wrong_shares(container) == shares
    assert wrong_shares({**container, "State": {"Running": False}}) is None
    assert wrong_shares({**container, "HostConfig": {"CpuShares": shares}}) is None
