"""Where applications run: nodes, capabilities of the back-end, and the object store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class MountPath:
    """A path inside containers that is in use already, so that no volume can be mounted there.

    `use` says by what. `only_read_only`: only where the component's root is read-only. `only_named`: a host path can be
    mounted there, when it is a file. `below`: nothing can be mounted below it either, as below any file.
    """

    path: str
    use: str
    only_read_only: bool = False
    only_named: bool = False
    below: bool = False


@value(frozen=True, slots=True)
class EngineLimits:
    """The minimum that a container engine accepts; it refuses to make a container with less.

    memory_min_bytes: of a reservation. memory_limit_min_bytes, cores_limit_min_milli: of a limit."""

    memory_min_bytes: int
    memory_limit_min_bytes: int
    cores_limit_min_milli: int


@value(frozen=True, slots=True)
class ImageFacts:
    """What nodes report about an image.

    `has_command`: it names a command of its own. `made_for`: the platform that it was built for, such as
    `linux/arm64`, when no node that has it is such; empty when one is."""

    has_command: bool = True
    made_for: str = ""


@value(frozen=True, slots=True)
class BackendCapabilities:
    """What the back-end can and may run, apart from the size of its nodes.

    The first fields are settings: what they exclude never runs until an admin changes them.
    images: patterns of images that may run; None: any. See `images.image_matches`.
    why_no_image: why any other image may not run, as a part of a sentence. image_hints: what to do about such an
    image, by its name.
    commandless: patterns of images that name no command.
    host_paths: directories that may be mounted, with all paths below them; None: any.
    workspaces: whether tenants have a workspace.
    mount_points: paths inside containers that are in use; empty if nothing is mounted.
    secret_variables: whether secrets can be variables of a process.
    why_no_packages: why no component can have requirements; empty: they can. why_no_sources: the same of sources.
    why_no_progress_files: why progress cannot be read from a file.
    package_builds: whether requirements without a wheel can be built.
    devices_alone: services with devices are sure to start only if they belong to one component without ports.
    engine: the engine's bounds of limits and rules for names of images; None: there are none.
    network_addresses: what an execution's network has for its services, its gateway and their nodes; None: enough.
    The other fields are the last report of the nodes, and may change at any time.
    images_there: images that nodes have, by full name; None: unknown.
    pulls: nodes fetch images that they lack. unavailable: images that no node has or can fetch, by full name.
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
    package_builds: bool = True
    engine: EngineLimits | None = None
    network_addresses: int | None = None
    images_there: Mapping[str, ImageFacts] | None = None
    pulls: bool = False
    unavailable: tuple[str, ...] = ()


@value(frozen=True, slots=True)
class Platform:
    """The platform as a master last saw it; without nodes and capabilities, nothing is known.

    storage: what the object store can guarantee in total; None until a controller has reported it.
    """

    nodes: tuple[Node, ...] = ()
    capabilities: BackendCapabilities = field(default_factory=BackendCapabilities)
    storage: StoreCapacity | None = None
