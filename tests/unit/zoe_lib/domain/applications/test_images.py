"""Image names in Docker's grammar; each line was checked with Docker Engine 20.10."""

from __future__ import annotations

import pytest

from zoe_lib.domain.applications.images import is_reference

DIGEST = "sha256:" + "0" * 64
VALID = (
    "shell",
    "zoe/spark",
    "x__y",
    "x--y",
    "a.b_c-d/e",
    "zoe/spark:1.2-Beta_3",
    f"zoe/spark@{DIGEST}",
    f"zoe/spark:latest@{DIGEST}",
    "localhost/y",
    "localhost:5000/team/y:1",
    "HOST:5000/y",
    "registry.example.org/team/tool",
    "a" * 63,
)
INVALID = (
    "",
    "zoe/",
    "/zoe",
    "zoe//x",
    "Zoe/x",
    "zoe/X",
    "a:b:c",
    "a@b",
    "a@sha256:0",
    "a..b",
    "zoe/x:",
    "-x",
    "x_",
    "x___y",
    "x.-y",
    "localhost:x/y",
    "HOST/y",
    "0" * 64,
    "zoe/x:" + "t" * 129,
    "x/" + "a" * 250,
)


@pytest.mark.parametrize("image", VALID)
def test_valid_names(image: str) -> None:
    assert is_reference(image)


@pytest.mark.parametrize("image", INVALID)
def test_invalid_names(image: str) -> None:
    assert not is_reference(image)
