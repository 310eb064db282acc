"""What service definitions made before 0.2 name. The factories of the filters are tried in `tests/storage`."""

from __future__ import annotations

import subprocess
import sys


def test_the_controller_starts_by_its_former_module() -> None:
    former, present = (
        subprocess.run([sys.executable, "-m", name], capture_output=True, text=True, check=False, env={})
        for name in ("storage_bridge.controller", "storage_controller")
    )
    assert present.returncode == 2
    assert (former.returncode, former.stderr) == (present.returncode, present.stderr)
