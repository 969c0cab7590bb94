/* From the shape of a pass on a GPU (device_pass.h) to the launches, and these. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/device_pass.h"
#include "gpu/divisor.h"
#include "gpu/kernels/core_list.h"
#include "gpu/kernels/join_list.h"
#include "gpu/kernels/multiply_list.h"
#include "gpu/kernels/panel_list.h"
#include "gpu/kernels/pass_list.h"
#include "gpu/kernels/small_list.h"
#include "gpu/kernels/staged_list.h"
#include "gpu/kernels/stretch_list.h"
#include "gpu/kernels/strip_list.h"
#include "gpu/kernels/sum_list.h"
#include "plan/services.h"

#define PASS_IMAGE(name) "pass",
#define MULTIPLY_IMAGE(name) "multiply",
#define PANEL_IMAGE(name) "panel",
#define CORE_IMAGE(name) "core",
#define SUM_IMAGE(name) "sum",
#define SMALL_IMAGE(name) "small",
#define STRETCH_IMAGE(name) "stretch",
#define STRIP_IMAGE(name) "strip",
#define STAGED_IMAGE(name) "staged",
#define NAME(name) "cutt_" #name,
static const char *const images[] = {
    CUTT_PASS_KERNELS(PASS_IMAGE) CUTT_MULTIPLY_KERNELS(MULTIPLY_IMAGE) CUTT_PANEL_KERNELS(PANEL_IMAGE)
        CUTT_CORE_KERNELS(CORE_IMAGE) CUTT_SUM_KERNELS(SUM_IMAGE) CUTT_SMALL_KERNELS(SMALL_IMAGE)
            CUTT_STRETCH_KERNELS(STRETCH_IMAGE) CUTT_STRIP_KERNELS(STRIP_IMAGE) CUTT_STAGED_KERNELS(STAGED_IMAGE)};
static const char *const names[] = {CUTT_PASS_KERNELS(NAME) CUTT_MULTIPLY_KERNELS(NAME) CUTT_PANEL_KERNELS(NAME)
                                        CUTT_CORE_KERNELS(NAME) CUTT_SUM_KERNELS(NAME) CUTT_SMALL_KERNELS(NAME)
                                            CUTT_STRETCH_KERNELS(NAME) CUTT_STRIP_KERNELS(NAME)
                                                CUTT_STAGED_KERNELS(NAME)};
static const cutt_kernel_list pass_kernels = {(int)(sizeof names / sizeof *names), images, names};
/* A list of their own, since all kernels of one have to wait for what they begin beside. */
#define JOIN_IMAGE(name) "join",
static const char *const join_images[] = {CUTT_JOIN_KERNELS(JOIN_IMAGE)};
static const char *const join_names[] = {CUTT_JOIN_KERNELS(NAME)};
static const cutt_kernel_list join_kernels = {(int)(sizeof join_names / sizeof *join_names), join_images, join_names};
#define COUNT_ONE(name) +1
enum {
  MULTIPLY_F32 = 0 CUTT_PASS_KERNELS(COUNT_ONE),
  MULTIPLY_F64,
  PANEL_F32,
  PANEL_F64,
  CORE_ROWS,
  CORE_COLUMNS,
  CORE_ROWS_LOTS,
  CORE_COLUMNS_LOTS,
  SUMS,                                            /* of which there are as many as of the first */
  SMALL = SUMS CUTT_SUM_KERNELS(COUNT_ONE),        /* the same */
  STRETCHES = SMALL CUTT_SMALL_KERNELS(COUNT_ONE), /* the same */
  STRIPS = STRETCHES CUTT_STRETCH_KERNELS(COUNT_ONE),
  STAGED = STRIPS CUTT_STRIP_KERNELS(COUNT_ONE) /* as many as of the first */
};

_Static_assert((int)CUTT_COMBINE_ADD == (int)CUTT_OP_ADD && (int)CUTT_COMBINE_MULTIPLY == (int)CUTT_OP_MULTIPLY &&
                   (int)CUTT_COMBINE_MAX == (int)CUTT_OP_MAX && (int)CUTT_COMBINE_MIN == (int)CUTT_OP_MIN,
               "kernels are given operators by their numbers");

