"""What scripts made before 0.2 name."""

from __future__ import annotations

import subprocess
import sys


def test_the_simulator_starts_by_its_former_module() -> None:
    former, present = (
        subprocess.run([sys.executable, "-m", name, "--help"], capture_output=True, text=True, check=True).stdout
        for name in ("zoe_master.simulator", "zoe_simulator")
    )
    assert "study" in present
    assert former == present
