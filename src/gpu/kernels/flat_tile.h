/* What the kernels without tables have in common: a tile's place, from its number, and a thread's share of its rows and columns. */
#ifndef CUTT_GPU_KERNELS_FLAT_TILE_H
#define CUTT_GPU_KERNELS_FLAT_TILE_H

#include "device.h" /* the runtime's: src/runtime/cuda/kernels */
#include "divide.h"
#include "early.h"
#include "flat_args.h"

enum { FLAT_BLOCKS = 4 }; /* that fit on an SM: 64 registers for each thread */
enum {
  FLAT_BATCH = CUTT_FLAT_BATCH,
  FLAT_BATCH_16 = 4
};                              /* loads of a thread that are in flight at once, and of 16 bytes */
#define FLAT_NOWHERE UINT32_MAX /* no place in shared memory */

/* Where row, or column, number n begins. single: they are counted over one mode. */
DEVICE int64_t flat_offset(const cutt_flat_runs *runs, uint32_t n, bool single) {
  if (single) return (int64_t)(int32_t)n * runs->step[0];
  const uint32_t rest = divide(n, runs->extent[0]), last = divide(rest, runs->extent[1]);
  return (int64_t)(int32_t)(n - rest * runs->extent[0].by) * runs->step[0] +
         (int64_t)(int32_t)(rest - last * runs->extent[1].by) * runs->step[1] + (int64_t)(int32_t)last * runs->step[2];
}

typedef struct flat_tile {
  int64_t in, out;
  uint32_t row_bytes, rows;
} flat_tile;

/* The number of the tile, or of the batch of accesses, that a block does: the last one first (tables.h). */
DEVICE uint32_t flat_number(const cutt_flat_args *args) { return args->last - block_index(); }

/* grouped: where args->row_chunks says so, some chunks of the mode that M_m cuts come before the next one of M_k's, since they
 * are neighbours in the input. The last group may lack some: tiles of nothing. grid: of up to `most` digits. */
DEVICE flat_tile flat_tile_in(const cutt_flat_args *args, const cutt_flat_digit *grid, uint32_t most, uint32_t number,
                              bool grouped) {
  flat_tile t;
  const bool groups = grouped && args->row_chunks > 0;
  uint32_t chunk = 0;
  if (groups) {
    const uint32_t group = divide(number, args->row_group);
    chunk = number - group * args->row_group.by;
    number = group;
  }
  uint32_t rest = divide(number, grid[0].extent);
  const uint32_t digit0 = number - rest * grid[0].extent.by;
  number = rest;
  rest = divide(number, grid[1].extent);
  uint32_t digit1 = number - rest * grid[1].extent.by, chunks = grid[1].extent.by;
  if (groups) {
    digit1 = args->row_group.by * digit1 + chunk;
    chunks = args->row_chunks;
  }
  t.rows = digit0 + 1 == grid[0].extent.by ? args->last_rows : args->rows;
  t.row_bytes = digit1 + 1 < chunks ? args->row_bytes : digit1 < chunks ? args->last_row_bytes : 0;
  t.in = (int64_t)(int32_t)digit0 * grid[0].in + (int64_t)(int32_t)digit1 * grid[1].in;
  t.out = (int64_t)(int32_t)digit0 * grid[0].out + (int64_t)(int32_t)digit1 * grid[1].out;
  UNROLL(CUTT_FLAT_GRID)
  for (uint32_t i = 2; i < most; ++i) {
    if (i >= args->grid_modes) break;
    number = rest;
    rest = divide(number, grid[i].extent);
    const int32_t digit = (int32_t)(number - rest * grid[i].extent.by);
    t.in += (int64_t)digit * grid[i].in;
    t.out += (int64_t)digit * grid[i].out;
  }
  return t;
}
DEVICE flat_tile flat_tile_of(const cutt_flat_args *args, uint32_t number, bool grouped) {
  return flat_tile_in(args, args->grid, CUTT_FLAT_GRID, number, grouped);
}

typedef struct flat_places {
  int64_t in, out;
} flat_places;

