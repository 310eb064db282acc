"""Batch scripts of Slurm: what their `#SBATCH` lines say, and the description that runs them."""
