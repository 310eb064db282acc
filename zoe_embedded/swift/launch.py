"""Run a server of Swift with the interpreter of its environment: `<program> <configuration> ...`.

Swift reads storage policies and limits from /etc/swift at import; this program reads those of another directory again.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from swift.common import constraints, storage_policy, utils

from storage_gateway.raw_heads import serve_raw_heads


def launch(program: str, configuration: str) -> None:
    """Run the program itself, with the policies and limits beside its configuration."""
    utils.set_swift_dir(str(Path(configuration).parent))
    storage_policy.reload_storage_policies()
    constraints.reload_constraints()
    if Path(program).name == "swift-proxy-server":
        serve_raw_heads()
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    launch(sys.argv[0], sys.argv[1])
