#!/bin/bash
#SBATCH -n 4
cat > programs.conf <<'END'
0    echo first %t %o
1-2  echo middle %t %o
*    echo rest %t
END
srun -l --multi-prog programs.conf | sort
