/* How a permutation of a file is cut into pieces that fit in memory. Pure: numbers in, numbers out.
 *
 * A piece is a box of the tensor. It is read as stretches of the input and written as stretches of the output, and each
 * stretch costs as if it were longer by what a disk does in the time that it takes to find one. A box that has long
 * stretches on both sides may not fit in memory; then two passes through an intermediate file can be faster: the first
 * has long stretches of the input, the second of the output, and what they meet in is chunks that are the least of the
 * two boxes in each mode. */
#ifndef CUTT_CLI_PIECES_CUT_H
#define CUTT_CLI_PIECES_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "cutt.h"

/* Modes from the input's fastest on; output mode i is input mode perm[i]. No extent is 0. */
typedef struct cutt_cut_problem {
  int rank; /* at least 1 */
  int elem_bytes;
  int64_t extents[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
} cutt_cut_problem;

/* The same with neighbours on both sides made one mode, and without modes of extent 1. */
cutt_cut_problem cutt_cut_fuse(int rank, int elem_bytes, const int64_t *extents, const int *perm);

typedef struct cutt_cut_pass {
  int64_t box[CUTT_MAX_RANK]; /* of a piece, by the input's modes; smaller at the end of a mode */
  int64_t pieces;
  int64_t piece_bytes;
  int64_t in_run, out_run; /* bytes of a stretch; a whole chunk of the intermediate file is one */
} cutt_cut_pass;

typedef struct cutt_cut {
  int passes; /* 1, or 2 with an intermediate file */
  cutt_cut_pass pass[2];
  int64_t chunk[CUTT_MAX_RANK]; /* of the intermediate file, by the input's modes */
  double cost;                  /* bytes that a disk could move in the time */
  double read_bytes;            /* of an array in chunks, of which some may be read more than once; else 0 */
} cutt_cut;

/* The cheapest way with pieces of at most most_bytes, which is at least an element's, in `passes` (1 or 2) at most. */
cutt_cut cutt_cut_find(const cutt_cut_problem *problem, int64_t most_bytes, int passes);

/* The same for arrays in chunks: the extents of one by the problem's modes, or NULL on a side that has none. Pieces are made
 * of whole chunks of the output, and if they can of the input's; one pass. False: a piece of a chunk has *least bytes,
 * more than most_bytes. */
bool cutt_cut_in_chunks(const cutt_cut_problem *problem, const int64_t *in_chunk, const int64_t *out_chunk,
                        int64_t most_bytes, cutt_cut *cut, int64_t *least);

#endif
