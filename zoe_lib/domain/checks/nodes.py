"""Check for amounts that no node is large enough for, though the essential services may fit."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_client.words.amounts import cores
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.cluster import elastic_never_fits, lacks_labels
from zoe_lib.domain.cluster.platform import Platform


def check_cores_limit(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a note on a limit of cores without effect, since no node has more; only engines set limits."""
    there = [node.total.cores_milli for node in platform.nodes if lacks_labels(component, node) is None]
    limit = component.cores_limit_milli
    if platform.capabilities.engine is not None and limit and there and limit > max(there):
        message = (
            f"component {component.name}: a limit of {cores(limit)} has no effect, since the largest "
            f"node for it has only {cores(max(there))}"
        )
        hint = "remove the limit, or lower it"
        yield Finding(("resources", "limits", "cores"), "cores_limit_above_nodes", message, hint, certain=False)


def check_elastic_instances(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a note on elastic instances that fit no node; the application runs without them."""
    too_large = elastic_never_fits(component, platform.nodes)
    if too_large is not None:
        yield Finding(("resources",), "elastic_never_fits", too_large.sentence, too_large.hint, certain=False)
