"""Check that the volumes of a component are allowed, and can be mounted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zoe_lib.domain.applications.application import Component, Volume
from zoe_lib.domain.applications.paths import is_below, plain_path
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import MountPath, Platform


def check_volumes(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for each host path that is not allowed, and for each target where nothing can be mounted."""
    able = platform.capabilities
    for number, volume in enumerate(component.volumes):
        path = volume.host_path
        if path is not None and able.host_paths is not None and not is_below(path, able.host_paths):
            message = f"host path {path} is not on the admin's list of allowed host paths"
            hint = "use a named volume, or ask the admin"
            yield Finding(("volumes", number, "host_path"), "host_path_not_allowed", message, hint)
        if (refused := mount_refusal(component, volume, able.mount_points)) is not None:
            yield Finding(("volumes", number, "target"), "mount_point_taken", *refused)


def mount_refusal(component: Component, volume: Volume, taken: Iterable[MountPath]) -> tuple[str, str] | None:
    """Return why nothing can be mounted at the volume's target, and a remedy; None if it can."""
    target = plain_path(volume.target)
    for point in taken:
        if target != point.path and not (point.below and is_below(target, [point.path])):
            continue
        if point.only_read_only and not component.read_only_root:
            continue
        if point.only_named and volume.name is None and target == point.path:
            continue
        return f"no volume can be mounted at {volume.target}, the place of {point.use}", "use another target"
    return None
