/* Sums in parts (parts.h). */
#include "contract/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

/* Bytes that L2 holds beside all else: of parts that are read soon. */
enum { CACHE = 32 << 20 };

/* ------------------------------------------------------------------------------------------------------------ contractions */

/* Half types would round each part. */
bool cutt_split_fits(const cutt_contraction *c, const cutt_split *s) {
  if (c->reduce || c->right_is_one || c->no_terms || c->empty || c->type->bytes < 4) return false;
  return s->mode >= 0 && s->mode < c->modes && c->modes < CUTT_MOST_MODES && c->mode[s->mode].group == CUTT_GROUP_K &&
         s->parts > 1 && c->mode[s->mode].extent % s->parts == 0;
}

int64_t cutt_split_bytes(const cutt_contraction *c, const cutt_split *s) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(c->volume[CUTT_RESULT] * c->type->bytes, s->parts, &bytes) || bytes > INT64_MAX / 2)
    return INT64_MAX;
  return cutt_aligned(bytes);
}

/* Strides of D's modes where it is packed in its own order. */
static void packed_strides(const cutt_contraction *c, int64_t stride[CUTT_MOST_MODES]) {
  int mode[CUTT_MOST_MODES], count = 0;
  int64_t at = 1;
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].stride[CUTT_RESULT]) mode[count++] = i;
  cutt_sort_modes(c, CUTT_RESULT, mode, count);
  for (int i = 0; i < count; at *= c->mode[mode[i++]].extent) stride[mode[i]] = at;
}

static void set_volume(cutt_contraction *c, cutt_tensor t, int64_t volume) {
  c->volume[t] = volume;
  c->low[t] = 0;
  c->high[t] = volume * c->type->bytes;
}

void cutt_split_products(const cutt_contraction *c, const cutt_split *s, cutt_contraction *products) {
  int64_t packed[CUTT_MOST_MODES];
  packed_strides(c, packed);
  *products = *c;
  products->modes = 0;
  for (int i = 0; i < c->modes; ++i) {
    cutt_contract_mode mode = c->mode[i];
    if (mode.stride[CUTT_RESULT]) mode.stride[CUTT_RESULT] = packed[i];
    if (i == s->mode) mode.extent /= s->parts;
    if (mode.extent > 1) products->mode[products->modes++] = mode;
  }
  cutt_contract_mode *batch = &products->mode[products->modes++];
  *batch = c->mode[s->mode];
  batch->group = CUTT_GROUP_BATCH;
  batch->extent = s->parts;
  for (int t = 0; t < CUTT_RESULT; ++t) batch->stride[t] *= c->mode[s->mode].extent / s->parts;
  batch->stride[CUTT_RESULT] = c->volume[CUTT_RESULT];
  products->modes = cutt_modes_fuse(products->mode, products->modes);
  set_volume(products, CUTT_RESULT, c->volume[CUTT_RESULT] * s->parts);
  cutt_beta_clear(products);
}

void cutt_split_sum(const cutt_contraction *c, const cutt_split *s, cutt_contraction *sum) {
  int64_t packed[CUTT_MOST_MODES];
  packed_strides(c, packed);
  *sum = *c;
  sum->modes = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (!c->mode[i].stride[CUTT_RESULT]) continue;
    cutt_contract_mode *mode = &sum->mode[sum->modes++];
    *mode = c->mode[i];
    mode->group = CUTT_GROUP_M;
    mode->stride[CUTT_LEFT] = packed[i];
    mode->stride[CUTT_RIGHT] = 0;
  }
  cutt_contract_mode *parts = &sum->mode[sum->modes++];
  *parts = (cutt_contract_mode){.group = CUTT_GROUP_SUM_L, .extent = s->parts};
  memcpy(parts->name, c->mode[s->mode].name, sizeof parts->name);
  parts->stride[CUTT_LEFT] = c->volume[CUTT_RESULT];
  sum->modes = cutt_modes_fuse(sum->mode, sum->modes);
  set_volume(sum, CUTT_LEFT, c->volume[CUTT_RESULT] * s->parts);
  set_volume(sum, CUTT_RIGHT, 1);
  sum->right_is_one = sum->alpha_is_one = true;
  sum->conjugate[CUTT_LEFT] = sum->conjugate[CUTT_RIGHT] = false;
  cutt_scalar_set(c->type, 1, sum->alpha);
}

