"""Programs of a batch job: run its script with the variables of Slurm, and its `srun`. The description contains them,
so that every image with Python has them; standard library only.
"""