/* Of access number `inside` in run number `number` of a copy of runs, whose accesses are so many bytes apart on both sides: the digits
 * of the number are those of a tile's in the other kernels. */
DEVICE flat_places flat_places_in(const cutt_flat_args *args, uint32_t number, uint32_t inside, int32_t in,
                                  int32_t out) {
  flat_places p = {(int64_t)inside * in, (int64_t)inside * out};
  UNROLL(CUTT_FLAT_GRID)
  for (uint32_t i = 0; i < CUTT_FLAT_GRID; ++i) {
    if (i >= args->grid_modes) break;
    const bool last = i + 1 == args->grid_modes;
    const uint32_t rest = last ? 0 : divide(number, args->grid[i].extent);
    const int32_t digit = (int32_t)(number - rest * args->grid[i].extent.by);
    p.in += (int64_t)digit * args->grid[i].in;
    p.out += (int64_t)digit * args->grid[i].out;
    number = rest;
  }
  return p;
}

/* The same of access number n of all runs. */
DEVICE flat_places flat_places_of(const cutt_flat_args *args, uint32_t n, int32_t in, int32_t out) {
  const uint32_t number = divide(n, args->loads.along);
  return flat_places_in(args, number, n - number * args->loads.along.by, in, out);
}

/* A warp's accesses, args->each times one of each lane, are all of one run, so that where they begin is worked out once: the place of
 * the thread's first one, of which the others are CUTT_FLAT_LANES accesses apart; and how many accesses from it on the piece has. */
typedef struct flat_piece {
  flat_places at;
  uint32_t left;
} flat_piece;
DEVICE flat_piece flat_piece_of(const cutt_flat_args *args, int32_t in, int32_t out) {
  const uint32_t lane = thread_index() % CUTT_FLAT_LANES, most = args->each * CUTT_FLAT_LANES;
  const uint32_t n = flat_number(args) * (thread_count() / CUTT_FLAT_LANES) + thread_index() / CUTT_FLAT_LANES;
  const uint32_t number = divide(n, args->loads.along), first = (n - number * args->loads.along.by) * most;
  flat_piece p = {flat_places_in(args, number, first + lane, in, out), 0};
  const uint32_t length = args->run - first < most ? args->run - first : most;
  if (n < args->rows && lane < length) p.left = length - lane;
  return p;
}

/* A thread's share of a tile's rows (or columns, or groups of them): access `along` of run `across`, and from there on run by
 * run, and then the same of another access. */
typedef struct flat_share {
  uint32_t along, across;
} flat_share;

DEVICE flat_share flat_share_of(const cutt_flat_spread *spread) {
  flat_share s;
  const uint32_t rest = divide(thread_index(), spread->along), part = divide(rest, spread->across);
  s.along = thread_index() - rest * spread->along.by + part * spread->along.by;
  s.across = rest - part * spread->across.by;
  if (s.along >= spread->along_step) s.along = 0x40000000u; /* a thread that is left over */
  return s;
}

/* A thread's next accesses, up to `batch` of them: `first` is done for each turn, `each` for each that there is. */
#define FLAT_STEPS(batch, runs, spread, first, each)                                                                   \
  UNROLL(batch)                                                                                                        \
  for (uint32_t i = 0; i < batch; ++i) {                                                                               \
    first;                                                                                                             \
    if (access < accesses) {                                                                                           \
      each;                                                                                                            \
      run += (spread)->across.by;                                                                                      \
      if (run >= runs) {                                                                                               \
        run = s.across;                                                                                                \
        access += (spread)->along_step;                                                                                \
      }                                                                                                                \
    }                                                                                                                  \
  }
/* The same where `each` says where in shared memory an access is. */
#define FLAT_WALK(batch, runs, spread, each) FLAT_STEPS(batch, runs, spread, at[i] = FLAT_NOWHERE, each)

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

