/* One run of the program by several processes, which a launcher of MPI has started: each does a part of the work.
 *
 * Ranks that permute a file have nothing to tell each other but that they are there, that their part is done, and that
 * something went wrong. So there is no MPI in it, of which each has a binary interface of its own: the launcher's
 * environment says which rank this is, and a small file beside the output, the table, has a record of each rank. A rank
 * holds a lock on a byte of it while it lives, which the system takes away however it ends. */
#ifndef CUTT_CLI_RANKS_H
#define CUTT_CLI_RANKS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cutt_ranks {
  int rank, size;       /* size 1: this process does everything */
  int near;             /* ranks on this machine; all, where the launcher does not say */
  double wait;          /* seconds in which all have to arrive */
  double began, looked; /* when the table was there, and was last looked at */
  int descriptor;       /* of the table; -1: there is none */
  uint64_t request;     /* what it is about; the same on all ranks */
  char path[PATH_MAX];
} cutt_ranks;

/* Which rank this process is, by the environment; messages begin with it from then on. On false a message has been
 * given. */
bool cutt_ranks_find(cutt_ranks *ranks);

/* Threads for this rank, its share of the processors that it may use; 0: as many as the library takes by itself. */
int cutt_ranks_threads(const cutt_ranks *ranks);

/* Makes the table beside `out`, or waits for it. `request` is the same on all ranks that do the same. On false a message
 * has been given. */
bool cutt_ranks_begin(cutt_ranks *ranks, const char *out, uint64_t request);

/* Rank 0 says what the others need: the name of the unfinished output, and a number. */
bool cutt_ranks_say(cutt_ranks *ranks, const char *temporary, int64_t number);

/* The others wait for it. `temporary` has room for PATH_MAX bytes. On false a message has been given. */
bool cutt_ranks_hear(cutt_ranks *ranks, char *temporary, int64_t *number);

/* Are all well, as far as they have come? Looks now and then, so that it may be called often. On false `why`, of `size`
 * bytes, says who is not. */
bool cutt_ranks_well(cutt_ranks *ranks, char *why, int size);

/* This rank's part is done and on the disk. Rank 0 waits for all others, and the others wait until rank 0 has finished.
 * On false a message has been given. */
bool cutt_ranks_meet(cutt_ranks *ranks);

/* The end of it, good or bad, after begin. Where rank 0 has been killed, what it leaves is removed by the others. */
void cutt_ranks_end(cutt_ranks *ranks, bool good);

#endif
