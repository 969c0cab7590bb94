/* The CPU cost model: counts in closed form from extents and strides, O(rank) for a candidate, and time from counts. Its
 * parameters (model/target.h) are nanoseconds per event of one thread. */
#ifndef CUTT_CPU_COST_H
#define CUTT_CPU_COST_H

#include "cpu/tile.h"
#include "model/machine.h"

/* What executing a candidate once takes, counted. */
enum {
  CUTT_CPU_COUNT_LINES,       /* 64-byte lines that must move: read + written */
  CUTT_CPU_COUNT_WASTE,       /* lines read more than once, because an input run ends inside them */
  CUTT_CPU_COUNT_RUNS,        /* input runs: each is a new place in memory */
  CUTT_CPU_COUNT_PARTS,       /* output lines written in part (stores past the caches) */
  CUTT_CPU_COUNT_FLUSHES,     /* output runs of tiles */
  CUTT_CPU_COUNT_STAGED,      /* lines that go through the staging buffer */
  CUTT_CPU_COUNT_LOADS,       /* transpose: pieces of 16 bytes loaded */
  CUTT_CPU_COUNT_VECTORS,     /* transpose: registers stored */
  CUTT_CPU_COUNT_BLOCKS,      /* transpose: calls */
  CUTT_CPU_COUNT_PIECES,      /* gather: pieces */
  CUTT_CPU_COUNT_PIECE_LINES, /* gather: 64 bytes of long pieces */
  CUTT_CPU_COUNT_TILES,
  CUTT_CPU_COUNT_RELOADS_L2, /* lines that come from L2 once more, because L1 does not hold all rows of a tile */
  CUTT_CPU_COUNT_RELOADS,    /* lines that come from further away once more, because L2 does not hold them */
  CUTT_CPU_COUNT_WINDOWS,    /* window: windows read */
  CUTT_CPU_COUNT_SPREAD,     /* lines, times the doublings of the input streams of a tile beyond 16 */
  CUTT_CPU_COUNT_PAGES,      /* lines of tiles with more input runs than a TLB of the first level has entries */
  CUTT_CPU_COUNT_STARTS,     /* executions */
  CUTT_CPU_COUNT_FORKS,      /* executions by more than one thread */
  CUTT_CPU_COUNTS
};
/* What an event costs depends on where the data is: there are as many parameters for each of these. */
enum { CUTT_CPU_IN_L2, CUTT_CPU_IN_L3, CUTT_CPU_IN_MEMORY, CUTT_CPU_LEVELS };
extern const cutt_parameter cutt_cpu_parameters[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS];
extern const double cutt_cpu_values[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS]; /* built in */

void cutt_cpu_count(const cutt_canonical *canonical, const cutt_cpu_tile *tile, const cutt_cpu_machine *machine,
                    double counts[CUTT_CPU_COUNTS]);

/* What the candidate's time is made of, with its number of threads; and the sum, in seconds. */
void cutt_cpu_price(const cutt_canonical *canonical, const cutt_candidate *candidate, const cutt_cpu_tile *tile,
                    const cutt_cpu_machine *machine, cutt_price *price);
double cutt_cpu_seconds(const cutt_canonical *canonical, const cutt_candidate *candidate, const cutt_cpu_tile *tile,
                        const cutt_cpu_machine *machine);

#endif