static int kernel_of(cuttType_t type) {
  static const cuttType_t order[] = {CUTT_F16, CUTT_BF16, CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_I32, CUTT_I64};
  int kernel = 0;
  while (order[kernel] != type) ++kernel;
  return kernel;
}

/* ----------------------------------------------------------------------------------------------------------- the parameters */

typedef struct maker {
  const cutt_contraction *c;
  const cutt_device_shape *s;
  cutt_device_pass *pass;
  int digits;
  int64_t bytes[CUTT_TENSORS];     /* of an element of each tensor */
  int64_t result[CUTT_MOST_MODES]; /* D's strides, as the launch writes it */
  uint32_t bound[CUTT_MOST_MODES];
} maker;

static int64_t chunks_of(const maker *m, int mode) {
  const int64_t part = (int64_t)m->s->x[mode] * m->s->y[mode];
  return (m->c->mode[mode].extent + part - 1) / part;
}

static void add_digit(maker *m, int mode, int64_t extent, int64_t along) {
  if (extent == 1) return;
  cutt_pass_digit *d = &m->pass->args.digit[m->digits++];
  *d = (cutt_pass_digit){.extent = cutt_divide_by(extent), .bound = m->bound[mode], .along = along};
  for (int t = 0; t < CUTT_TENSORS; ++t)
    d->step[t] = (t == CUTT_RESULT ? m->result[mode] : m->c->mode[mode].stride[t]) * along * m->bytes[t];
}

/* A mode whose parts do not end where it does has a bound, the one of x the first. */
static void set_bounds(maker *m) {
  cutt_pass_args *args = &m->pass->args;
  uint32_t next = 1;
  for (int b = 0; b < CUTT_PASS_BOUNDS; ++b) args->extent[b] = INT64_MAX;
  for (int i = 0; i < m->c->modes; ++i) {
    const int64_t extent = m->c->mode[i].extent, part = (int64_t)m->s->x[i] * m->s->y[i];
    m->bound[i] = CUTT_PASS_BOUNDS;
    if (part == 1 || chunks_of(m, i) * part == extent) continue;
    m->bound[i] = m->s->x[i] > 1 ? 0 : next++;
    args->extent[m->bound[i]] = extent;
    args->reach[m->bound[i]] = part - 1;
    if (cutt_mode_role(&m->c->mode[i]) != CUTT_ROLE_K) args->result_bounds |= 1u << m->bound[i];
  }
}

static void list_digits(maker *m) {
  const cutt_device_shape *s = m->s;
  cutt_pass_args *args = &m->pass->args;
  int mode[CUTT_MOST_MODES];
  for (int i = 0; i < s->x_modes; ++i) add_digit(m, s->x_mode[i], s->x[s->x_mode[i]], 1);
  args->x_end = (uint32_t)m->digits;
  for (int i = 0; i < s->y_modes; ++i) add_digit(m, s->y_mode[i], s->y[s->y_mode[i]], s->x[s->y_mode[i]]);
  args->y_end = (uint32_t)m->digits;
  int64_t terms = 1;
  m->pass->tiles = 1;
  for (int summed = 1; summed >= 0; --summed) {
    const int count = cutt_device_pass_modes(m->c, summed == 1, s->by_left, mode);
    for (int i = 0; i < count; ++i) {
      add_digit(m, mode[i], chunks_of(m, mode[i]), (int64_t)s->x[mode[i]] * s->y[mode[i]]);
      *(summed ? &terms : &m->pass->tiles) *= chunks_of(m, mode[i]);
    }
    *(summed ? &args->z_end : &args->tile_end) = (uint32_t)m->digits;
  }
  args->terms = m->c->no_terms ? 0 : (uint32_t)terms;
  args->part_terms = (uint32_t)((terms + s->parts - 1) / s->parts);
}

/* The shortest step in L of the digits from first on. */
static int64_t shortest(const cutt_pass_args *args, uint32_t first, uint32_t end) {
  int64_t least = INT64_MAX;
  for (uint32_t i = first; i < end; ++i)
    if (args->digit[i].step[0] && llabs(args->digit[i].step[0]) < least) least = llabs(args->digit[i].step[0]);
  return least;
}