/* -------------------------------------------------------------------------------------------------------------- the choice */

/* What it takes at least: moving operands, parts and D, and multiplying, at what products reach of the speed of both. Parts that L2 holds
 * come from there. */
static double least_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_split *s) {
  static const double reached = 1.2;
  const double bytes = c->type->bytes, parts = (double)cutt_split_bytes(c, s);
  const double operands = (double)(c->volume[CUTT_LEFT] + c->volume[CUTT_RIGHT]) * bytes;
  const double multiply = r->blas_flops > 0 ? cutt_flops(c) / r->blas_flops : 0;
  const double sum = (parts > CACHE ? parts : 0) + (double)c->volume[CUTT_RESULT] * bytes;
  return 2 * r->launch + reached * fmax(multiply, (operands + parts) / r->memory) + sum / r->memory;
}

typedef struct candidates {
  int count;
  double seconds[CUTT_MOST_SPLITS];
  cutt_split *list;
} candidates;

static void add(candidates *all, const cutt_split *split, double seconds) {
  int at = all->count;
  if (at == CUTT_MOST_SPLITS && seconds >= all->seconds[at - 1]) return;
  if (at < CUTT_MOST_SPLITS)
    ++all->count;
  else
    --at;
  for (; at > 0 && all->seconds[at - 1] > seconds; --at) {
    all->seconds[at] = all->seconds[at - 1];
    all->list[at] = all->list[at - 1];
  }
  all->seconds[at] = seconds;
  all->list[at] = *split;
}

/* A mode as a whole, so that it is no longer summed over. */
static void add_whole_modes(const cutt_contraction *c, const cutt_rates *r, int64_t limit, double below,
                            candidates *all) {
  int summed = 0;
  for (int i = 0; i < c->modes; ++i) summed += c->mode[i].group == CUTT_GROUP_K;
  for (int i = 0; i < c->modes && summed > 1; ++i) {
    const cutt_split whole = {i, c->mode[i].extent};
    if (!cutt_split_fits(c, &whole) || cutt_split_bytes(c, &whole) > limit) continue;
    const double seconds = least_seconds(c, r, &whole);
    if (seconds < below) add(all, &whole, seconds);
  }
}

/* What is left by a kernel that has room for few terms. */
static double few_terms_seconds(const cutt_contraction *products, const cutt_rates *r) {
  double least = INFINITY;
  for (int rows = 0; rows < 2; ++rows) {
    cutt_core_shape core;
    cutt_strip_shape strip;
    cutt_core_choose(products, r, rows == 1, &core);
    cutt_strip_choose(products, r, rows == 1, &strip);
    least = fmin(least, fmin(core.seconds, strip.seconds));
  }
  return least;
}

/* The summed mode with the longest step in the larger operand, whose chunks leave what lies next to each other together; -1: none. */
static int outermost(const cutt_contraction *c) {
  const cutt_tensor t = c->volume[CUTT_LEFT] < c->volume[CUTT_RIGHT] ? CUTT_RIGHT : CUTT_LEFT;
  int mode = -1;
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].group == CUTT_GROUP_K && (mode < 0 || llabs(c->mode[i].stride[t]) > llabs(c->mode[mode].stride[t])))
      mode = i;
  return mode;
}