/* The same where an access is one element, of which there are enough in a row's batch: less is worked out for each. */
#define DEFINE_FLAT_LOAD_EACH(bytes, type)                                                                             \
  DEVICE void flat_load_##bytes(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t,               \
                                bool single) {                                                                         \
    const uint32_t accesses = t->row_bytes / bytes, rows = t->rows, step = args->loads.across.by;                      \
    const flat_share s = flat_share_of(&args->loads);                                                                  \
    for (uint32_t access = s.along; access < accesses; access += args->loads.along_step) {                             \
      const unsigned char *const from = in + (t->in + access * bytes);                                                 \
      for (uint32_t row = s.across; row < rows; row += FLAT_BATCH * step) {                                            \
        type value[FLAT_BATCH];                                                                                        \
        UNROLL(FLAT_BATCH)                                                                                             \
        for (uint32_t i = 0; i < FLAT_BATCH; ++i) {                                                                    \
          if (row + i * step < rows)                                                                                   \
            value[i] = global_load##bytes(from + flat_offset(&args->row, row + i * step, single));                     \
        }                                                                                                              \
        UNROLL(FLAT_BATCH)                                                                                             \
        for (uint32_t i = 0; i < FLAT_BATCH; ++i) {                                                                    \
          if (row + i * step < rows) shared_store##bytes((row + i * step) * args->pitch + access * bytes, value[i]);   \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_FLAT_LOAD_EACH(1, uint8_t)
DEFINE_FLAT_LOAD_EACH(2, uint16_t)
DEFINE_FLAT_LOAD_EACH(4, uint32_t)
DEFINE_FLAT_LOAD_EACH(8, word2)

#define flat_keep16(v, at) shared_store16(at, v)
#define flat_get16(at, pitch) shared_load16(at)

/* 16 bytes of a row, whose places in shared memory are aligned to 4, or to 8. */
DEVICE void flat_keep4w(word4 v, uint32_t at) {
  shared_store4(at, v.x);
  shared_store4(at + 4, v.y);
  shared_store4(at + 8, v.z);
  shared_store4(at + 12, v.w);
}
DEVICE void flat_keep8w(word4 v, uint32_t at) {
  const word2 low = {v.x, v.y}, high = {v.z, v.w};
  shared_store8(at, low);
  shared_store8(at + 8, high);
}
DEVICE word4 flat_get4w(uint32_t at, uint32_t pitch) {
  const word4 v = {shared_load4(at), shared_load4(at + pitch), shared_load4(at + 2 * pitch),
                   shared_load4(at + 3 * pitch)};
  return v;
}
DEVICE word4 flat_get8w(uint32_t at, uint32_t pitch) {
  const word2 a = shared_load8(at), b = shared_load8(at + pitch);
  const word4 v = {a.x, a.y, b.x, b.y};
  return v;
}

DEFINE_FLAT_LOAD(16, 16, word4, FLAT_BATCH_16, flat_keep16)
DEFINE_FLAT_LOAD(4w, 16, word4, FLAT_BATCH_16, flat_keep4w)
DEFINE_FLAT_LOAD(8w, 16, word4, FLAT_BATCH_16, flat_keep8w)
DEVICE void flat_turn2(uint32_t at, uint32_t pitch, uint32_t *value) {
  const uint32_t a = shared_load4(at), b = shared_load4(at + pitch);
  value[0] = permute_bytes(a, b, 0x5410);
  value[1] = permute_bytes(a, b, 0x7632);
}
DEVICE void flat_turn2w(uint32_t at, uint32_t pitch, word4 *value) {
  uint32_t low[4], high[4];
  UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t a = shared_load4(at + 2 * i * pitch), b = shared_load4(at + (2 * i + 1) * pitch);
    low[i] = permute_bytes(a, b, 0x5410);
    high[i] = permute_bytes(a, b, 0x7632);
  }
  const word4 first = {low[0], low[1], low[2], low[3]}, second = {high[0], high[1], high[2], high[3]};
  value[0] = first;
  value[1] = second;
}
DEVICE void flat_load_any(const cutt_flat_args *args, const unsigned char *in, const flat_tile *t, bool single) {
  if (args->load_log2 == 4) {
    flat_load_4w(args, in, t, single);
  } else {
    flat_load_4(args, in, t, single);
  }
}

#endif
