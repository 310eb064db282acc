"""Public batch scripts, run on Debian's Slurm and on Zoe, and what differs."""
