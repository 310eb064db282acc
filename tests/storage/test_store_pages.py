"""Commands of the pages about rules, metrics, usage and filters run twice against a new store, as a reader would."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import DOCS, blocks
from tests.support.long import of_storage
from tests.support.needs import need_program
from tests.support.postgres import make_home, remove_leftovers
from tests.support.served import served, variables
from tests.support.waiting import until
from zoe_embedded.runtimes.runtime import CLONE

PAGES = ("rules", "filter-modules", "metrics", "slos", "usage", "monitoring", "rules-stored-objects")
REFUSED = {
    "zoe storage metric add failing": "no Prometheus is configured",
    "zoe storage metric add busy": "metric BUSY already exists",
    "zoe storage metric rm busy": "remove it first",
    "zoe storage filter rm mask": "remove the rule first",
    "zoe storage policy add": "says this already",
    "zoe storage policy move": "runs mask|no uploaded version of mask",
    "zoe storage policy apply default/docs": "default has no container docs",
    "zoe storage policy cancel 3": "job 3 is not running",
    "zoe storage policy resume 3": "no cancelled or failed job 3",
    "zoe storage slo set": "SLO needs a rate",
    "zoe storage slo rm": "default has no SLO",
    "zoe storage history EXECUTION": "execution EXECUTION does not exist",
    "zoe storage why": "does not exist",
}
"""Beginning of a line that may be refused in an empty store, or the second time -> words of its sentence, or others."""


@pytest.fixture
def home() -> Iterator[Path]:
    need_program("memcached")
    remove_leftovers()
    directory = make_home(large=True)
    yield directory
    shutil.rmtree(directory)


def lines() -> Iterator[str]:
    """Yield the commands of the pages for the tenant of this installation, whose newest rule is $LAST."""
    for page in PAGES:
        for block in blocks(DOCS / "store" / f"{page}.md"):
            for line in block.text.splitlines() if block.language == "sh" else ():
                if line.startswith("zoe ") and "--watch" not in line:
                    adapted = re.sub(r"\bacme\b", "default", re.sub(r"\s+#.*", "", line)).replace("40MB", "15MB")
                    yield re.sub(r"\b(rule-)?7\b", r"\1$LAST", adapted)


@of_storage
def test_commands_run_twice_or_say_why_not(home: Path, tmp_path: Path) -> None:
    shutil.copy(CLONE / "app_descriptions" / "filters" / "mask.wasm", tmp_path)
    program = next(block.text for block in blocks(DOCS / "store" / "metrics.md") if block.language == "python")
    (tmp_path / "busy.py").write_text(program)
    with served(home) as (running, output):
        until(lambda: "Ctrl-C stops" in output.read_text() or running.poll() is not None, output.read_text, 240.0)
        address = dict(re.findall(r"(ZOE_URL|ZOE_TOKEN_FILE)=(\S+)", output.read_text()))
        own = {**variables(home), **address, "PATH": f"{CLONE}/.venv/bin:/usr/bin:/bin"}
        newest, wrong = "", []
        for line in [*lines()] * 2:
            done = subprocess.run(
                ["sh", "-c", line],
                env={**own, "LAST": newest},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            reason = next((words for begin, words in REFUSED.items() if line.startswith(begin)), None)
            if done.returncode and not any(words in done.stderr for words in (reason or line).split("|")):
                wrong.append(f"{line}\n{done.stdout}{done.stderr}")
            if line.startswith(("zoe storage policy add", "zoe storage policy restore")) and not done.returncode:
                newest = done.stdout.splitlines()[1].split()[0]
    assert wrong == []