/* Which blocks are next to each other: of one operand those whose elements are, as far as one can say. */
static void order_blocks(maker *m) {
  cutt_pass_args *args = &m->pass->args;
  args->parts_first =
      !m->c->right_is_one || shortest(args, args->y_end, args->z_end) <= shortest(args, args->z_end, args->tile_end);
  args->inner = cutt_divide_by(args->parts_first ? m->s->parts : m->pass->tiles);
}

/* Where tables and tiles are in shared memory. */
static void lay_out(maker *m) {
  const cutt_device_shape *s = m->s;
  cutt_pass_args *args = &m->pass->args;
  const int64_t element = m->c->type->bytes, batch = (int64_t)args->groups * CUTT_PASS_ROWS_OF(element);
  const int64_t rows = (s->rows + batch - 1) / batch * batch;
  int64_t at = rows * CUTT_PASS_ROW_ENTRY, most;
  args->rows = (uint32_t)rows;
  args->rows_there = (uint32_t)s->rows;
  args->terms_at = (uint32_t)at;
  at += CUTT_PASS_TABLE * CUTT_PASS_TERM_ENTRY;
  args->positions_at = (uint32_t)at;
  if (s->turned[0] >= 0 || s->turned[1] >= 0) at += s->positions * CUTT_PASS_POSITION_ENTRY;
  args->pitch = (uint32_t)s->positions | 1;
  most = s->way == CUTT_PASS_PLAIN      ? 0
         : s->way == CUTT_PASS_ACROSS_X ? batch * (s->positions | 1)
         : s->way == CUTT_PASS_ACROSS_Y ? s->positions * (args->groups | 1)
                                        : CUTT_PASS_THREADS;
  most *= cutt_sum_bytes(m->c);
  for (int t = 0; t < 2; ++t) {
    if (s->turned[t] < 0) continue;
    const bool second = s->y_mode[0] != s->turned[t];
    const int64_t apart = second ? s->y[s->y_mode[0]] : 1;
    const int64_t at_once = s->turned_rows ? smaller(s->rows, s->turned_rows) : s->rows;
    args->turn[t] = (cutt_pass_turn){cutt_divide_by(at_once / apart), cutt_divide_by(apart), (uint32_t)at};
    at += (batch * args->pitch * element + 15) / 16 * 16;
  }
  args->sums_at = (uint32_t)at;
  m->pass->grid.shared_bytes = (uint32_t)(at + most);
}

static void set_scalars(const cutt_contraction *c, cutt_sum_scalars *by) {
  const bool wide = c->type->type == CUTT_F64 || c->type->type == CUTT_C64;
  const void *const from[2] = {c->alpha, c->beta};
  double *const to[2] = {by->alpha, by->beta};
  int64_t *const whole[2] = {&by->alpha_integer, &by->beta_integer};
  for (int i = 0; i < 2; ++i) {
    float single[2] = {0, 0};
    int32_t narrow = 0;
    if (c->type->type == CUTT_I32) {
      memcpy(&narrow, from[i], sizeof narrow);
      *whole[i] = narrow;
    } else if (c->type->type == CUTT_I64) {
      memcpy(whole[i], from[i], sizeof *whole[i]);
    } else if (wide) {
      memcpy(to[i], from[i], (size_t)c->type->scalar_bytes);
    } else {
      memcpy(single, from[i], (size_t)c->type->scalar_bytes);
      to[i][0] = (double)single[0];
      to[i][1] = (double)single[1];
    }
  }
  by->alone = c->alpha_is_one;
  by->reads = !c->beta_is_zero;
  by->alpha_mixed = by->alpha[1] != 0 || by->alpha[1] != by->alpha[1];
  by->beta_mixed = by->beta[1] != 0 || by->beta[1] != by->beta[1];
}

/* --------------------------------------------------------------------------------------------------------------- sums of parts */

