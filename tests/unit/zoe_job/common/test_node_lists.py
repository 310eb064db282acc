"""Lists of nodes as Slurm writes them."""

from __future__ import annotations

import pytest

from zoe_job.common.node_lists import NODES_MAX, BadNodesError, expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("a", ["a"]),
        ("127.0.1.1,127.0.1.2", ["127.0.1.1", "127.0.1.2"]),
        ("a[1-3,07-09],b", ["a1", "a2", "a3", "a07", "a08", "a09", "b"]),
        ("n[9-11]x", ["n9x", "n10x", "n11x"]),
        ("n[3-1]", []),
    ],
)
def test_names_are_written_out(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize("text", ["a[", "a]", "a[1", "a[x]", "a[1-]", "a[1][2]", ",a", "a[0-999999999]", "[" * 10_000])
def test_other_texts_and_too_many_names_are_refused(text: str) -> None:
    with pytest.raises(BadNodesError):
        expand(text)
    assert len(expand(f"a[1-{NODES_MAX}]")) == NODES_MAX
