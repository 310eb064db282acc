"""What `sbatch` reads, on a laptop and inside a job, and the description that it makes. On the first node only."""
