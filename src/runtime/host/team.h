/* The threads of the libraries on the CPU: workers that are made when they are first needed, and kept.
 *
 * Why not OpenMP: its run time ends the process where a thread can't be made, hangs in the child of a fork, and crashes
 * the program where the library is unloaded. Here a team is as large as can be had, down to the caller alone. OpenMP's
 * settings hold here too: the number of threads, the places, and one thread inside a parallel region. */
#ifndef CUTT_RUNTIME_HOST_TEAM_H
#define CUTT_RUNTIME_HOST_TEAM_H

/* The work of member `me` of a team of `team` members, 0 <= me < team. The caller of cutt_team_run is member 0. */
typedef void cutt_team_work(void *what, int me, int team);

/* Calls work(what, me, team) once for each member of a team of 1 to `threads` threads, and returns when all are done.
 * The team is smaller where the workers are in other teams, where no more threads can be made, inside a parallel region
 * of OpenMP, and in the child of a fork: results must not depend on its size. The calling thread may do the work of members
 * besides 0, after its own. Takes no lock; allocates only where it
 * makes workers: for the first teams, and where more are at work at once than ever before. */
void cutt_team_run(int threads, cutt_team_work *work, void *what);

/* Threads that a plan takes by default, 1 or more: omp_get_max_threads() where the program is linked with an OpenMP,
 * else the first number of OMP_NUM_THREADS, else the processors that the process may use. */
int cutt_team_default(void);

#endif
