"""Commands of Slurm inside a job that ask the API."""
