#!/bin/bash
#SBATCH --ntasks=2
srun sh -c 'exit $((SLURM_PROCID * 7))'
echo "step: $?"
srun true && echo fine
exit 4
