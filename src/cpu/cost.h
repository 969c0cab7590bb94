/* The CPU cost model: counts of events, in closed form from extents and strides, O(rank) for a candidate; and time from
 * these counts. Its parameters (model/target.h) are nanoseconds per event of one thread. */
#ifndef CUTT_CPU_COST_H
#define CUTT_CPU_COST_H

#include "cpu/tile.h"
#include "model/machine.h"

/* The events of one execution of a candidate. "Lines" are cache lines of 64 bytes. */
enum {
  CUTT_CPU_COUNT_LINES,        /* lines that must move: read + written */
  CUTT_CPU_COUNT_WASTE,        /* lines read more than once, because an input run ends inside them */
  CUTT_CPU_COUNT_RUNS,         /* input runs: each is a new place in memory */
  CUTT_CPU_COUNT_PARTS,        /* output lines written in part (non-temporal stores only) */
  CUTT_CPU_COUNT_FLUSHES,      /* output runs of tiles */
  CUTT_CPU_COUNT_STAGED,       /* lines that go through the staging buffer */
  CUTT_CPU_COUNT_LOADS,        /* transpose: loads of 16 bytes */
  CUTT_CPU_COUNT_WHOLE,        /* ... that are parts of loads of whole lines */
  CUTT_CPU_COUNT_VECTORS,      /* transpose: registers stored */
  CUTT_CPU_COUNT_BLOCKS,       /* transpose: calls of the kernel */
  CUTT_CPU_COUNT_GATHERS,      /* gather: runs copied */
  CUTT_CPU_COUNT_GATHER_LINES, /* gather: bytes copied, in lines */
  CUTT_CPU_COUNT_TILES,        /* tiles */
  CUTT_CPU_COUNT_RELOADS_L2, /* lines that a transpose loads again from L2, because L1 does not hold all rows of a tile */
  CUTT_CPU_COUNT_RELOADS,    /* lines loaded again from beyond L2, because L2 does not hold them either */
  CUTT_CPU_COUNT_WINDOWS,    /* window: windows read in new places */
  CUTT_CPU_COUNT_WINDOWS_NEAR, /* ... behind those of the vector before */
  CUTT_CPU_COUNT_SPREAD,       /* lines times log2(input runs of a tile / 16) */
  CUTT_CPU_COUNT_PAGES,        /* lines of tiles with more input runs than a first-level TLB has entries */
  CUTT_CPU_COUNT_ALONG,        /* output lines of a transpose along rows */
  CUTT_CPU_COUNT_STRETCHES,    /* its input runs: each is a new place in the input */
  CUTT_CPU_COUNT_ALONG_AHEAD,  /* the same two where the next rows are prefetched */
  CUTT_CPU_COUNT_STRETCHES_AHEAD,
  CUTT_CPU_COUNT_ALONG_NEAR, /* ... where the next lines of the same rows are */
  CUTT_CPU_COUNT_STRETCHES_NEAR,
  CUTT_CPU_COUNT_ALONG_BYTES, /* ... where the same place in the next rows of bytes is, into L2 */
  CUTT_CPU_COUNT_STRETCHES_BYTES,
  CUTT_CPU_COUNT_ENDS,        /* ... and its output runs that begin and end within lines */
  CUTT_CPU_COUNT_JOINED,      /* gather: output lines that need no stage */
  CUTT_CPU_COUNT_JOINED_NEAR, /* ... where input is prefetched into L1 */
  CUTT_CPU_COUNT_JOINS,       /* ... and their runs */
  CUTT_CPU_COUNT_TO_L1,       /* input lines prefetched into L1, where that is a choice */
  CUTT_CPU_COUNT_TO_L2,       /* ... into L2 */
  CUTT_CPU_COUNT_SHORT_ROWS, /* rows of a walk along them, each by what it lacks of 256 bytes: 1 for none, 0 for 256 and more */
  CUTT_CPU_COUNT_COLUMNS,  /* output runs of tiles of such a walk: each is a new place in the output */
  CUTT_CPU_COUNT_LARGE,    /* lines of other tiles that take more than an eighth of L2: all from a quarter of it on */
  CUTT_CPU_COUNT_PAGED,    /* output lines of a copy past the caches, four pages at a time */
  CUTT_CPU_COUNT_STREAMED, /* ... line after line */
  CUTT_CPU_COUNT_STARTS,   /* executions by one thread */
  CUTT_CPU_COUNT_FORKS,    /* executions by more than one thread */
  CUTT_CPU_COUNTS
};
/* The cost of an event depends on where the data is, so that each of these has its own parameter for each count. */
enum { CUTT_CPU_IN_L2, CUTT_CPU_IN_L3, CUTT_CPU_IN_MEMORY, CUTT_CPU_LEVELS };
extern const cutt_parameter cutt_cpu_parameters[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS];
extern const double
    cutt_cpu_values[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS]; /* built in for cores that have none of their own */
const double *cutt_cpu_values_of(cutt_cpu_core core);   /* built in for a core */

void cutt_cpu_count(const cutt_canonical *canonical, const cutt_cpu_tile *tile, const cutt_cpu_machine *machine,
                    double counts[CUTT_CPU_COUNTS]);

/* What the lines of a transpose along rows are counted as, with that prefetch, and how many times, as its input runs are by the next count:
 * twice where rows of bytes are asked for into L1, which has no room for so many. */
typedef struct cutt_cpu_along_term {
  int lines;
  double times;
} cutt_cpu_along_term;
cutt_cpu_along_term cutt_cpu_along_term_of(const cutt_canonical *canonical, const cutt_cpu_tile *tile, int prefetch);

/* Bytes of an output up to which it is not stored past the caches: of one that has all of its elements from few, which are hardly any bytes to
 * read, as many as half of the last-level cache has, within bounds. */
int64_t cutt_cpu_most_cached(const cutt_canonical *canonical, const cutt_cpu_machine *machine);

/* Do hardware prefetchers have the next tile in L2, since tiles follow one another in the input, and has L1 room for a tile, the next one and
 * the output? Or are rows copied backwards, or short runs joined that follow one another? Then that is asked for into L1 at no cost, and who
 * asks for it into L2 pays what others pay for L1. */
bool cutt_cpu_asks_into_l1(const cutt_canonical *canonical, const cutt_cpu_tile *tile, const cutt_cpu_machine *machine);

/* Input runs that a transpose along rows is counted as; whichever of its rows or lines it prefetches, but not the next tile's. */
double cutt_cpu_stretches(const cutt_canonical *canonical, const cutt_cpu_tile *tile);

/* The cost breakdown of a candidate, executed by its number of threads; and its predicted time. */
void cutt_cpu_cost(const cutt_canonical *canonical, const cutt_candidate *candidate, const cutt_cpu_tile *tile,
                   const cutt_cpu_machine *machine, cutt_breakdown *cost);
double cutt_cpu_seconds(const cutt_canonical *canonical, const cutt_candidate *candidate, const cutt_cpu_tile *tile,
                        const cutt_cpu_machine *machine);

#endif
