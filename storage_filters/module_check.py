"""Checks a module: `python -m storage_filters.module_check < FILE` writes a line of JSON, what it is or why it is none.

It bounds its own CPU and memory, so that compiling a file that somebody uploaded cannot take more.
"""

from __future__ import annotations

import json
import resource
import sys

from storage_filters.module_engine import FORWARD, MODULE_BYTES_MAX, REVERSE, TRANSFORM, InvalidModuleError, compiled
from storage_filters.module_run import ModuleFaultError, ModuleRun

CPU_S = 10
_DATA_BYTES_MAX = 2**30


def main() -> None:
    """Check the module on standard input."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
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
