/* Pi by the midpoint rule over MPI: mpi-pi INTERVALS. Exits 1 when the result is off by more than 1e-8. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, processes;
    long intervals = argc > 1 ? atol(argv[1]) : 100000000L;
    double part = 0.0, pi = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    for (long i = rank; i < intervals; i += processes) {
        double x = (i + 0.5) / intervals;
        part += 4.0 / (1.0 + x * x);
    }
    MPI_Reduce(&part, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&pi, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    pi /= intervals;
    if (rank == 0)
        printf("pi = %.12f with %d processes\n", pi, processes);
    MPI_Finalize();
    return fabs(pi - acos(-1.0)) > 1e-8;
}
