"""Check that the back-end can fetch the packages and repositories of a component."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import Platform


def check_requirements(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for requirements on a back-end that installs no packages."""
    if component.requirements and (why := platform.capabilities.why_no_packages):
        message = f"component {component.name} has requirements, but {why}"
        yield Finding(("requirements",), "no_packages", message, "use an image that has the packages")


def check_sources(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for sources on a back-end that clones no repositories."""
    if component.sources and (why := platform.capabilities.why_no_sources):
        message = f"component {component.name} has sources, but {why}"
        hint = "upload the files (`zoe cp`), or clone in the command with an image that has git"
        yield Finding(("sources",), "no_sources", message, hint)


def check_build_requirements(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for packages to build on a back-end that accepts only wheels."""
    if component.build_requirements and not platform.capabilities.package_builds:
        message = f"component {component.name} has build_requirements, but only wheels are taken here"
        hint = "name versions that have wheels, or use an image that has the packages"
        yield Finding(("build_requirements",), "no_package_builds", message, hint)
