"""Capabilities of this back-end: the admin's settings, paths that engines use inside containers, and the nodes'
images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from zoe_lib.domain.applications.images import image_matches
from zoe_lib.domain.cluster.platform import BackendCapabilities, ImageFacts
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.pulls import ImagePulls
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.engine_limits import DOCKER
from zoe_master.backends.engine.spec.mounts.mounts import mount_points

IMAGES_MAX = 1000
"""Maximum allowed images listed one by one: each change writes the list into the database."""

NO_PROGRESS_FILES = "files of containers are not read"


def capabilities_of(settings: EngineSettings) -> BackendCapabilities:
    """Return the capabilities from the settings."""
    return BackendCapabilities(
        images=settings.images,
        host_paths=tuple(str(path) for path in settings.host_paths_allowed),
        workspaces=settings.workspaces_dir is not None,
        mount_points=mount_points(settings),
        devices_alone=True,
        secret_variables=False,
        why_no_sources="" if settings.workspaces_dir is not None else "there are no workspaces to clone into",
        why_no_packages="" if settings.workspaces_dir is not None else "there are no workspaces to keep packages in",
        why_no_progress_files=NO_PROGRESS_FILES,
        package_builds=False,
        why_unheld=settings.why_unheld,
        engine=DOCKER,
        pulls=settings.pull_images,
        built_images=settings.built_images,
    )


class CapabilitiesView:
    """Adds the reports of managers and engines; returns the same value until a report changes."""

    def __init__(
        self, watches: EngineWatches, pulls: ImagePulls, addresses: Callable[[], int | None], settings: EngineSettings
    ) -> None:
        self._watches = watches
        self._pulls = pulls
        self._addresses = addresses
        self._allowed = settings.images
        self._of_settings = self._latest = capabilities_of(settings)
        self._told: Sequence[Mapping[str, ImageFacts]] = ()

    def capabilities(self) -> BackendCapabilities:
        """Return settings and images; images are unknown until an engine has reported its own."""
        images_of_engines = [
            watch.images for watch in self._watches.watches() if watch.reachable and watch.images is not None
        ]
        unavailable, addresses = self._pulls.unavailable(), self._addresses()
        same = len(images_of_engines) == len(self._told) and all(
            new is old for new, old in zip(images_of_engines, self._told, strict=True)
        )
        latest = self._latest
        if not same or (unavailable, addresses) != (latest.unavailable, latest.network_addresses):
            self._told = images_of_engines
            self._latest = replace(
                self._of_settings,
                images_there=self._merge_images(images_of_engines),
                unavailable=unavailable,
                network_addresses=addresses,
            )
        return self._latest

    def _merge_images(self, images_of_engines: Sequence[Mapping[str, ImageFacts]]) -> Mapping[str, ImageFacts] | None:
        found: dict[str, ImageFacts] = {}
        for images in images_of_engines:
            for name, facts in images.items():
                if image_matches(name, self._allowed):
                    found[name] = _combine_facts(facts, found.get(name, facts))
        return found if images_of_engines and len(found) <= IMAGES_MAX else None


def _combine_facts(one: ImageFacts, other: ImageFacts) -> ImageFacts:
    """Return the combined facts of two nodes: one node with a capability is enough."""
    made_for = one.made_for if one.made_for and other.made_for else ""
    return ImageFacts(one.has_command or other.has_command, made_for)
