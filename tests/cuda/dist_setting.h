/* Ranks whose memory is that of devices, without a GPU: the stand-ins for the driver and for NCCL, and kernels by the emulator. Ranks
 * are threads, each with a context of its own. */
#ifndef CUTT_TESTS_CUDA_DIST_SETTING_H
#define CUTT_TESTS_CUDA_DIST_SETTING_H

#include <pthread.h>
#include <stdatomic.h>

#include "cuda/fake_nccl.h"
#include "cuda/fixture.h"
#include "ranks.h"

enum { DIST_MOST = 5 }; /* ranks */

extern struct CUctx_st *dist_context[DIST_MOST];
extern fake_nccl_control *dist_nccl;
extern atomic_long dist_gatherings; /* of all ranks, by the host's communicators */
extern char dist_fault[400];        /* what the emulator has found; "": nothing */

/* A group's set-up; a test's set-up and tear-down, as those of fixture.h. */
int dist_open(void **state);
int dist_start(void **state);
int dist_end(void **state);

typedef enum kind { THREADS, NCCL_BY_THREADS, NCCL_ALONE, THROUGH_HOST, TAKES_DEVICES } kind;

typedef struct setting {
  kind kind;
  int size;
  cuttDistComm_t threads[DIST_MOST], host[DIST_MOST], comms[DIST_MOST]; /* host: as the kind is, gatherings counted */
  struct fake_nccl_comm *nccl[DIST_MOST];
  cuttResult made[DIST_MOST];
  cuttDistTransport_t real[DIST_MOST];
  char text[DIST_MOST][FAILURE_BYTES];
} setting;

void open_setting(setting *s, kind k, int size);
void close_setting(setting *s);

/* Runs work on each rank. Fails if the emulator has found something, or with what a rank has left in failure. */
void dist_try(int size, void (*work)(void *job, int rank), void *job, char (*failure)[FAILURE_BYTES], uint64_t seed);

long dist_heavy_calls(void); /* that make something */

/* A cube of so many doubles each way that say where they are. Fills a rank's part; and are those of the output, the cube with its modes
 * reversed, right? */
enum { DIST_SIDE = 16 };
extern const int64_t dist_cube[3];
int64_t dist_cube_fill(const cuttDistLayout_t *layout, int rank,
                       double *part); /* returns how many; NULL: these alone */
bool dist_cube_is_reversed(const cuttDistLayout_t *layout, int rank, const double *part);

/* Once all ranks have come, a call of the driver's fails: the at-th of that function from then on. -1: none does. */
void dist_fail(pthread_barrier_t *all, int rank, int function, long at);

/* Makes another context than the rank's current; and the rank's again, if there was another one. */
struct CUctx_st *dist_other_context(void);
void dist_own_context(int rank, struct CUctx_st *other);

#endif