/* What adds up the parts, which the first launch puts into workspace. */
static cuttResult make_join(const maker *m) {
  cutt_device_join *join = m->pass->join = calloc(1, sizeof *join);
  if (!join) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *join);
  join->kernel = kernel_of(m->c->type->type);
  join->grid = (cutt_grid){.blocks = cutt_join_fill(m->c, m->s->parts, m->result, &join->args),
                           .threads = CUTT_JOIN_THREADS,
                           .shared_bytes = (uint32_t)(CUTT_JOIN_THREADS * cutt_sum_bytes(m->c)),
                           .early = true};
  set_scalars(m->c, &join->args.scalars);
  return join->grid.blocks ? CUTT_SUCCESS
                           : cutt_error(CUTT_INTERNAL_ERROR, "%" PRId64 " parts of %" PRId64 " results", m->s->parts,
                                        m->c->volume[CUTT_RESULT]);
}

/* D's strides: as the caller has them, or packed in workspace. */
static void set_strides(maker *m) {
  int mode[CUTT_MOST_MODES];
  const int count = cutt_device_pass_modes(m->c, false, m->s->by_left, mode);
  int64_t packed = 1;
  for (int i = 0; i < m->c->modes; ++i) m->result[i] = m->c->mode[i].stride[CUTT_RESULT];
  for (int i = 0; i < count && m->s->parts > 1; ++i) {
    m->result[mode[i]] = packed;
    packed *= m->c->mode[mode[i]].extent;
  }
}

/* ------------------------------------------------------------------------------------------------------------------ the pass */

static cuttResult make(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const int64_t element = c->type->bytes, sum = cutt_sum_bytes(c);
  const bool in_parts = shape->parts > 1;
  maker m = {.c = c, .s = shape, .pass = pass, .bytes = {element, element, in_parts ? sum : element}};
  cutt_pass_args *args = &pass->args;
  pass->kernel = kernel_of(c->type->type);
  args->way = (uint32_t)shape->way;
  args->x = cutt_divide_by(shape->positions);
  args->groups = (uint32_t)smaller(CUTT_PASS_THREADS / shape->positions, (int64_t)CUTT_PASS_GROUPS);
  args->has_right = !c->right_is_one;
  args->op = (uint8_t)c->reduce;
  args->stores_sums = in_parts;
  for (int t = 0; t < 2; ++t) args->flip[t] = c->conjugate[t] ? UINT32_C(1) << 31 : 0;
  set_scalars(c, &args->scalars);
  set_strides(&m);
  set_bounds(&m);
  list_digits(&m);
  order_blocks(&m);
  lay_out(&m);
  pass->grid.blocks = (uint32_t)(pass->tiles * shape->parts);
  pass->grid.threads = CUTT_PASS_THREADS;
  if (!in_parts) return CUTT_SUCCESS;
  args->scalars.alone = 1;
  args->scalars.reads = 0;
  args->part_bytes = c->volume[CUTT_RESULT] * sum;
  pass->workspace = (size_t)(args->part_bytes * shape->parts);
  return make_join(&m);
}

static cuttResult make_products(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  maker m = {.c = c, .s = shape, .pass = pass};
  pass->tiles = shape->products.tiles;
  pass->kernel = c->type->type == CUTT_F64 ? MULTIPLY_F64 : MULTIPLY_F32;
  pass->grid.blocks = (uint32_t)(cutt_multiply_blocks(&shape->products) * shape->parts);
  pass->grid.threads = CUTT_MULTIPLY_THREADS;
  set_strides(&m);
  cutt_multiply_fill(c, &shape->products, m.result, &pass->multiply, &pass->grid.shared_bytes);
  if (shape->parts == 1) return CUTT_SUCCESS;
  pass->workspace = (size_t)(pass->multiply.part_bytes * shape->parts);
  return make_join(&m);
}

static cuttResult make_panels(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const cutt_panel_shape *s = &shape->panel;
  pass->tiles = s->panels * s->matrices * s->strips;
  pass->kernel = c->type->type == CUTT_F64 ? PANEL_F64 : PANEL_F32;
  pass->grid.blocks = (uint32_t)pass->tiles;
  pass->grid.threads = CUTT_PANEL_THREADS;
  cutt_panel_fill(c, s, &pass->panel, &pass->grid.shared_bytes);
  return CUTT_SUCCESS;
}

