"""Checks an uploaded module in a process of its own, with bounds: to compile one is all the work that it causes here.

`python -m storage_controller.module_check < FILE` writes a line of JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys

from storage_controller.answers import Refused
from storage_filters.module_engine import FORWARD, MODULE_BYTES_MAX, REVERSE, TRANSFORM, InvalidModuleError, compiled
from storage_filters.module_run import ModuleFaultError, ModuleRun

_CPU_S = 10
_WALL_S = 60.0
_DATA_BYTES_MAX = 2**30


def kind_of(content: bytes) -> tuple[bool, bool]:
    """Return whether a module runs when objects are read, and whether it keeps their size. Refused."""
    if len(content) > MODULE_BYTES_MAX:  # before a process is started for it
        raise Refused(400, f"a module has at most {MODULE_BYTES_MAX} bytes")
    command = [sys.executable, "-P", "-m", "storage_controller.module_check"]
    try:
        done = subprocess.run(command, input=content, capture_output=True, timeout=_WALL_S, check=False)
        said = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        raise Refused(400, f"the module cannot be compiled within {_CPU_S} s of CPU and 1 GiB of memory") from None
    if "error" in said:
        raise Refused(400, said["error"])
    return bool(said["reads"]), bool(said["same_size"])


def main() -> None:
    """Check the module on standard input."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_DATA, (_DATA_BYTES_MAX, _DATA_BYTES_MAX))
    try:
        found = compiled(sys.stdin.buffer.read(MODULE_BYTES_MAX + 1))
        for entry in (TRANSFORM,) if found.reads else (FORWARD, REVERSE):
            ModuleRun(found, entry, {})
        print(json.dumps({"reads": found.reads, "same_size": found.same_size}))
    except InvalidModuleError as error:
        print(json.dumps({"error": str(error)}))
    except ModuleFaultError as error:
        print(json.dumps({"error": f"the module cannot begin: {error}"}))


if __name__ == "__main__":
    main()