/* As few parts of a mode as leave so few terms that such a kernel is fastest. */
static void add_few_terms(const cutt_contraction *c, const cutt_rates *r, int64_t limit, double below,
                          candidates *all) {
  enum { MOST_TRIES = 3, MOST_TERMS = 512 };
  const bool any = c->type->type == CUTT_F32 || (c->type->type == CUTT_F64 && r->matrix_units);
  cutt_split split = {outermost(c), 0}, best = {0, 0};
  double least = below;
  int64_t terms = 1;
  cutt_contraction *products = any && split.mode >= 0 ? malloc(sizeof *products) : NULL;
  if (!products) return;
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].group == CUTT_GROUP_K) terms *= c->mode[i].extent;
  const int64_t extent = c->mode[split.mode].extent;
  int tries = 0;
  int64_t before = 1;
  for (split.parts = 2; split.parts < extent && tries < MOST_TRIES; ++split.parts) {
    if (extent % split.parts || terms / split.parts > MOST_TERMS || 2 * split.parts < 3 * before) continue;
    before = split.parts;
    if (cutt_split_bytes(c, &split) > limit || !cutt_split_fits(c, &split)) break;
    const double sum = least_seconds(c, r, &split);
    if (!(sum < below)) break;
    cutt_split_products(c, &split, products);
    const double seconds = fmax(sum, few_terms_seconds(products, r) + (double)cutt_split_bytes(c, &split) / r->memory);
    ++tries;
    if (!(seconds < least)) continue;
    least = seconds;
    best = split;
  }
  free(products);
  if (best.parts) add(all, &best, least);
}

int cutt_splits_list(const cutt_contraction *c, const cutt_rates *r, int64_t limit, double below,
                     cutt_split list[CUTT_MOST_SPLITS]) {
  candidates all = {.list = list};
  add_whole_modes(c, r, limit, below, &all);
  add_few_terms(c, r, limit, below, &all);
  return all.count;
}

/* ---------------------------------------------------------------------------------------------------------------- the plan */

/* The sum, and its best shape. */
typedef struct planned_sum {
  cutt_contraction sum;
  cutt_device_shape shape;
} planned_sum;

static cuttResult plan_sum(const cutt_contraction *c, const cutt_split *split, const cutt_rates *rates, int64_t limit,
                           planned_sum **planned) {
  planned_sum *p = *planned = malloc(sizeof *p);
  if (!p) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a sum", sizeof *p);
  cutt_split_sum(c, split, &p->sum);
  cutt_device_pass_choose(&p->sum, rates, limit, &p->shape);
  return CUTT_SUCCESS;
}

double cutt_parts_seconds(const cutt_contraction *c, const cutt_split *split, const cutt_rates *rates, int64_t limit) {
  planned_sum *p = NULL;
  if (plan_sum(c, split, rates, limit, &p)) return INFINITY;
  const double seconds = p->shape.seconds;
  free(p);
  return seconds;
}

cuttResult cutt_parts_prepare(const cutt_contraction *c, const cutt_split *split, const cutt_rates *rates,
                              const cutt_runtime *runtime, size_t offset, int64_t limit, cutt_parts **made) {
  cutt_parts *parts = *made = calloc(1, sizeof *parts);
  planned_sum *p = NULL;
  if (!parts) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *parts);
  parts->split = *split;
  parts->whole = *c;
  parts->offset = offset;
  parts->sum_offset = offset + (size_t)cutt_split_bytes(c, split);
  cuttResult result = plan_sum(c, split, rates, limit - (int64_t)parts->sum_offset, &p);
  if (!result && !(p->shape.seconds < INFINITY))
    result = cutt_error(CUTT_INTERNAL_ERROR, "the parts of a sum have too many tiles for one pass");
  if (!result) {
    parts->seconds = p->shape.seconds;
    result = cutt_device_pass_prepare(&p->sum, rates, &p->shape, runtime, &parts->sum);
  }
  free(p);
  return result;
}

void cutt_parts_release(cutt_parts *parts) {
  if (!parts) return;
  cutt_device_pass_release(parts->sum);
  free(parts);
}