static cuttResult make_cores(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const cutt_core_shape *s = &shape->core;
  pass->tiles = s->panels * s->matrices * s->strips;
  const bool lots = s->depth < s->terms;
  pass->kernel = s->streams_rows ? (lots ? CORE_ROWS_LOTS : CORE_ROWS) : lots ? CORE_COLUMNS_LOTS : CORE_COLUMNS;
  pass->grid.blocks = (uint32_t)pass->tiles;
  pass->grid.threads = (uint32_t)s->threads;
  cutt_core_fill(c, s, &pass->core, &pass->grid.shared_bytes);
  return CUTT_SUCCESS;
}

static cuttResult make_strips(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const cutt_strip_shape *s = &shape->strip;
  pass->tiles = s->panels * s->matrices * s->strips;
  pass->kernel = STRIPS + (s->streams_rows ? s->each / 4 - 2 : s->each / 2);
  pass->grid.blocks = (uint32_t)pass->tiles;
  pass->grid.threads = (uint32_t)(s->along * s->across) * 32;
  cutt_strip_fill(c, s, &pass->strip, &pass->grid.shared_bytes);
  return CUTT_SUCCESS;
}

/* A sum of one operand: its kernel, of a family, and where it writes: D, or parts of it. Returns the bytes of a number there. */
static int64_t begin_sum(maker *m, const cutt_sum_blocks *b, int family, uint32_t threads) {
  m->pass->kernel = family + kernel_of(m->c->type->type);
  m->pass->grid.threads = threads;
  set_strides(m);
  return b->parts > 1 ? cutt_sum_bytes(m->c) : m->c->type->bytes;
}

/* The rest of what its kernel is given, and the launch; and where it is in parts, room for these and what adds them up. */
static cuttResult end_sum(const maker *m, const cutt_sum_blocks *b, int64_t result_bytes, cutt_sum_scalars *scalars,
                          uint8_t *stores_sums, int64_t *part_bytes) {
  set_scalars(m->c, scalars);
  m->pass->tiles = b->tiles;
  m->pass->grid.blocks = (uint32_t)(cutt_ceil_of(b->tiles, b->block_tiles) * b->parts);
  *stores_sums = b->parts > 1;
  if (b->parts == 1) return CUTT_SUCCESS;
  *part_bytes = m->c->volume[CUTT_RESULT] * result_bytes;
  m->pass->workspace = (size_t)(*part_bytes * b->parts);
  return make_join(m);
}

static cuttResult make_tiles(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const cutt_sum_shape *s = &shape->sum;
  cutt_sum_args *args = &pass->sum;
  maker m = {.c = c, .s = shape, .pass = pass};
  const int64_t result_bytes = begin_sum(&m, &s->blocks, SUMS, CUTT_SUM_THREADS);
  cutt_sum_fill(c, s, m.result, result_bytes, args, &pass->grid.shared_bytes);
  return end_sum(&m, &s->blocks, result_bytes, &args->scalars, &args->stores_sums, &args->part_bytes);
}

static cuttResult make_stretches(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const cutt_stretch_shape *s = &shape->stretch;
  cutt_stretch_args *args = &pass->stretch;
  maker m = {.c = c, .s = shape, .pass = pass};
  const int64_t result_bytes = begin_sum(&m, &s->blocks, STRETCHES, CUTT_STRETCH_THREADS);
  cutt_stretch_fill(c, s, m.result, result_bytes, args);
  pass->grid.shared_bytes = (uint32_t)s->shared_bytes;
  return end_sum(&m, &s->blocks, result_bytes, &args->scalars, &args->stores_sums, &args->part_bytes);
}

static cuttResult make_staged(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const cutt_staged_shape *s = &shape->staged;
  cutt_staged_args *args = &pass->staged;
  maker m = {.c = c, .s = shape, .pass = pass};
  const int64_t result_bytes = begin_sum(&m, &s->blocks, STAGED, CUTT_STAGED_THREADS);
  cutt_staged_fill(c, s, m.result, result_bytes, args);
  pass->grid.shared_bytes = (uint32_t)s->shared_bytes;
  return end_sum(&m, &s->blocks, result_bytes, &args->scalars, &args->stores_sums, &args->part_bytes);
}

