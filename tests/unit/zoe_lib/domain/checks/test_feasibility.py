"""Findings come by component in the order of the list, then those of the application."""

from __future__ import annotations

from zoe_lib.domain.applications.application import Application, Component, ComponentSecret, Volume
from zoe_lib.domain.applications.secrets import TenantSecrets
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.cluster.platform import BackendCapabilities, EngineLimits, MountPath, Platform
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import StorageDemand, StorageObject, StoreAccess

ABLE = BackendCapabilities(
    images=(),
    mount_points=(MountPath("/tmp", "scratch"),),
    engine=EngineLimits(4, 6, 10),
    network_addresses=1,
)


def test_findings_of_components_come_first_in_the_order_of_components() -> None:
    one = Component(
        "c", "shell", Resources(50, 5), volumes=(Volume("/tmp", name="v"),), secrets=(ComponentSecret("key", file="k"),)
    )
    storage = StorageDemand(inputs=(StorageObject("in", "s3a://b/o"),))
    access, secrets = StoreAccess(frozenset(), "red"), TenantSecrets("ann", "red", frozenset())
    found = findings(Application("a", (one, one), storage=storage), Target(Platform((), ABLE), access, secrets))
    assert [(finding.place, finding.code) for finding in found] == [
        *(
            (("components", index, *place), code)
            for index in (0, 1)
            for place, code in (
                (("image",), "image_not_allowed"),
                (("volumes", 0, "target"), "mount_point_taken"),
                (("resources", "memory"), "memory_too_small"),
            )
        ),
        (("components",), "network_too_small"),
        (("storage", "inputs", 0, "uri"), "no_such_service"),
        (("components", 0, "secrets", 0, "name"), "no_secret"),
        (("components", 1, "secrets", 0, "name"), "no_secret"),
    ]


def test_unknown_platform_has_no_findings() -> None:
    one = Component("c", "shell", Resources(50, 5), volumes=(Volume("/tmp", host_path="/etc"),))
    assert findings(Application("a", (one,)), Target()) == []
