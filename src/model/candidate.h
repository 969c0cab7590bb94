/* Candidates for doing a problem, and what one of them is when looked at closely. Plain data. */
#ifndef CUTT_MODEL_CANDIDATE_H
#define CUTT_MODEL_CANDIDATE_H

#include "model/canonical.h"
#include "model/target.h"

typedef enum cutt_method {
  CUTT_METHOD_COPY,         /* contiguous on both sides */
  CUTT_METHOD_TILED_COPY,   /* first mode shared: runs are copied */
  CUTT_METHOD_TILED,        /* one mode on each side: a 2D transpose in tiles */
  CUTT_METHOD_PACKED,       /* several modes on a side, all of them whole */
  CUTT_METHOD_PACKED_SPLIT, /* as Packed, with the last mode of a side cut into chunks */
  CUTT_METHODS
} cutt_method;

extern const char *const cutt_method_name[CUTT_METHODS]; /* the paper's names: "Copy", "TiledCopy", ... */

/* A candidate. m and k as in the paper: M_m is the first m modes of the input, M_k the first k modes of the
 * output; the last mode of each may be cut to chunks of split_m, split_k elements. The rest is the processor's own, and
 * small integers all the same, so that a candidate can be written to a file and read back. */
enum { CUTT_PARAMS = 6 };
typedef struct cutt_candidate {
  cutt_method method;
  int m, k;
  int64_t split_m, split_k;   /* 0: the last mode is whole */
  int threads;                /* of the processor; of a block on a GPU */
  int64_t param[CUTT_PARAMS]; /* named by cutt_methods.param_name[]; unused ones are 0 */
  double seconds;             /* predicted */
} cutt_candidate;

enum { CUTT_MAX_CANDIDATES = 64, CUTT_MAX_THREADS = 4096 };

/* A candidate looked at closely, for people, and for fitting the model to measured times. Counts are of one execution. */
typedef struct cutt_explanation {
  cutt_breakdown breakdown;       /* sums up to the time that the own model predicts */
  int64_t tile[CUTT_MAX_RANK];    /* extent of each canonical mode in a tile; 1 outside of it */
  int64_t row_length, rows;       /* runs of the input in a tile: elements, how many */
  int64_t column_length, columns; /* runs of the output */
  int64_t tiles;
  int64_t shared_bytes; /* of a block; 0 where there is no such thing */
  int blocks_per_sm;    /* resident at once; 0 likewise */
  double occupancy;     /* threads resident on an SM over the most that it takes; 0 likewise */
  /* What memory moves whole, called sectors here: of 32 bytes on a GPU, lines of 64 bytes on a CPU. */
  double read_sectors, written_sectors; /* touched */
  double least_sectors;                 /* the same, each side, if every sector were used whole */
  double partial_sectors;               /* of those written: that a tile, or a run past the caches, fills in part */
  double requests, wavefronts;          /* of warps to memory; of shared memory; 0 where there is no such thing */
  const char *sector_name;              /* "sectors", "lines" */
  int sector_bytes;
  /* What a link to another device takes, where that has the output, and what it would, were all lines written whole; 0 where
   * there is no such thing. The breakdown is of what goes on in the device. */
  double link_seconds, least_link_seconds;
  double copy_seconds; /* what a plain copy of the same bytes is predicted to take */
} cutt_explanation;

bool cutt_candidate_equal(const cutt_candidate *a, const cutt_candidate *b); /* but for the predicted time */

#endif
