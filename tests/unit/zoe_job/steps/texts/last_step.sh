#!/bin/bash
#SBATCH -n 3
srun -n 3 sh -c 'test $SLURM_PROCID -ne 1'
