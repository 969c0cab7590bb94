/* Contractions that sum nothing, as elementwise operations on a GPU (device_combine.h). */
#include "contract/device_combine.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "contract/combine.h"

enum {
  SECTOR = 32,
  WIDE = 16,
  WORTH_TURNING = 8
}; /* bytes: that memory moves at least, of an access; elements next to each other */

/* Seconds of a launch, and the share of a copy's speed where operands are turned: more than most reach, since other kernels of one pass take
 * 1.5 to 2 times as long as predicted, and longer than these everywhere. */
static const double launch_seconds = 3e-6, turned_share = 0.95;

/* The same where none is, by elements of 2, 4, 8 and 16 bytes, as measured in the median: by elements, and where 16 bytes are accessed at once;
 * with an operand that is repeated, and without. */
enum { SIZES = 4 };
static const double share_of_copy[2][2][SIZES] = {{{0.55, 0.83, 0.95, 0.95}, {0.45, 0.7, 0.9, 0.9}},
                                                  {{0.93, 0.95, 0.95, 0.95}, {0.75, 0.85, 0.9, 0.9}}};

/* Elements of D per second and SM where an operand is repeated along a mode, by elements of 2, 4, 8 and 16 bytes: then few bytes are moved for
 * each. By elements, and where operands are turned, of which 0.3 to 1.9 were measured with modes of 7 to 44. */
static const double sm_elements[2][SIZES] = {{2.2e9, 2.2e9, 1.8e9, 1e9}, {1.4e9, 1.4e9, 1.3e9, 0.9e9}};

static bool is_repeated(const cutt_contraction *c, cutt_tensor t) { return c->volume[t] < c->volume[CUTT_RESULT]; }

/* Has the operand neighbours where D has none, and none where D has? */
static bool is_turned(const cutt_contraction *c, cutt_tensor t) {
  const int own = cutt_fast_mode(c, t), of_result = cutt_fast_mode(c, CUTT_RESULT);
  const int64_t bytes = c->type->bytes;
  if (own < 0 || of_result < 0 || own == of_result || c->mode[own].extent < WORTH_TURNING) return false;
  return llabs(c->mode[own].stride[t]) * bytes < SECTOR && llabs(c->mode[of_result].stride[t]) * bytes >= SECTOR;
}

/* Can all tensors be accessed by 16 bytes along one mode, or is an element of them for all of it? */
static bool is_wide(const cutt_contraction *c) {
  const int fast = cutt_fast_mode(c, CUTT_RESULT);
  for (int t = 0; t < CUTT_TENSORS && fast >= 0; ++t) {
    if (!c->mode[fast].stride[t]) continue;
    for (int i = 0; i < c->modes; ++i)
      if (i == fast ? c->mode[i].stride[t] != 1 : c->mode[i].stride[t] * c->type->bytes % WIDE != 0) return false;
  }
  return fast >= 0;
}

double cutt_device_combine_seconds(const cutt_contraction *c, const cutt_rates *r) {
  if (!cutt_is_combination(c)) return INFINITY;
  /* Of more elements there might be more tiles than a launch has blocks. */
  const bool turned = is_turned(c, CUTT_LEFT) || is_turned(c, CUTT_RIGHT);
  if (c->volume[CUTT_RESULT] >= INT32_MAX) return INFINITY;
  const bool repeated = is_repeated(c, CUTT_LEFT) || is_repeated(c, CUTT_RIGHT);
  const double elements = (double)c->volume[CUTT_LEFT] + (double)c->volume[CUTT_RIGHT] +
                          (c->beta_is_zero ? 1 : 2) * (double)c->volume[CUTT_RESULT];
  const int size = c->type->bytes == 2 ? 0 : c->type->bytes == 4 ? 1 : c->type->bytes == 8 ? 2 : 3;
  const bool wide = is_wide(c);
  const double share = turned ? turned_share : share_of_copy[wide][repeated][size];
  const double move = elements * c->type->bytes / (share * r->memory);
  const double combine = (double)c->volume[CUTT_RESULT] / ((double)r->multiprocessors * sm_elements[turned][size]);
  return launch_seconds + (repeated && (turned || !wide) ? fmax(move, combine) : move);
}

cuttResult cutt_device_combine_prepare(const cutt_contraction *c, const cutt_rates *rates, const cutt_runtime *runtime,
                                       struct cuttElementwiseStruct **combination) {
  struct cuttElementwiseStruct *p = *combination = calloc(1, sizeof *p);
  if (!p) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *p);
  cutt_combination_set(c, p);
  const cutt_combine_device on = {rates->multiprocessors, rates->sm_shared, rates->block_shared};
  return cutt_device_elementwise_make(p, &on, runtime);
}

cuttResult cutt_device_combine_permute(struct cuttElementwiseStruct *p, const cutt_backend *backend) {
  p->backend = backend;
  return cutt_device_permuted_prepare(p, p->device->pass);
}

const char *cutt_device_combine_words(const struct cuttElementwiseStruct *p) {
  const cutt_device_permuted *pass = p->device->pass;
  bool turned = false;
  for (int k = 0; k < p->operands; ++k) turned = turned || p->device->narrow.args.use[k] == CUTT_COMBINE_TURNED;
  if (pass[1].plan) return "elementwise, L permuted to D, then R combined with it";
  if (pass[0].plan) return pass[0].moved ? "elementwise, by a permutation of R" : "elementwise, by a permutation of L";
  return turned ? "elementwise, turned in shared memory" : "elementwise";
}

void cutt_device_combine_release(struct cuttElementwiseStruct *p) {
  if (p) cutt_device_elementwise_release(p);
  free(p);
}

cuttResult cutt_device_combine_run(const struct cuttElementwiseStruct *p, const cutt_runtime *runtime,
                                   const unsigned char *left, const unsigned char *right, unsigned char *result,
                                   cudaStream_t stream) {
  void *tensor[CUTT_MOST_TENSORS];
  cutt_combination_tensors(p, left, right, result, tensor);
  return cutt_device_elementwise_start(p, runtime, tensor, stream);
}
