"""Check that the volumes of a component are allowed, and can be mounted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zoe_lib.domain.applications.application import Application, Component, Volume
from zoe_lib.domain.applications.paths import is_below, plain_path
from zoe_lib.domain.checks.finding import Finding, Target
from zoe_lib.domain.cluster.platform import MountPath, Platform
from zoe_lib.domain.values.volumes import VolumeState


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


def check_block_volumes(application: Application, target: Target) -> Iterator[Finding]:
    """Yield a finding for each volume of blocks that cannot be attached: one service at a time can mount it."""
    users = dict[str, int]()
    for component in application.components:
        for volume in component.volumes:
            if volume.name is not None:
                users[volume.name] = users.get(volume.name, 0) + component.total_count
    for index, component in enumerate(application.components):
        for number, volume in enumerate(component.volumes):
            if volume.name is not None:
                where = ("components", index, "volumes", number, "name")
                yield from _check_block_volume(where, volume.name, users[volume.name], target)


def _check_block_volume(where: tuple[str | int, ...], name: str, services: int, target: Target) -> Iterator[Finding]:
    if (volume := target.volumes.values.get(name)) is None:
        return
    if why := target.platform.capabilities.why_no_volumes:
        yield Finding(where, "no_volumes", f"volume {name} cannot be attached here: {why}")
    elif volume.state != VolumeState.READY.value:
        message = f"volume {name} is not ready ({volume.state})"
        yield Finding(where, "volume_not_ready", message, f"remove it: zoe volume rm {name}")
    elif services > 1:
        message = f"volume {name} can be mounted by one service, but {services} services would mount it"
        yield Finding(where, "volume_of_one", message, "mount it in one component with one instance")
    elif (execution := target.volumes.attached.get(name)) is not None:
        message = (
            f"volume {name} is attached to execution {execution}: this one fails if it starts before that has ended"
        )
        yield Finding(where, "volume_attached", message, certain=False)


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
