"""The page about laptops says how much each runtime takes."""

from __future__ import annotations

import pytest

from tests.docs.documents import ROOT
from zoe_embedded.runtimes import lab, mpi, runtime

PAGE = (ROOT / "docs/start/laptop.md").read_text()


@pytest.mark.parametrize(
    "size_mb", [lab.SIZE_MB, mpi.SIZE_MB, runtime.SPARK_MB, runtime.SPARK_MB + runtime.NOTEBOOK_MB]
)
def test_the_page_says_the_size_of_a_runtime(size_mb: int) -> None:
    assert f"{size_mb:,} MB" in PAGE
