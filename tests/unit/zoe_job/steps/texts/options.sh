#!/bin/bash
#SBATCH -J"a job" --nodes=1
#SBATCH --ntasks 2   # of which one is idle
#SBATCH -c2
# A comment, and an option that counts for nothing:
##SBATCH --ntasks=9
echo "$SLURM_JOB_NAME, $SLURM_NTASKS, $SLURM_CPUS_PER_TASK, $SLURM_JOB_CPUS_PER_NODE"
#SBATCH --ntasks=7
echo "$# $0" | sed 's#/.*/##'
