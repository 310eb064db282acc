"""Record the output of the unit tests' scripts on Debian's Slurm: `python -m benchmarks.slurm_scripts.own`."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.slurm import Slurm
from benchmarks.slurm_scripts.on_slurm import VALUES

TEXTS = Path(__file__).resolve().parents[2] / "tests" / "unit" / "zoe_job" / "texts"
_NODES = 4


def main() -> None:
    """Write NAME.expected beside each NAME.sh: standard output, and the exit code of `sbatch --wait`."""
    with Slurm(_NODES, VALUES) as slurm, tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "SLURM_CONF": str(slurm.configuration_file)}
        for text in sorted(TEXTS.glob("*.sh")):
            work = Path(scratch) / text.stem
            work.mkdir()
            shutil.copy(text, work)
            words = ["sbatch", "--wait", "--quiet", "-o", "out", "-e", "err", text.name]
            done = subprocess.run(words, cwd=work, env=environment, stderr=subprocess.PIPE, text=True, check=False)
            if not (work / "out").exists():
                raise SystemExit(f"{text.name}: {done.stderr}")
            expected = f"{(work / 'out').read_text()}exit code {done.returncode}\n"
            text.with_suffix(".expected").write_text(expected)


if __name__ == "__main__":
    main()
