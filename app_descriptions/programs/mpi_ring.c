/* A number goes round all processes, each of which adds its rank: mpi-ring. Exits 1 when the sum is wrong. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, processes, length;
    long sum = 0;
    char host[MPI_MAX_PROCESSOR_NAME];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    MPI_Get_processor_name(host, &length);
    if (rank > 0)
        MPI_Recv(&sum, 1, MPI_LONG, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += rank;
    printf("rank %d of %d on %s: %ld\n", rank, processes, host, sum);
    fflush(stdout);
    /* Alone there is nobody to send to or to hear from. */
    if (processes > 1) {
        MPI_Send(&sum, 1, MPI_LONG, (rank + 1) % processes, 0, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(&sum, 1, MPI_LONG, processes - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("ring = %ld with %d processes\n", sum, processes);
    MPI_Finalize();
    return rank == 0 && sum != (long)processes * (processes - 1) / 2;
}
