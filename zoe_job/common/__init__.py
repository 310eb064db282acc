"""What the programs of a job share: what the job is, messages between its nodes, options of Slurm."""
