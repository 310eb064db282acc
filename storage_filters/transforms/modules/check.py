"""Check a module: `python -m storage_filters.transforms.modules.check < FILE` prints its properties, or its error.

With a rule's parameters as JSON after the module, the module also runs over an empty object. Modules do not declare
their parameters. If a module refuses, and the last line of its `log` names a parameter that it read, that parameter is
`wrong`.

The program bounds its CPU and memory, so that compiling an uploaded file cannot use more.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Mapping

from storage_filters.transforms.modules.engine import (
    FORWARD,
    MODULE_BYTES_MAX,
    REVERSE,
    TRANSFORM,
    InvalidModuleError,
    Module,
    compile_module,
)
from storage_filters.transforms.modules.run import ModuleFaultError, ModuleRun

CPU_S = 10
_DATA_BYTES_MAX = 2**30
_EMPTY_OBJECT = {
    "tenant": "tenant",
    "container": "container",
    "object": "object",
    "size": "0",
    "content-type": "application/octet-stream",
}


def main() -> None:
    """Check the module on standard input."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_DATA, (_DATA_BYTES_MAX, _DATA_BYTES_MAX))
    try:
        found = compile_module(sys.stdin.buffer.read(MODULE_BYTES_MAX + 1))
        for entry in (TRANSFORM,) if found.reads else (FORWARD, REVERSE):
            ModuleRun(found, entry, {})
        wrong = wrong_parameter(found, json.loads(sys.argv[1])) if len(sys.argv) > 1 else None
        print(json.dumps({"reads": found.reads, "same_size": found.same_size, "wrong": wrong}))
    except InvalidModuleError as error:
        print(json.dumps({"error": str(error)}))
    except ModuleFaultError as error:
        print(json.dumps({"error": f"the module cannot start: {error}"}))


def wrong_parameter(module: Module, parameters: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the parameter for which a module refuses an empty object, and its message; None without one. parameters:
    names in lower case.
    """
    run = ModuleRun(module, TRANSFORM if module.reads else FORWARD, {**_EMPTY_OBJECT, **parameters})
    try:
        run.piece(b"", last=True)
    except ModuleFaultError as fault:
        said = run.last_message
        names = re.findall(r"[a-z0-9_-]+", said.lower())
        asked = (run.missing_names | parameters.keys()) - _EMPTY_OBJECT.keys()
        found = next((name for name in names if name in asked), None)
        return None if found is None else (found, said or str(fault))
    return None


if __name__ == "__main__":
    main()
