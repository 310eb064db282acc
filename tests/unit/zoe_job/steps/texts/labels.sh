#!/bin/bash
#SBATCH -N 2 --ntasks-per-node=2
srun -l sh -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS, node $SLURM_NODEID of $SLURM_NNODES, local $SLURM_LOCALID' | sort
echo "$SLURM_JOB_NUM_NODES nodes, $SLURM_TASKS_PER_NODE, $SLURM_NTASKS_PER_NODE"
scontrol show hostnames | wc -l
