from __future__ import annotations

import pytest

from tests.support.scheduling import component, node
from zoe_lib.domain.checks.nodes import check_cores_limit, check_elastic_instances
from zoe_lib.domain.cluster.platform import BackendCapabilities, EngineLimits, Platform

ENGINE = BackendCapabilities(engine=EngineLimits(1, 1, 1))


@pytest.mark.parametrize(("limit", "noted"), [(None, False), (4000, False), (4001, True)])
def test_a_limit_above_the_cores_of_all_nodes_is_noted(limit: int | None, noted: bool) -> None:
    asking, nodes = component(cores_limit_milli=limit), (node("a", 2), node("b", 4))
    found = list(check_cores_limit(asking, Platform(nodes, ENGINE)))
    assert [(finding.code, finding.certain) for finding in found] == [("cores_limit_above_nodes", False)] * noted
    assert list(check_cores_limit(asking, Platform(nodes))) == []
    assert list(check_cores_limit(asking, Platform((), ENGINE))) == []


def test_elastic_instances_that_fit_no_node_are_noted() -> None:
    asking = component(cores=8, essential_count=0, total_count=3)
    (found,) = check_elastic_instances(asking, Platform((node("a", 4),)))
    assert (found.place, found.code, found.certain) == (("resources",), "elastic_never_fits", False)
    assert list(check_elastic_instances(asking, Platform((node("a", 8),)))) == []
    assert list(check_elastic_instances(asking, Platform())) == []
