"""Parser of `sbatch`, on a laptop and inside a job, and its description. On the first node only."""
