"""Commands of arrays, workflows, schedules and Slurm scripts."""
