"""The price list and the commands of the page on prices are used as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.docs.documents import DOCS, blocks
from tests.support.stack import environment
from zoe_embedded.stack import Stack

PAGE = DOCS / "operate/prices.md"


def test_the_commands_of_the_page_on_prices(stack: Stack, tmp_path: Path) -> None:
    (document,) = [block.text for block in blocks(PAGE) if block.language == "json"]
    (tmp_path / "prices.json").write_text(document)
    # The page closes a month, which needs a list: of the past here, so that the month has one.
    past = {**json.loads(document), "from": "2026-01-01"}
    (tmp_path / "past.json").write_text(json.dumps(past))
    commands = [block.text for block in blocks(PAGE) if block.language == "sh"]
    assert len(commands) == 4
    text = "\n".join(["zoe admin prices set past.json --past", *commands])
    env = environment(stack)
    env["PATH"] = f"{Path(sys.executable).parent}:{env.get('PATH', '')}"
    done = subprocess.run(
        ["bash", "-e", "-c", text], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "The price list is valid." in done.stderr
    assert (tmp_path / "statement.csv").read_text().startswith("month,currency,tenant,user")
    assert "refuses" in done.stdout
