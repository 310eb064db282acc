"""Public batch scripts on Debian's Slurm and on Zoe, and their differences."""
