#!/bin/bash
#SBATCH -n 3
#SBATCH --job-name=parts
srun -o part-%t.txt sh -c 'echo $SLURM_PROCID'
cat part-0.txt part-1.txt part-2.txt
srun -n 1 -o none echo nothing
srun -n 1 -o %x.txt echo named
cat parts.txt
