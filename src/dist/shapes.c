/* Shapes of boxes and their plans (shapes.h). */
#include "dist/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "plan/services.h"

/* FNV-1a: the same on every machine of one byte order. */
uint64_t cutt_hash(uint64_t hash, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    hash ^= ((const unsigned char *)bytes)[i];
    hash *= 0x100000001b3ull;
  }
  return hash;
}

/* Its numbers one after the other: 3 * rank of them. */
static void list_numbers(const cutt_box *box, int64_t *numbers) {
  const size_t bytes = (size_t)box->rank * sizeof *numbers;
  memcpy(numbers, box->extent, bytes);
  memcpy(numbers + box->rank, box->step[CUTT_FROM], bytes);
  memcpy(numbers + 2 * box->rank, box->step[CUTT_TO], bytes);
}

/* Lines that are written in part are requests of L2's, too: on an H200 a permutation takes more by so much of the share by which
 * they make it longer on a link, beyond what the model of tiles says. */
static const double line_parts = 2.8, most_parts = 0.5; /* the latter: that have been measured */

static cuttResult make_plan(const cutt_shapes *shapes, const cutt_box *box, cutt_shape *shape) {
  int same[CUTT_MAX_RANK];
  for (int i = 0; i < box->rank; ++i) same[i] = i;
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  problem.rank = box->rank;
  problem.type = shapes->type;
  problem.extents = box->extent;
  problem.perm = same; /* the steps say all */
  problem.in_strides = box->step[CUTT_FROM];
  problem.out_strides = box->step[CUTT_TO];
  if (shape->scaled) {
    problem.alpha = shapes->alpha;
    problem.beta = shapes->beta;
    problem.conjugate = shapes->conjugate;
  }
  options.backend = shapes->backend;
  options.threads = shapes->threads;
  options.trust_pointers = shapes->backend != CUTT_BACKEND_CPU; /* they are looked at once, as a whole */
  cutt_far_seconds seconds;
  const cuttResult result =
      cutt_plan_create_far(&shape->plan, &problem, &options, shape->far, shape->whole_bytes, &seconds);
  const double parts = seconds.least_link > 0 ? seconds.link / seconds.least_link - 1 : 0;
  shape->seconds = seconds.here * (1 + line_parts * smaller(parts, most_parts));
  shape->link_seconds = seconds.link;
  return result;
}

static cuttResult grow(cutt_shapes *shapes) {
  if (shapes->count < shapes->room) return CUTT_SUCCESS;
  const int room = shapes->room ? 2 * shapes->room : 16;
  cutt_shape *shape = realloc(shapes->shape, (size_t)room * sizeof *shape);
  if (!shape) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d shapes of boxes", room);
  shapes->shape = shape;
  shapes->room = room;
  return CUTT_SUCCESS;
}

cuttResult cutt_shapes_find(cutt_shapes *shapes, const cutt_box *box, bool scaled, bool far, int64_t whole_bytes,
                            int *number) {
  int64_t *numbers = shapes->numbers;
  const size_t bytes = 3 * (size_t)box->rank * sizeof *numbers;
  list_numbers(box, numbers);
  const uint64_t hash = cutt_hash(CUTT_HASH_START + (uint64_t)scaled + 2 * (uint64_t)far, numbers, bytes);
  for (int i = shapes->count - 1; i >= 0; --i) {
    const cutt_shape *s = &shapes->shape[i];
    if (s->hash != hash || s->rank != box->rank || s->scaled != scaled || s->far != far ||
        s->whole_bytes != whole_bytes || (bytes && memcmp(s->numbers, numbers, bytes) != 0))
      continue;
    *number = i;
    return CUTT_SUCCESS;
  }
  cuttResult result = grow(shapes);
  if (result) return result;
  cutt_shape made = {.hash = hash,
                     .rank = box->rank,
                     .scaled = scaled,
                     .far = far,
                     .whole_bytes = whole_bytes,
                     .numbers = malloc(bytes + 1)};
  if (!made.numbers) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a shape", bytes);
  memcpy(made.numbers, numbers, bytes);
  result = make_plan(shapes, box, &made);
  if (result) {
    cuttPlanDestroy(made.plan);
    free(made.numbers);
    return result;
  }
  *number = shapes->count;
  shapes->shape[shapes->count++] = made;
  return CUTT_SUCCESS;
}

void cutt_shapes_free(cutt_shapes *shapes) {
  for (int i = 0; i < shapes->count; ++i) {
    cuttPlanDestroy(shapes->shape[i].plan);
    free(shapes->shape[i].numbers);
  }
  free(shapes->shape);
  shapes->shape = NULL;
  shapes->count = shapes->room = 0;
}
