"""Commands of Slurm inside a job that call the API."""
