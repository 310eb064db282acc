from __future__ import annotations

import pytest

from tests.support.scheduling import component
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.checks.images import check_command, check_image, image_refusal
from zoe_lib.domain.cluster.platform import BackendCapabilities, EngineLimits, ImageFacts, Platform

ENGINE = EngineLimits(1, 1, 1)
TINY = "zoe/tiny:latest"


def codes(able: BackendCapabilities, one: Component) -> list[tuple[str, bool]]:
    checks = (check_image, check_command)
    return [(found.code, found.certain) for check in checks for found in check(one, Platform(capabilities=able))]


@pytest.mark.parametrize(
    ("able", "found"),
    [
        (BackendCapabilities(), []),
        (BackendCapabilities(images=("zoe/*",)), []),
        (BackendCapabilities(images=("other/*",)), [("image_not_allowed", True)]),
        (BackendCapabilities(images_there={}), [("image_absent", False)]),
        (BackendCapabilities(images_there={}, pulls=True), []),
        (BackendCapabilities(images_there={}, pulls=True, unavailable=(TINY,)), [("image_absent", False)]),
        (BackendCapabilities(images_there={TINY: ImageFacts()}), []),
        (
            BackendCapabilities(images_there={TINY: ImageFacts(made_for="linux/arm64")}),
            [("image_of_other_platform", False)],
        ),
    ],
)
def test_images(able: BackendCapabilities, found: list[tuple[str, bool]]) -> None:
    assert codes(able, component(command=("true",))) == found


@pytest.mark.parametrize(
    ("able", "found"),
    [
        (BackendCapabilities(), []),
        (BackendCapabilities(commandless=("zoe/*",)), [("no_command", True)]),
        (BackendCapabilities(images_there={TINY: ImageFacts(has_command=False)}), [("no_command", False)]),
        (BackendCapabilities(images_there={TINY: ImageFacts()}), []),
    ],
)
def test_components_without_a_command(able: BackendCapabilities, found: list[tuple[str, bool]]) -> None:
    assert codes(able, component()) == found
    assert codes(able, component(command=("true",))) == []


def test_a_refusal_names_what_may_run() -> None:
    able = BackendCapabilities(images=("b", "a"), why_no_image="it is new", image_hints={"x": "install x"})
    assert image_refusal("x:1", able) == (
        "image_not_allowed",
        "image x:1 cannot run on this back-end: it is new",
        "install x",
    )
    assert image_refusal("y", able) == (
        "image_not_allowed",
        "image y cannot run on this back-end: it is new",
        "allowed images: a, b",
    )
    assert image_refusal("a", able) is None


def test_only_an_engine_minds_names() -> None:
    assert image_refusal("Shell/x", BackendCapabilities()) is None
    refused = image_refusal("Shell/x", BackendCapabilities(engine=ENGINE))
    assert refused is not None
    assert refused[0] == "image_name_invalid"