static cuttResult make_small(const cutt_contraction *c, const cutt_device_shape *shape, cutt_device_pass *pass) {
  const cutt_small_shape *s = &shape->small;
  pass->tiles = s->tiles;
  pass->kernel = SMALL + kernel_of(c->type->type);
  pass->grid.blocks = (uint32_t)s->blocks;
  pass->grid.threads = (uint32_t)s->threads;
  pass->grid.shared_bytes = (uint32_t)s->shared_bytes;
  for (int aligned = 0; aligned < 2; ++aligned) {
    cutt_small_fill(c, s, aligned == 1, &pass->small[aligned]);
    set_scalars(c, &pass->small[aligned].scalars);
  }
  return CUTT_SUCCESS;
}

static cuttResult make_combination(const cutt_contraction *c, const cutt_rates *rates, const cutt_runtime *runtime,
                                   cutt_device_pass *pass) {
  const cuttResult result = cutt_device_combine_prepare(c, rates, runtime, &pass->combination);
  if (!result) pass->tiles = pass->combination->device->narrow.args.tiles;
  return result;
}

cuttResult cutt_device_pass_prepare(const cutt_contraction *c, const cutt_rates *rates, const cutt_device_shape *shape,
                                    const cutt_runtime *runtime, cutt_device_pass **pass) {
  cuttResult result = CUTT_SUCCESS;
  cutt_device_pass *made = *pass = calloc(1, sizeof *made);
  if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made);
  made->shape = *shape;
  switch (shape->kind) {
    case CUTT_DEVICE_COMBINATION:
      return make_combination(c, rates, runtime, made);
    case CUTT_DEVICE_PRODUCTS:
      result = make_products(c, shape, made);
      break;
    case CUTT_DEVICE_PANELS:
      result = make_panels(c, shape, made);
      break;
    case CUTT_DEVICE_CORES:
      result = make_cores(c, shape, made);
      break;
    case CUTT_DEVICE_STRIPS:
      result = make_strips(c, shape, made);
      break;
    case CUTT_DEVICE_TILES:
      result = make_tiles(c, shape, made);
      break;
    case CUTT_DEVICE_STRETCHES:
      result = make_stretches(c, shape, made);
      break;
    case CUTT_DEVICE_STAGED:
      result = make_staged(c, shape, made);
      break;
    case CUTT_DEVICE_SMALL:
      result = make_small(c, shape, made);
      break;
    default:
      result = make(c, shape, made);
  }
  if (!result) result = runtime->kernels_find(&pass_kernels, &made->kernels);
  if (!result && made->join) result = runtime->kernels_find(&join_kernels, &made->join->kernels);
  return result;
}

void cutt_device_pass_release(cutt_device_pass *pass) {
  if (!pass) return;
  free(pass->join);
  cutt_device_combine_release(pass->combination);
  free(pass);
}

static cuttResult start(const cutt_device_pass *pass, const cutt_runtime *runtime, const unsigned char *left,
                        const unsigned char *right, unsigned char *result, cudaStream_t stream) {
  const bool swapped = cutt_device_pass_by_rows(&pass->shape) == CUTT_RIGHT;
  const uintptr_t all = (uintptr_t)left | (uintptr_t)right | (uintptr_t)result;
  const void *args = &pass->args;
  if (pass->shape.kind == CUTT_DEVICE_SMALL) args = &pass->small[all % CUTT_SMALL_WIDE == 0];
  void *parameters[] = {swapped ? (void *)&right : (void *)&left, (void *)&result, (void *)(uintptr_t)args,
                        swapped ? (void *)&left : (void *)&right};
  return runtime->launch(pass->kernels, pass->kernel, &pass->grid, parameters, stream);
}

cuttResult cutt_device_pass_run(const cutt_device_pass *pass, const cutt_runtime *runtime, const unsigned char *left,
                                const unsigned char *right, unsigned char *result, unsigned char *workspace,
                                cudaStream_t stream) {
  if (pass->combination) return cutt_device_combine_run(pass->combination, runtime, left, right, result, stream);
  cutt_device_join *join = pass->join;
  const cuttResult first = start(pass, runtime, left, right, join ? workspace : result, stream);
  if (first || !join) return first;
  void *parameters[] = {(void *)&workspace, (void *)&result, (void *)&join->args, (void *)&right};
  return runtime->launch(join->kernels, join->kernel, &join->grid, parameters, stream);
}
