"""Impossible starts according to the checks fail on the real back-end, and no other start fails for these reasons."""

from __future__ import annotations

from dataclasses import replace

from tests.local.support import LocalWorld
from tests.support.possible import Wishes, application
from zoe_lib.domain.checks.feasibility import findings
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState


def test_impossible_starts_are_found_by_the_checks(world: LocalWorld) -> None:
    world.close()
    allowed, outside = world.base / "allowed", world.base / "outside"
    for directory in (allowed / "inner", outside):
        directory.mkdir(parents=True)
        directory.chmod(0o755)
    allowed.chmod(0o755)
    (world.base / "alias").symlink_to(allowed)
    world.settings = replace(world.settings, host_paths_allowed=(allowed,))
    paths = [allowed, allowed / "inner", outside, f"{allowed}/../outside", f"{allowed}-not", world.base / "alias"]
    wishes = Wishes(("shell", "python", "shell:2", "unheard"), [str(path) for path in paths], ("/sbin", "/workspace"))
    platform = Platform(tuple(world.backend.nodes()), world.backend.capabilities())
    told = {}
    for number, component in enumerate(wishes.components()):
        found = findings(application(component), Target(platform))
        assert all(
            "no runtime is configured for it" in finding.message
            for finding in found
            if finding.code == "image_not_allowed"
        )
        assert all(finding.certain for finding in found)
        told[f"e{number}.c.0.1"] = component, [finding.code for finding in found]
        world.start(component, f"e{number}.c.0.1")
    for service, (component, codes) in told.items():
        ended = world.until_state(service, ObservedState.ENDED)
        refused = ended.cause in (Cause.START_FAILED, Cause.IMAGE_UNAVAILABLE)
        assert refused == bool(codes), (component, codes, ended)
    assert {code for _, codes in told.values() for code in codes} == {
        "image_not_allowed",
        "no_command",
        "host_path_not_allowed",
    }
    assert sum(not codes for _, codes in told.values()) > 5
