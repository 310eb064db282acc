"""The script of a job, and the steps that its `srun` runs over the nodes."""
