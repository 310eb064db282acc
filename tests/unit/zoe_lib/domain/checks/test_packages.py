from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.scheduling import component
from zoe_lib.domain.applications.application import Component, ComponentSource
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.checks.packages import check_build_requirements, check_requirements, check_sources
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform

ASKING = component(
    requirements=("pandas",), build_requirements=True, sources=(ComponentSource("https://example.org/a.git"),)
)
UNABLE = Platform(
    capabilities=BackendCapabilities(why_no_packages="x", why_no_sources="y", package_builds=False),
)


@pytest.mark.parametrize(
    ("check", "place", "code", "words"),
    [
        (check_requirements, "requirements", "no_packages", "component c has requirements, but x"),
        (check_sources, "sources", "no_sources", "component c has sources, but y"),
        (check_build_requirements, "build_requirements", "no_package_builds", "only wheels are taken here"),
    ],
)
def test_unavailable_packages_are_found_only_if_requested(
    check: Callable[[Component, Platform], Iterator[Finding]], place: str, code: str, words: str
) -> None:
    (found,) = check(ASKING, UNABLE)
    assert (found.place, found.code, found.certain) == ((place,), code, True)
    assert words in found.message
    assert list(check(component(), UNABLE)) == list(check(ASKING, Platform())) == []
