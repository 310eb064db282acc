#!/bin/bash
#SBATCH -N 1 -n 2 --mem=64M -J first
#SBATCH hetjob
#SBATCH -N 2 -n 4 -c 2 -J second
show='echo $SLURM_PROCID of $SLURM_NTASKS, node $SLURM_NODEID of $SLURM_NNODES'
echo "$SLURM_HET_SIZE $SLURM_JOB_NAME_HET_GROUP_0 $SLURM_JOB_NAME_HET_GROUP_1 $SLURM_CPUS_PER_TASK_HET_GROUP_1"
echo "$SLURM_NTASKS_HET_GROUP_0 $SLURM_NTASKS_HET_GROUP_1 $SLURM_JOB_NUM_NODES_HET_GROUP_1 $SLURM_MEM_PER_NODE_HET_GROUP_1"
srun sh -c "$show" | sort
srun --het-group=1 sh -c "$show" | sort
srun --het-group=0,1 -l sh -c "$show" | sort
srun -l echo A : sh -c "$show" | sort
srun sh -c 'exit 3' : sh -c 'exit 5'
echo "largest: $?"
srun --het-group=2 true
echo "no such group: $?"
