"""Every command of these pages is run, in order and twice, against a real Zoe, and shows what the page says."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import DOCS, Block, blocks
from tests.support.ending import cancel_all
from tests.support.stack import environment
from zoe_client import Client
from zoe_embedded.stack import Stack

TIMEOUT_S = 120
MARK = "@@@ block"


@pytest.fixture(autouse=True)
def nothing_left(stack: Stack) -> Iterator[None]:
    yield
    with Client(stack.url, stack.token) as client:
        cancel_all(client)
    for name in ("drop.csv", "repaired", "numbers", "chain.out", "checkpoint.out", "report.out"):
        (stack.workspace / name).unlink(missing_ok=True)
    for pattern in ("slurm-*.out", "sums-*.out", "part-*.out"):
        for path in stack.workspace.glob(pattern):
            path.unlink()


PAGES = {
    **{name: (name,) for name in ("workflows", "workflow-lists", "from-slurm", "slurm-in-jobs")},
    **{name: (name,) for name in ("from-original-zoe", "schedules")},
    "from-airflow": ("from-airflow", "airflow-sensors"),
}
"""Pages whose commands are run one after the other, by the first one."""


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_what_happens(stack: Stack, tmp_path: Path, page: str) -> None:
    found = [block for name in PAGES[page] for block in blocks(DOCS / "use" / f"{name}.md")]
    for _ in range(2):  # a second try of a page meets the leftovers of the first
        for block in found:
            if block.file is not None:
                (tmp_path / block.file).write_text(block.text)
        _run([block for block in found if block.language == "sh"], stack, tmp_path)


def _run(shell: list[Block], stack: Stack, directory: Path) -> None:
    script = "".join(f"echo '{MARK}'\n{block.text}" for block in shell)
    done = subprocess.run(
        ["bash", "-e"],
        input=f"exec 2>&1\n{script}",
        env=environment(stack),
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    outputs = done.stdout.split(f"{MARK}\n")[1:]
    for block, output in zip(shell, outputs, strict=True):
        assert block.shows, f"nothing is expected of:\n{block.text}"
        for words in block.shows:
            assert words in output, f"{block.text}should show {words!r}, but shows:\n{output}"
