"""The platform of applications: nodes, capabilities of the back-end, and the object store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class MountPath:
    """A path inside containers that is in use, so that no volume can be mounted there.

    `use`: its user. `only_read_only`: only if the component's root is read-only. `only_named`: a host path can be
    mounted there if it is a file. `below`: nothing can be mounted below it either, as below any file.
    """

    path: str
    use: str
    only_read_only: bool = False
    only_named: bool = False
    below: bool = False


@value(frozen=True, slots=True)
class EngineLimits:
    """Minimum amounts of a container engine, which refuses containers with less.
    memory_min_bytes: of a reservation. memory_limit_min_bytes, cores_limit_min_milli: of a limit.
    """

    memory_min_bytes: int
    memory_limit_min_bytes: int
    cores_limit_min_milli: int


@value(frozen=True, slots=True)
class ImageFacts:
    """Facts about an image, as nodes report them.

    `has_command`: it defines a command. `made_for`: its platform, such as `linux/arm64`, if no node that has the image
    matches; else empty.
    """

    has_command: bool = True
    made_for: str = ""


@value(frozen=True, slots=True)
class BackendCapabilities:
    """Capabilities of the back-end, apart from the size of its nodes.

    The first fields are settings: an exclusion holds until an admin changes them.
    images: patterns of allowed images; None: any. See `images.image_matches`.
    why_no_image: why any other image is not allowed, as a part of a sentence. image_hints: hints for such images, by
    name.
    commandless: patterns of images without a command.
    host_paths: directories that may be mounted, with all paths below them; None: any.
    workspaces: whether tenants have a workspace.
    mount_points: paths in use inside containers; empty if nothing is mounted.
    secret_variables: whether secrets can be variables of a process.
    why_no_packages: why no component can have requirements; empty: they can. why_no_sources: the same for sources.
    why_no_progress_files: why progress cannot be read from a file. why_no_volumes: why volumes of blocks cannot be
    attached.
    package_builds: whether requirements without a wheel can be built.
    why_unheld: why limits of components are not held; empty: they are.
    devices_alone: services with devices are sure to start only if they belong to one component without ports.
    engine: the engine's minimums and rules for names of images; None: there are none.
    built_images: patterns of images that nodes never fetch, since they are built there.
    network_addresses: addresses in an execution's network for its services, its gateway and their nodes; None: enough.

    The other fields are the last report of the nodes, and may change at any time.
    images_there: images on the nodes, by full name; None: unknown.
    installs: what the first use of an image installs, by name of the image.
    pulls: nodes fetch missing images. unavailable: images that no node has or can fetch, by full name.
    """

    images: tuple[str, ...] | None = None
    why_no_image: str = "it is not on the admin's list"
    image_hints: Mapping[str, str] = field(default_factory=dict)
    commandless: tuple[str, ...] = ()
    host_paths: tuple[str, ...] | None = None
    workspaces: bool = True
    mount_points: tuple[MountPath, ...] = ()
    devices_alone: bool = False
    secret_variables: bool = True
    why_no_packages: str = ""
    why_no_sources: str = ""
    why_no_progress_files: str = ""
    why_no_volumes: str = "its services run in containers; use the local back-end"
    package_builds: bool = True
    why_unheld: str = ""
    engine: EngineLimits | None = None
    built_images: tuple[str, ...] = ()
    network_addresses: int | None = None
    images_there: Mapping[str, ImageFacts] | None = None
    installs: Mapping[str, str] = field(default_factory=dict)
    pulls: bool = False
    unavailable: tuple[str, ...] = ()


@value(frozen=True, slots=True)
class Platform:
    """The platform as last seen by a master; without nodes and capabilities, it is unknown.
    storage: the object store's total guarantees; None until a controller has reported them.
    """

    nodes: tuple[Node, ...] = ()
    capabilities: BackendCapabilities = field(default_factory=BackendCapabilities)
    storage: StoreCapacity | None = None
