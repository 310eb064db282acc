"""Preparation of `make serve` and the demos: read the user's settings, and check the prerequisites."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from zoe_embedded.demos.given_settings import GivenSettingsError, given_settings
from zoe_embedded.home import Home
from zoe_embedded.processes.docker_engine import ENGINES, check_engine_of
from zoe_embedded.runtimes.needs import NeedsError, check
from zoe_embedded.runtimes.runtime import CLONE
from zoe_lib.settings.config import Settings
from zoe_lib.settings.file_settings import misspelt
from zoe_master.backends.base import BackendError

_OF_LOGS = ("log_file_bytes_max", "log_files_max")


class NotReadyError(Exception):
    """A setting is wrong, or the machine lacks something; the message says what to do."""


def prepare_home(
    file: Path | None,
    programs: Sequence[str] = (),
    spark: bool = True,
    backends: Sequence[str] = ("local",),
    backend: str | None = None,
) -> tuple[Home, dict[str, object]]:
    """Return the home and the given settings. Raises NotReadyError before anything is built or started.

    backends: the possible ones. backend: the chosen one, whatever the settings say.
    """
    try:
        home, given = Home.find(CLONE), given_settings(file, backends=backends)
        if backend is not None:
            given["backend"] = backend
        check(home, programs, spark)
        backend = str(given.get("backend", ""))
        if backend in ENGINES and (unheld := check_engine_of(backend, given)):
            print(f"warning: {unheld}", file=sys.stderr)
    except (GivenSettingsError, NeedsError, BackendError) as error:
        raise NotReadyError(str(error)) from None
    for warning in misspelt(Settings, os.environ):
        print(f"warning: {warning}", file=sys.stderr)
    for name in _OF_LOGS:
        if name in given:  # for `log_to`, which all programs here use
            os.environ[f"ZOE_{name}".upper()] = str(given[name])
    return home, given
