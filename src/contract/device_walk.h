/* How sums of one operand are dealt out to blocks, for device_sum.h, device_staged.h and device_stretch.h: tiles of the result, and terms of each, whose
 * sums may be cut into parts that a second launch adds up. */
#ifndef CUTT_CONTRACT_DEVICE_WALK_H
#define CUTT_CONTRACT_DEVICE_WALK_H

#include "contract/cost.h"
#include "gpu/kernels/sum_walk_args.h"

/* Bytes of a sum before it is a result: half types are added up in float. */
int64_t cutt_sum_bytes(const cutt_contraction *contraction);

/* How much of a mode a tile has, `most` at most: chunks of nearly the same extent, if they are few. */
int64_t cutt_sum_chunk(int64_t extent, int64_t most);

/* Of the modes but this one that are, or are not, summed over: that with the shortest step in L, if it is no short one, or else the longest;
 * -1: there is none. */
int cutt_sum_row_mode(const cutt_contraction *contraction, bool summed, int but);

/* Bytes of D that memory moves for a result that is not next to others: all of a line, where a result has less than that of L, so that there
 * are many; else a sector. */
int64_t cutt_sum_written_unit(const cutt_contraction *contraction);

/* The same for each result of a mode, or of none (-1). */
double cutt_sum_written(const cutt_contraction *contraction, int mode);

/* Do runs of L along this mode all begin at multiples of so many bytes, if the first one does? */
bool cutt_sum_begins_at(const cutt_contraction *contraction, int mode, int64_t bytes);

/* The bytes that L spans, from its element (0, ..., 0). Of what has been summed beforehand the contraction does not say it. */
void cutt_sum_span(const cutt_contraction *contraction, int64_t *low, int64_t *high);

typedef struct cutt_sum_blocks {
  int64_t tiles, terms; /* of the result, and of the sum */
  int64_t block_tiles;  /* that a block does, one after the other */
  int64_t parts;        /* of the terms */
} cutt_sum_blocks;

/* What blocks take, in steps, each for a tile's term: how many are at work at once; what one takes to begin and to end, the second launch, and
 * each part for that and to be written; and most tiles of one. */
typedef struct cutt_sum_steps {
  double at_once, to_begin, to_join, to_join_part;
  int64_t most_tiles;
} cutt_sum_steps;

/* Tiles and terms, of which each has so much of each mode. False: there are too many. */
bool cutt_sum_blocks_count(const cutt_contraction *contraction, const int64_t *part, cutt_sum_blocks *blocks);

/* Tiles of a block, or parts, for which `limit` bytes of workspace suffice, so that blocks end together. */
void cutt_sum_blocks_choose(const cutt_contraction *contraction, int64_t limit, const cutt_sum_steps *steps,
                            cutt_sum_blocks *blocks);

/* Blocks, and the steps that they take one after the other. */
double cutt_sum_blocks_of(const cutt_sum_blocks *blocks);
double cutt_sum_steps_of(const cutt_sum_blocks *blocks, const cutt_sum_steps *steps);

/* What a kernel is given. column_mode, row_mode: of which it wants to know how far a tile is there; -1: none. result_stride: of each mode, in
 * elements of result_bytes. */
void cutt_sum_walk_fill(const cutt_contraction *contraction, const cutt_sum_blocks *blocks, const int64_t *part,
                        int column_mode, int row_mode, const int64_t *result_stride, int64_t result_bytes,
                        cutt_sum_walk *walk);

#endif
