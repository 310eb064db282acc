"""`make dev`: the stack of `make serve` with reload: a saved file restarts the processes that import it.

Vite serves the web UI, replaces changed modules in the open page, and forwards requests to the API. Running executions
go on while the master restarts.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from scripts.web import BIN, WEB, install
from zoe_embedded.demos.preparing import prepare_home
from zoe_embedded.demos.serving import tell_address
from zoe_embedded.demos.storage import FAILURES
from zoe_embedded.processes.children import end_with_parent
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.stack import Stack, StackError

ROOT = Path(__file__).resolve().parent.parent
LOOK_S = 0.3
API, MASTER = "zoe_api.main", "zoe_master.main"
SHARED = frozenset({"zoe_lib", "zoe_client", "storage_bridge"})
READERS: Mapping[str, frozenset[str]] = {
    "zoe_api": frozenset({API}),
    "zoe_master": frozenset({MASTER}),
    **dict.fromkeys([*SHARED, "zoe_simulator", "zoe_job", "app_descriptions"], frozenset({API, MASTER})),
}
"""Folder -> the processes that read its files."""


def main() -> int:
    """Serve with reload until Ctrl-C."""
    console = Console(soft_wrap=True)
    end_by_keyboard_interrupt()
    try:
        install()
        home, settings = prepare_home(None, spark=False)
        with Stack(home, on_demand=True, settings=settings) as stack, vite(stack.url):
            tell_address(console, stack)
            reload_for_ever(stack, Changes(ROOT), lambda text: console.print(text, markup=False))
    except FAILURES as error:
        console.print(str(error), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        return 0


@contextlib.contextmanager
def vite(api_url: str) -> Iterator[None]:
    """Run Vite's server, which prints its own address."""
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "ZOE_URL": api_url}
    process = subprocess.Popen(
        [str(BIN / "npm"), "run", "-s", "dev"],
        cwd=WEB,
        env=env,
        stdin=subprocess.DEVNULL,
        process_group=0,
        preexec_fn=end_with_parent,  # noqa: PLW1509 - it takes no lock
    )
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


class Changes:
    """Finds saved files, by their modification times."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._times = self._read()

    def next_files(self) -> list[Path]:
        """Return the files that were changed, added or removed since the last call, relative to the root."""
        before, self._times = self._times, self._read()
        return sorted({path for path, _ in before.items() ^ self._times.items()})

    def _read(self) -> dict[Path, float]:
        times = {}
        for folder in READERS:
            for path in (self._root / folder).rglob("*"):
                if path.suffix in {".py", ".json", ".mako"}:
                    with contextlib.suppress(FileNotFoundError):
                        times[path.relative_to(self._root)] = path.stat().st_mtime
        return times


def restarted_by(files: list[Path]) -> frozenset[str]:
    """Return the processes to restart."""
    return frozenset().union(*(READERS[path.parts[0]] for path in files))


def reload_for_ever(stack: Stack, changes: Changes, say: Callable[[str], None]) -> NoReturn:
    """Restart processes after changes. A process that ends by itself, as by an error in a saved file, starts again
    after the next change.
    """
    while True:
        time.sleep(LOOK_S)
        if not (files := changes.next_files()):
            continue
        began_s = time.monotonic()
        names = restarted_by(files)
        say(f"{files[0]}{f' and {len(files) - 1} more' if files[1:] else ''}: restarting {', '.join(sorted(names))}")
        try:
            stack.restart(names)
        except StackError as error:
            say(str(error))
        else:
            say(f"ready after {time.monotonic() - began_s:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
