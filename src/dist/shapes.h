/* The permutations of a plan's boxes. Boxes are many and their shapes few: each shape has one plan of libcutt's, which all boxes
 * of that shape share. */
#ifndef CUTT_DIST_SHAPES_H
#define CUTT_DIST_SHAPES_H

#include <stdbool.h>

#include "cutt_dist.h"
#include "dist/part.h"

/* A strided box of elements on two sides; steps and offsets are in elements. */
typedef struct cutt_box {
  int rank;
  int64_t extent[CUTT_MAX_RANK];
  int64_t step[CUTT_SIDES][CUTT_MAX_RANK];
  int64_t offset[CUTT_SIDES];
} cutt_box;

typedef struct cutt_shape {
  uint64_t hash;
  int64_t *numbers; /* extents, and steps of both sides */
  int rank;
  bool scaled, far;
  int64_t whole_bytes;
  cuttPlan_t plan;
  double seconds, link_seconds; /* predicted: in the device, and of the link beside it if it is far */
} cutt_shape;

typedef struct cutt_shapes {
  cuttBackend_t backend;
  cuttType_t type;
  const void *alpha, *beta; /* what a scaled shape does */
  int conjugate, threads;
  cutt_shape *shape;
  int count, room;
  int64_t numbers[3 * CUTT_MAX_RANK]; /* of the box that is looked for */
} cutt_shapes;

/* The number of the shape of a box, which is planned if it is a new one; scaled: with alpha, beta and conjugation, else a mere
 * permutation; far: for outputs in another device's memory; whole_bytes: of what the box's output is a part of, on a processor (plan/far.h).
 * Errors: of cuttPlanCreate. */
cuttResult cutt_shapes_find(cutt_shapes *shapes, const cutt_box *box, bool scaled, bool far, int64_t whole_bytes,
                            int *number);
void cutt_shapes_free(cutt_shapes *shapes);

uint64_t cutt_hash(uint64_t hash, const void *bytes, size_t count);
#define CUTT_HASH_START 0xcbf29ce484222325ull

#endif
