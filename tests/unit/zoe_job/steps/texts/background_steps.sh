#!/bin/bash
#SBATCH -n 2 --cpus-per-task=1
for i in 1 2 3 4; do
  srun -n 1 --exact sh -c "echo $i > done-$i" &
done
wait
cat done-1 done-2 done-3 done-4
srun -n 1 false &
wait $!
echo "waited: $?"
