from __future__ import annotations

import pytest

from tests.support.scheduling import component
from zoe_lib.domain.applications.application import Application, Volume
from zoe_lib.domain.checks.finding import Target
from zoe_lib.domain.checks.volumes import check_block_volumes, check_volumes, mount_refusal
from zoe_lib.domain.cluster.platform import BackendCapabilities, MountPath, Platform
from zoe_lib.domain.values.volumes import BlockVolume, UserVolumes, VolumeState

POINTS = (
    MountPath("/tmp", "scratch", only_read_only=True),
    MountPath("/etc/hosts", "names", only_named=True, below=True),
    MountPath("/sbin/init", "the first process", below=True),
)


@pytest.mark.parametrize(
    ("path", "allowed", "codes"),
    [
        ("/data/in", ("/data",), []),
        ("/data/../etc", ("/data",), ["host_path_not_allowed"]),
        ("/data", (), ["host_path_not_allowed"]),
        ("/data", None, []),
    ],
)
def test_host_paths(path: str, allowed: tuple[str, ...] | None, codes: list[str]) -> None:
    asking = component(volumes=(Volume("/free", name="v"), Volume("/seen", host_path=path)))
    found = list(check_volumes(asking, Platform(capabilities=BackendCapabilities(host_paths=allowed))))
    assert [finding.code for finding in found] == codes
    assert all(finding.place == ("volumes", 1, "host_path") for finding in found)


@pytest.mark.parametrize(
    ("volume", "read_only", "refused"),
    [
        (Volume("/tmp", name="v"), False, False),
        (Volume("/tmp/", name="v"), True, True),
        (Volume("/etc/hosts", host_path="/h"), False, False),
        (Volume("/etc/hosts", name="v"), False, True),
        (Volume("/etc/hosts/x", host_path="/h"), False, True),
        (Volume("//sbin/init", name="v"), False, True),
        (Volume("/sbin", name="v"), False, False),
    ],
)
def test_mount_points(volume: Volume, read_only: bool, refused: bool) -> None:
    asking = component(volumes=(volume,), read_only_root=read_only)
    assert (mount_refusal(asking, volume, POINTS) is not None) is refused
    found = list(check_volumes(asking, Platform(capabilities=BackendCapabilities(mount_points=POINTS))))
    assert [(finding.place, finding.code) for finding in found] == [
        (("volumes", 0, "target"), "mount_point_taken")
    ] * refused


def blocks(attached: str | None = None, state: VolumeState = VolumeState.READY) -> UserVolumes:
    volume = BlockVolume("v1", "red", "ada", "data", 1 << 30, "plain", (), 1.0, state.value)
    return UserVolumes({"data": volume}, {"data": attached} if attached else {})


@pytest.mark.parametrize(
    ("instances", "why_not", "volumes", "codes"),
    [
        (1, "", blocks(), []),
        (1, "Zoe does not run as root", blocks(), [("no_volumes", True)]),
        (1, "", blocks(state=VolumeState.MAKING), [("volume_not_ready", True)]),
        (2, "", blocks(), [("volume_of_one", True)]),
        (1, "", blocks("x1"), [("volume_attached", False)]),
        (2, "no root", UserVolumes(), []),
    ],
)
def test_one_service_mounts_a_volume_of_blocks(
    instances: int, why_not: str, volumes: UserVolumes, codes: list[tuple[str, bool]]
) -> None:
    asking = component(volumes=(Volume("/data", name="data"), Volume("/other", name="other")), total_count=instances)
    target = Target(Platform(capabilities=BackendCapabilities(why_no_volumes=why_not)), volumes=volumes)
    found = list(check_block_volumes(Application("a", (asking,)), target))
    assert [(finding.code, finding.certain) for finding in found] == codes
    assert all(finding.place == ("components", 0, "volumes", 0, "name") for finding in found)
