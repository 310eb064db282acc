"""Every command of the tutorial is run, in order, against a real Zoe, and shows what the tutorial says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.documents import DOCS, ROOT, Block, blocks
from tests.local.support import needs_root
from tests.support.long import of_test_all
from tests.support.stack import environment
from zoe_embedded.stack import Stack

TUTORIAL = (*blocks(DOCS / "start/tutorial.md"), *blocks(DOCS / "start/components.md"))
TIMEOUT_S = 300
MARK = "@@@ block"


def commands(block: Block) -> str:
    """What a reader types, without what starts the stack."""
    return "".join(line for line in block.text.splitlines(keepends=True) if not line.startswith("make "))


def test_tutorial(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "app_descriptions").symlink_to(ROOT / "app_descriptions")
    for block in TUTORIAL:
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text)
    shell = [block for block in TUTORIAL if block.language == "sh"]
    script = "".join(f"echo '{MARK}'\n{commands(block)}" for block in shell)
    done = subprocess.run(
        ["bash", "-e"],
        input=f"exec 2>&1\n{script}",
        env=environment(stack),
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


@of_test_all
@needs_root
def test_the_tutorial_holds_on_a_machine_whose_memory_others_use(tmp_path: Path) -> None:
    """The same once more, with its own stack, where /proc/meminfo says that 45% of the memory is available."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    total_kib = next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))
    told = [f"MemAvailable: {total_kib * 45 // 100} kB" if line.startswith("MemAvailable:") else line for line in lines]
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("\n".join(told) + "\n")
    test = f"{__file__}::{test_tutorial.__name__}"
    script = 'mount --bind "$1" /proc/meminfo && exec "$2" -m pytest -q -p no:cacheprovider "$3"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(meminfo), sys.executable, test],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=2 * TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_block_with_commands_is_checked() -> None:
    for block in TUTORIAL:
        if block.language == "sh" and commands(block).strip():
            assert block.shows, f"nothing is expected of:\n{block.text}"
