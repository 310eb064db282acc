"""Commands in pages: all are valid, and those that need no other machine run twice, as a reader would repeat them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.docs.documents import DOCS, ROOT, blocks
from tests.support.documents import job
from tests.support.ending import cancel_all
from tests.support.long import of_test_all
from tests.support.stack import environment
from zoe_cli.main import command
from zoe_client import Client
from zoe_embedded.stack import Stack

TIMEOUT_S = 240
HAND_WRITTEN = [page for page in sorted(DOCS.rglob("*.md")) if page.parent.name not in {"reference", "decisions"}]
_ID = re.compile(r"\bx1m7xhnzn3f4144\b")


def lines_of(page: Path) -> Iterator[str]:
    """Yield the lines of shell blocks that call `zoe`, without comments and what follows a pipe."""
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.splitlines():
                for found in re.findall(r"(?:^|\$\()\s*(zoe [^#|)]*)", line):
                    yield re.split(r" >>? | < |&&|\|\|", found)[0].strip()


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_command_is_valid(page: Path) -> None:
    wrong = {line: why for line in lines_of(page) if (why := refusal(words_of(line)[1:]))}
    assert wrong == {}


def words_of(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quoted text with a pipe or a bracket was cut
        return shlex.split(line.partition('"')[0].partition("'")[0])


def refusal(words: list[str]) -> str:
    """Return why the command line is invalid; empty if it is valid. Nothing runs, and no value is read."""
    context: Any = command().make_context("zoe", list(words), resilient_parsing=True)
    group, rest = command(), [*context._protected_args, *context.args]
    while hasattr(group, "commands"):
        name = rest[0] if rest else ""
        if name not in group.commands:
            if not group.invoke_without_command:
                return f"{name} is not a command"
            break
        group = group.commands[rest.pop(0)]
    known = {text for parameter in group.params for text in (*parameter.opts, *parameter.secondary_opts)} | {"-h"}
    own = rest[: rest.index("--")] if "--" in rest else rest
    unknown = [word for word in own if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]
    passes_on = group.context_settings.get("ignore_unknown_options", False)
    return f"{' '.join(unknown)} is unknown" if unknown and not passes_on else ""


@dataclass(frozen=True)
class Page:
    """How the commands of a page are run: changes make examples fit this installation; `later` needs another one."""

    changes: tuple[tuple[str, str], ...] = ()
    later: tuple[str, ...] = ()
    """Beginnings of lines that are not run."""
    settings: dict[str, str] = field(default_factory=dict)


_SMALL = (("0-999%50", "0-9%5"), ("0-99%10", "0-9%5"), ("0-199%20", "0-9%5"))
PAGES = {
    "operate/first-day.md": Page(settings={"EDITOR": "true"}),
    "operate/nodes.md": Page(
        changes=(("2026-12-01", "2036-12-01"), ("lose node-3 ", 'lose "$(zoe nodes -o name | head -n 1)" ')),
        later=("zoe nodes lose rack",),
    ),
    "operate/prices.md": Page(later=("zoe admin statement close",)),
    "use/deadlines.md": Page(changes=(("2026-12-01", "2036-12-01"),), later=("zoe plan",)),
    "use/batch.md": Page(
        changes=(("0-999%50", "0-9%5"), ("0-99%10", "0-9%5")),
        later=("zoe cancel $sweep", "zoe array requeue", "zoe events -f"),
    ),
    "use/notifications.md": Page(later=("zoe notify set me", "zoe notify test")),
    "use/sharing.md": Page(changes=(("zoe secret set wandb ", "echo s3cret | zoe secret set wandb "),)),
    "use/promises.md": Page(later=("make", "python", "zoe workflow"), changes=_SMALL),
    "use/using.md": Page(later=("zoe spark-submit", "zoe ssh", "scp", "pip", "zoe login", "zoe exec")),
}

CHEAP = ("operate/nodes.md", "use/notifications.md", "use/sharing.md", "use/using.md")
"""They run in tier 2; the others have dozens of commands."""


@pytest.fixture
def folder(tmp_path: Path, stack: Stack) -> Iterator[Path]:
    """A folder with the files that pages name; all that their commands leave is removed."""
    described = job("sh", "-c", "sleep 1")
    for name in ("app", "nightly", "careful", "train", "job", "sweep"):
        (tmp_path / f"{name}.json").write_text(json.dumps({**described, "time_limit_s": 600}))
    for name in ("train", "prepare", "report"):
        (tmp_path / f"{name}.py").write_text("print('done')\n")
    for name in ("clean", "fetch"):
        (tmp_path / f"{name}.sh").write_text("echo done\n")
    (tmp_path / "job.sh").write_text("#!/bin/bash\n#SBATCH --mem=64M\necho done\n")
    (tmp_path / "readings.csv").write_text("1,2\n")
    (tmp_path / "db.password").write_text("s3cret")
    (tmp_path / "nightly.yaml").write_text(
        "version: 1\nname: nightly\nsteps: [{name: one, image: zoe/tiny, command: [echo, one], memory: 64MiB}]\n"
    )
    (tmp_path / "prices.json").write_text(
        next(b.text for b in blocks(DOCS / "operate/prices.md") if b.language == "json")
    )
    shutil.copytree(ROOT / "app_descriptions", tmp_path / "app_descriptions")
    yield tmp_path
    with Client(stack.url, stack.token) as client:
        for array in client.arrays.list().arrays:
            if array.ended_at_s is None:
                client.arrays.cancel(array.id)
        cancel_all(client)


@pytest.mark.parametrize(
    "name", [*CHEAP, *(pytest.param(name, marks=of_test_all) for name in PAGES if name not in CHEAP)]
)
def test_commands_of_a_page_run_twice(name: str, folder: Path, stack: Stack) -> None:
    page = PAGES[name]
    with Client(stack.url, stack.token) as client:
        running = client.submit(job("sh", "-c", "sleep 600", name="example")).id
    texts = [block.text for block in blocks(DOCS / name) if block.language == "sh"]
    script = "".join(adapted(text, page, running) for text in texts)
    for turn in ("first", "second"):
        done = run(script, folder, environment(stack) | page.settings)
        assert done.returncode == 0, f"{turn} run:\n{done.stdout}"


def adapted(text: str, page: Page, running: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(page.later)] if page.later else text.splitlines()
    joined = "\n".join(lines)
    for old, new in page.changes:
        joined = joined.replace(old, new)
    return _ID.sub(running, f"{joined}\n")


def run(script: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the lines until one fails, and print each before its output."""
    return subprocess.run(
        ["bash", "-e"],
        input=f"exec 2>&1; set -x\n{script}",
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
