"""Every command of the tutorial is run, in order, against a real Zoe, and shows what the tutorial says."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.docs.documents import DOCS, ROOT, Block, blocks
from tests.support.stack import environment
from zoe_embedded.stack import Stack

TUTORIAL = DOCS / "tutorial.md"
TIMEOUT_S = 300
MARK = "@@@ block"


def commands(block: Block) -> str:
    """What a reader types, without what starts the stack."""
    return "".join(line for line in block.text.splitlines(keepends=True) if not line.startswith("make "))


def test_tutorial(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "app_descriptions").symlink_to(ROOT / "app_descriptions")
    found = blocks(TUTORIAL)
    for block in found:
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text)
    shell = [block for block in found if block.language == "sh"]
    script = "".join(f"echo '{MARK}'\n{commands(block)}" for block in shell)
    done = subprocess.run(
        ["bash", "-e"],
        input=f"exec 2>&1\n{script}",
        env={**environment(stack), "WORKSPACE": str(stack.workspace)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    outputs = done.stdout.split(f"{MARK}\n")[1:]
    for block, output in zip(shell, outputs, strict=True):
        for words in block.shows:
            assert words in output, f"{block.text}should show {words!r}, but shows:\n{output}"


def test_every_block_with_commands_is_checked() -> None:
    for block in blocks(TUTORIAL):
        if block.language == "sh" and commands(block).strip():
            assert block.shows, f"nothing is expected of:\n{block.text}"
