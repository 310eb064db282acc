"""Find the parts of an application that cannot run on this platform, before it starts. Pure.

Submission, `validate`, `plan` and forms call it, and back-ends refuse by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.checks.engine import check_amounts
from zoe_lib.domain.checks.finding import Finding, Target
from zoe_lib.domain.checks.images import check_command, check_image
from zoe_lib.domain.checks.networks import check_addresses, check_devices
from zoe_lib.domain.checks.nodes import check_cores_limit, check_elastic_instances
from zoe_lib.domain.checks.packages import check_build_requirements, check_requirements, check_sources
from zoe_lib.domain.checks.progress import check_progress_file
from zoe_lib.domain.checks.secrets import check_secrets
from zoe_lib.domain.checks.store import check_store_uris
from zoe_lib.domain.checks.volumes import check_block_volumes, check_volumes
from zoe_lib.domain.checks.workspaces import check_workspaces
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.values.frozen import changed

COMPONENT_CHECKS: tuple[Callable[[Component, Platform], Iterator[Finding]], ...] = (
    check_image,
    check_command,
    check_requirements,
    check_sources,
    check_progress_file,
    check_build_requirements,
    check_volumes,
    check_workspaces,
    check_amounts,
    check_cores_limit,
    check_elastic_instances,
)
"""Checks of a component; the places of their findings are relative to it."""
APPLICATION_CHECKS: tuple[Callable[[Application, Target], Iterator[Finding]], ...] = (
    check_devices,
    check_addresses,
    check_store_uris,
    check_secrets,
    check_block_volumes,
)


def findings(application: Application, target: Target) -> list[Finding]:
    """Return all findings, those of components first; unknown facts cause none."""
    of_components = [
        changed(finding, place=("components", index, *finding.place))
        for index, component in enumerate(application.components)
        for check in COMPONENT_CHECKS
        for finding in check(component, target.platform)
    ]
    return [*of_components, *(finding for check in APPLICATION_CHECKS for finding in check(application, target))]
