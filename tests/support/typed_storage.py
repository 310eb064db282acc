"""`zoe storage` as typed, from API and controller to the proxy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.api import Api
from tests.support.whole_storage import Whole, settings_of
from zoe_embedded.runtimes.runtime import CLONE

Typed = Callable[..., tuple[int, str]]


@contextmanager
def typed_storage(whole: Whole, database: str, home: Path) -> Iterator[tuple[Typed, Api]]:
    """Return a function that runs the command, as an admin unless `token` is given, and returns its exit code and
    output.
    """
    api = Api(database, **settings_of(whole, home))
    try:

        def zoe(*arguments: str, token: str = api.admin) -> tuple[int, str]:
            environment = {"ZOE_URL": api.url, "ZOE_TOKEN": token, "HOME": str(home), "COLUMNS": "200"}
            command = [sys.executable, "-c", "from zoe_cli.main import main; main()", "storage", *arguments]
            done = subprocess.run(command, env=environment, cwd=CLONE, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

        yield zoe, api
    finally:
        api.close()
