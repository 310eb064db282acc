#!/bin/bash
#SBATCH -n 2
printf 'a\nb\n' > input
srun -n 1 cat < input
srun -n 1 -i input cat
echo piped | srun -n 1 sed 's/^/> /'
while read -r line; do
  srun -n 1 echo "line $line" < /dev/null
done < input
