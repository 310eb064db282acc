"""Pi by the midpoint rule with mpi4py: mpi_pi.py INTERVALS. Exits 1 when the result is off by more than 1e-8."""

import math
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
intervals = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
own = math.fsum(4 / (1 + ((i + 0.5) / intervals) ** 2) for i in range(world.rank, intervals, world.size))
pi = world.allreduce(own) / intervals
hosts = world.gather(MPI.Get_processor_name())
if hosts is not None:
    print(f"pi = {pi:.12f} with {world.size} processes on {' '.join(hosts)}")
if abs(pi - math.pi) > 1e-8:
    sys.exit(1)
