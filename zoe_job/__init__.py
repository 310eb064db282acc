"""Programs of a batch job: they run its script with the variables of Slurm, and its `srun`. They travel along in the
description, so that every image with Python has them; standard library only."""
