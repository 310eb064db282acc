"""The programs, settings and commands in the pages on the SDK and on operations are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.documents import DOCS, ROOT, blocks
from tests.support.stack import environment
from zoe_embedded.stack import Stack
from zoe_lib.sealing import KEY_FILE
from zoe_lib.settings.config import Settings

TIMEOUT_S = 300
OPERATIONS = DOCS / "operate/operations.md"
BACKUPS = DOCS / "operate/backups.md"
SDK_BLOCKS = [*blocks(DOCS / "use/sdk.md"), *blocks(DOCS / "use/sdk-more.md")]


def run_python(text: str, env: dict[str, str], here: Path = ROOT) -> str:
    path = os.pathsep.join([str(ROOT), env.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        env={**env, "PYTHONPATH": path},
        cwd=here,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_examples_of_the_sdk(stack: Stack, tmp_path: Path) -> None:
    program = "\n".join(block.text for block in SDK_BLOCKS if block.language == "python")
    output = run_python(program, environment(stack), tmp_path)
    for words in ("admin", "succeeded 0 exited", "main-0 local 0", "hello from x", "submitted", "from python"):
        assert words in output
    for words in ("map 7\nmap 14\nmap 21", "asyncio succeeded succeeded succeeded", "<from a notebook (x"):
        assert words in output
    for words in ("cancelled", "never_fits", "does not exist, or you may not see it", "results/made/a", "lines: 2"):
        assert words in output


def test_settings_of_the_example(tmp_path: Path) -> None:
    file = tmp_path / "zoe.toml"
    whole, *parts = [block.text for block in blocks(OPERATIONS) if block.language == "toml"]
    for part in parts:
        file.write_text(part)
        assert Settings.from_file(file)
    file.write_text(whole)
    settings = Settings.from_file(file)
    assert settings.local_nodes[0].name == "here"
    assert settings.local_images["zoe/tiny"].path


def test_a_backup_of_the_embedded_database(stack: Stack, tmp_path: Path) -> None:
    texts = [block.text for block in blocks(BACKUPS) if block.language == "sh"]
    (commands,) = [text for text in texts if "bin/zoe-setup backup" in text]
    (tmp_path / ".venv").symlink_to(sys.prefix)
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", commands],
        env={**environment(stack), "ZOE_HOME": str(stack.home.path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"mode 600\nIt contains: the database; {KEY_FILE}" in done.stdout
    assert (tmp_path / "zoe.backup").stat().st_mode & 0o777 == 0o600
