"""Names of output files as sbatch and srun write them: `slurm-%A_%a.out`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FIELD = re.compile(r"%(%|(\d{0,2})([A-Za-z]))")
_NONE = "4294967294"  # the output of Slurm for %a outside of arrays


def fill(pattern: str, environment: Mapping[str, str], task: int | None = None, step: str = "batch") -> str:
    """Return the name of a file; a number before the letter pads with zeros. Unknown fields stay."""
    if "\\" in pattern:  # as in Slurm: no fields, and the backslashes are removed
        return pattern.replace("\\", "")
    job = environment.get("SLURM_JOB_ID", "0")
    step = environment.get("SLURM_STEP_ID", step)
    values = {
        "j": job,
        "J": job if step == "batch" else f"{job}.{step}",
        "A": environment.get("SLURM_ARRAY_JOB_ID", job),
        "a": environment.get("SLURM_ARRAY_TASK_ID", _NONE),
        "b": environment.get("SLURM_ARRAY_TASK_ID", "0")[-1:],
        "x": environment.get("SLURM_JOB_NAME", ""),
        "u": environment.get("SLURM_JOB_USER", ""),
        "N": environment.get("SLURMD_NODENAME", ""),
        "n": environment.get("SLURM_NODEID", "0"),
        "s": step,
        "t": str(task or 0),
    }

    def fill_field(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        value = values.get(found[3])
        return found[0] if value is None else value.zfill(int(found[2] or 0)) if value.isdecimal() else value

    return _FIELD.sub(fill_field, pattern)


def per_task(pattern: str) -> bool:
    """Return whether each task has a separate file."""
    return any(found[3] == "t" for found in _FIELD.finditer(pattern))
