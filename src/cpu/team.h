/* The threads of the CPU backend: workers of its own, made when they are first needed and kept.
 *
 * Why not OpenMP: its run time ends the process where a thread can't be made, hangs in the child of a fork, and takes the
 * program down where the library is unloaded. Here a team is as large as can be had, down to the caller alone. */
#ifndef CUTT_CPU_TEAM_H
#define CUTT_CPU_TEAM_H

#include <stddef.h>

/* What a member of a team does: number `me` of `team`, 0 <= me < team. The caller of cutt_team_run is number 0. */
typedef void cutt_team_work(void *what, int me, int team);

/* Calls work(what, me, team) once for each member of a team of 1 to `threads` threads, and returns when all have come back.
 * The team is smaller than asked for where other teams have the workers, where no more threads can be made, and in the child
 * of a fork. Work must not depend on its size. No lock is taken and nothing is allocated once the workers are there. */
void cutt_team_run(int threads, cutt_team_work *work, void *what);

#endif
