"""Common parts of a job's programs: the job, messages between its nodes, options of Slurm."""
