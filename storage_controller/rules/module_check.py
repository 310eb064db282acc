"""Checks an uploaded module in a separate process: the upload causes no more work than one bounded compilation."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from storage_controller.answers import RequestRefusedError
from storage_filters.transforms.modules.check import CPU_S
from storage_filters.transforms.modules.engine import MODULE_BYTES_MAX

_log = logging.getLogger(__name__)
_WALL_S = 60.0


def kind_of(content: bytes) -> tuple[bool, bool]:
    """Return whether a module runs when objects are read, and whether it keeps their size. Raises
    RequestRefusedError.
    """
    said = _check(content)
    return bool(said["reads"]), bool(said["same_size"])


def wrong_parameter(content: bytes, parameters: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the parameter that a module lacks or refuses, with its message; None if it runs. Raises
    RequestRefusedError.
    parameters: names in lower case.
    """
    wrong = _check(content, json.dumps(dict(parameters)))["wrong"]
    return None if wrong is None else (str(wrong[0]), str(wrong[1]))


def _check(content: bytes, *more: str) -> Mapping[str, Any]:
    if len(content) > MODULE_BYTES_MAX:  # before a process is started for it
        raise RequestRefusedError(400, f"a module has at most {MODULE_BYTES_MAX} bytes")
    command = [sys.executable, "-P", "-m", "storage_filters.transforms.modules.check", *more]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=_WALL_S, check=False)
        said = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        _log.warning("the check of a module failed: %r", error)
        raise RequestRefusedError(
            400, f"the module cannot be compiled within {CPU_S} s of CPU and 1 GiB of memory"
        ) from None
    if "error" in said:
        raise RequestRefusedError(400, said["error"])
    return dict(said)
