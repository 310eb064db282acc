#!/bin/bash
#SBATCH -N 2 -n 4
srun -N 1 -n 1 sh -c 'echo $SLURM_NTASKS task on $SLURM_NNODES node, $SLURM_STEP_NUM_NODES, $SLURM_TASKS_PER_NODE'
first=$(scontrol show hostnames | head -1)
srun -N 1 -n 1 -w "$first" sh -c 'echo $SLURMD_NODENAME' | grep -c "$first"
srun -N 2 -n 2 -l sh -c 'echo $SLURM_NODEID' | sort
srun -n 1 -w no-such-node true
echo "no such node: $?"
