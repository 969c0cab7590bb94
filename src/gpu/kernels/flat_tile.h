/* What the kernels without tables have in common: a tile's place, from its number, and a thread's share of its rows and columns. */
#ifndef CUTT_GPU_KERNELS_FLAT_TILE_H
#define CUTT_GPU_KERNELS_FLAT_TILE_H

#include "device.h" /* the runtime's: src/runtime/cuda/kernels */
#include "flat_args.h"

/* Blocks that fit on an SM: 64 registers for each thread. From sm_100 on the same loads in flight take up to 80. */
#if __CUDA_ARCH__ >= 1000
#define FLAT_BLOCKS 3
#else
#define FLAT_BLOCKS 4
#endif
enum { FLAT_BATCH = 8, FLAT_BATCH_16 = 4 }; /* loads of a thread that are in flight at once, and of 16 bytes */
#define FLAT_NOWHERE UINT32_MAX             /* no place in shared memory */

DEVICE uint32_t flat_divide(uint32_t n, cutt_divisor by) { return (multiply_high(n, by.multiplier) + n) >> by.shift; }

/* Where row, or column, number n begins. single: they are counted over one mode. */
DEVICE int64_t flat_offset(const cutt_flat_runs *runs, uint32_t n, bool single) {
  if (single) return (int64_t)(int32_t)n * runs->step[0];
  const uint32_t rest = flat_divide(n, runs->extent[0]), last = flat_divide(rest, runs->extent[1]);
  return (int64_t)(int32_t)(n - rest * runs->extent[0].by) * runs->step[0] +
         (int64_t)(int32_t)(rest - last * runs->extent[1].by) * runs->step[1] + (int64_t)(int32_t)last * runs->step[2];
}

typedef struct flat_tile {
  int64_t in, out;
  uint32_t row_bytes, rows;
} flat_tile;

DEVICE flat_tile flat_tile_of(const cutt_flat_args *args, uint32_t number) {
  flat_tile t;
  uint32_t rest = flat_divide(number, args->grid[0].extent);
  const uint32_t digit0 = number - rest * args->grid[0].extent.by;
  number = rest;
  rest = flat_divide(number, args->grid[1].extent);
  const uint32_t digit1 = number - rest * args->grid[1].extent.by;
  t.rows = digit0 + 1 == args->grid[0].extent.by ? args->last_rows : args->rows;
  t.row_bytes = digit1 + 1 == args->grid[1].extent.by ? args->last_row_bytes : args->row_bytes;
  t.in = (int64_t)(int32_t)digit0 * args->grid[0].in + (int64_t)(int32_t)digit1 * args->grid[1].in;
  t.out = (int64_t)(int32_t)digit0 * args->grid[0].out + (int64_t)(int32_t)digit1 * args->grid[1].out;
  UNROLL(CUTT_FLAT_GRID)
  for (uint32_t i = 2; i < CUTT_FLAT_GRID; ++i) {
    if (i >= args->grid_modes) break;
    number = rest;
    rest = flat_divide(number, args->grid[i].extent);
    const int32_t digit = (int32_t)(number - rest * args->grid[i].extent.by);
    t.in += (int64_t)digit * args->grid[i].in;
    t.out += (int64_t)digit * args->grid[i].out;
  }
  return t;
}

/* A thread's share of a tile's rows (or columns, or groups of them): access `along` of run `across`, and from there on run by
 * run, and then the same of another access. */
typedef struct flat_share {
  uint32_t along, across;
} flat_share;

DEVICE flat_share flat_share_of(const cutt_flat_spread *spread) {
  flat_share s;
  const uint32_t rest = flat_divide(thread_index(), spread->along), part = flat_divide(rest, spread->across);
  s.along = thread_index() - rest * spread->along.by + part * spread->along.by;
  s.across = rest - part * spread->across.by;
  if (s.along >= spread->along_step) s.along = 0x40000000u; /* a thread that is left over */
  return s;
}

/* To a thread's next access: `each` is what is done with its place, for up to `batch` of them, if there are as many. */
#define FLAT_WALK(batch, runs, spread, each)                                                                           \
  UNROLL(batch)                                                                                                        \
  for (uint32_t i = 0; i < batch; ++i) {                                                                               \
    at[i] = FLAT_NOWHERE;                                                                                              \
    if (access < accesses) {                                                                                           \
      each;                                                                                                            \
      run += (spread)->across.by;                                                                                      \
      if (run >= runs) {                                                                                               \
        run = s.across;                                                                                                \
        access += (spread)->along_step;                                                                                \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* A tile's rows, by loads of so many bytes; keep(value, at) puts one into shared memory. */
#define DEFINE_FLAT_LOAD(name, bytes, type, batch, keep)                                                               \
  DEVICE void flat_load_##name(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t, bool single) { \
    const uint32_t accesses = t->row_bytes / bytes;                                                                    \
    const flat_share s = flat_share_of(&args->loads);                                                                  \
    const unsigned char *const from = in + t->in;                                                                      \
    uint32_t access = s.along, run = s.across;                                                                         \
    if (run >= t->rows) return;                                                                                        \
    while (access < accesses) {                                                                                        \
      type value[batch];                                                                                               \
      uint32_t at[batch];                                                                                              \
      FLAT_WALK(batch, t->rows, &args->loads,                                                                          \
                value[i] = global_load##bytes(from + (flat_offset(&args->row, run, single) + access * bytes));         \
                at[i] = run * args->pitch + access * bytes)                                                            \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (at[i] != FLAT_NOWHERE) keep(value[i], at[i]);                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }

/* Stores so many bytes of a column at a time: get(at, pitch) collects them from shared memory. */
#define DEFINE_FLAT_STORE(name, width, bytes, type, batch, get)                                                        \
  DEVICE void flat_store_##name(const cutt_flat_args *args, unsigned char *out, const flat_tile *t, bool single) {     \
    const uint32_t accesses = t->rows * width / bytes, columns = t->row_bytes / width;                                 \
    const flat_share s = flat_share_of(&args->stores);                                                                 \
    unsigned char *const to = out + t->out;                                                                            \
    uint32_t access = s.along, run = s.across;                                                                         \
    if (run >= columns) return;                                                                                        \
    while (access < accesses) {                                                                                        \
      type value[batch];                                                                                               \
      int64_t offset[batch];                                                                                           \
      uint32_t at[batch];                                                                                              \
      FLAT_WALK(batch, columns, &args->stores, at[i] = access * (bytes / width) * args->pitch + run * width;           \
                value[i] = get(at[i], args->pitch);                                                                    \
                offset[i] = flat_offset(&args->column, run, single) + access * bytes)                                  \
      UNROLL(batch)                                                                                                    \
      for (uint32_t i = 0; i < batch; ++i) {                                                                           \
        if (at[i] != FLAT_NOWHERE) global_store##bytes(to + offset[i], value[i]);                                      \
      }                                                                                                                \
    }                                                                                                                  \
  }

#endif
