/* From a tile to the parameters of a kernel of flat.cu (flat.h).
 *
 * Rows and columns lie in shared memory as in a plain transpose: element x of row y is y pitches and x elements from the
 * beginning. With a pitch of an odd number of words (or of elements, if these are wider) the accesses of lanes that are rows
 * apart fall into different banks; accesses of 16 bytes are made by so few lanes side by side that those of the other rows
 * of their warp fill the banks that are left. */
#include "gpu/flat.h"

#include <string.h>

#include "base/number.h"
#include "gpu/divisor.h"
#include "gpu/flat_copy.h"

enum { ASYNC_MOST = 64 << 10, LINE = 128, SECTOR = 32 }; /* bytes: of a tile in shared memory, and of memory */

static bool refuse(const char **why, const char *text) {
  *why = text;
  return false;
}

/* Bytes from a position to the next one that a tile, or the grid, steps to: does a number of 32 bits hold them? */
static bool short_steps(const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct) {
  for (int j = 0; j < c->rank; ++j) {
    /* Inside of the tensors, so that nothing overflows. */
    const int64_t bytes = (direct || tile->extent[j] == c->mode[j].extent ? 1 : tile->extent[j]) * c->elem_bytes;
    const int64_t in = c->mode[j].in_stride * bytes, out = c->mode[j].out_stride * bytes;
    if (in > INT32_MAX || in < -INT32_MAX || out > INT32_MAX) return false;
  }
  return true;
}

static bool takes_copy(const cutt_canonical *c, const cutt_gpu_tile *tile, const char **why) {
  if (c->rank == 0) return refuse(why, "flat and direct are for runs of one mode");
  const int run = c->out_order[0];
  const bool columns =
      tile->in_k == UINT64_C(1) << run || (tile->in_k == 0 && tile->beside == 1 && tile->column[0] == run);
  if (!columns || tile->in_m != (uint64_t)cutt_gpu_same_first(c))
    return refuse(why, "flat and direct are for runs of one mode");
  if (!cutt_gpu_plain_runs(c) && c->scale.active)
    return refuse(why,
                  "flat and direct with alpha, beta or conjugate are for runs without gaps, which are not backwards");
  if (c->rank - 1 > CUTT_FLAT_GRID) return refuse(why, "flat and direct are for up to 5 modes beside that of the runs");
  if (!short_steps(c, tile, true)) return refuse(why, "flat is for steps of less than 2^31 bytes");
  return true;
}

/* A plain transpose: M_m and M_k have no mode in common, and few modes each. */
static bool takes_plain(const cutt_canonical *c, const cutt_gpu_tile *tile) {
  int outside = 0;
  for (int j = 0; j < c->rank; ++j) outside += !((tile->in_m | tile->in_k) >> j & 1);
  return (tile->in_m & tile->in_k) == 0 && tile->row_modes <= CUTT_FLAT_MODES &&
         tile->column_modes <= CUTT_FLAT_MODES && outside <= CUTT_FLAT_GRID - 2;
}

/* The mode that M_m, or M_k, cuts; -1: none. */
static int cut_of(const cutt_gpu_tile *tile, uint64_t set) {
  for (int i = 0; i < 2; ++i) {
    if (tile->cut[i] >= 0 && (set >> tile->cut[i] & 1)) return tile->cut[i];
  }
  return -1;
}

uint32_t cutt_gpu_run_columns(const cutt_gpu_tile *tile) {
  if (tile->in_k == 0 || (tile->in_k & (tile->in_k - 1)) != 0 || tile->in_m != 2 * tile->in_k - 1) return 0;
  const uint32_t columns = (uint32_t)(tile->row_length / tile->column_length);
  return columns % 2 != 0 ? columns : 0;
}

/* Beyond that, what tiles in windows can be. */
bool cutt_gpu_flat_takes(const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct, const char **why) {
  const uint32_t turns = cutt_gpu_run_columns(tile);
  int outside = 0;
  if (direct) return takes_copy(c, tile, why);
  if (cutt_gpu_has_gaps(tile) || tile->backwards)
    return refuse(why, "flat is for runs without gaps, which are not backwards, but if direct");
  if (c->scale.active && c->elem_bytes != c->base_bytes && c->elem_bytes != 16) {
    return refuse(why, "flat with alpha, beta or conjugate is for single elements or 16 bytes of them");
  }
  if (tile->in_m == 0 || tile->in_k == 0) return refuse(why, "flat is for tiles of rows and columns");
  for (int i = 0; i < tile->row_modes && !turns; ++i) {
    if (!(tile->in_k >> tile->row[i] & 1)) return refuse(why, "flat is for tiles without a batch");
  }
  if (!short_steps(c, tile, false)) return refuse(why, "flat is for steps of less than 2^31 bytes");
  if (takes_plain(c, tile)) return true;
  if (c->scale.active)
    return refuse(why, "flat with alpha, beta or conjugate is for few modes, none of both M_m and M_k");
  if (turns == 1 && cutt_gpu_power(tile->row_steps | tile->column_steps | SECTOR) == SECTOR)
    return refuse(why, "flat is for runs of both sides that begin inside of sectors");
  const uint64_t common = tile->in_m & tile->in_k;
  for (int i = 0; i < 2; ++i) {
    if (tile->cut[i] >= 0 && (common >> tile->cut[i] & 1) && !turns)
      return refuse(why, "flat cuts no mode that M_m and M_k have in common");
  }
  for (int j = 0; j < c->rank; ++j) outside += !((tile->in_m | tile->in_k) >> j & 1);
  if (!turns && (tile->row_modes == 0 || tile->column_modes == 0))
    return refuse(why, "flat is for tiles of rows and columns");
  if (tile->run_modes > CUTT_FLAT_WINDOW_MODES || tile->column_modes > CUTT_FLAT_WINDOW_MODES) {
    return refuse(why, "flat is for up to 6 modes of M_m and of M_k");
  }
  if (outside > CUTT_FLAT_WINDOW_GRID - 2) return refuse(why, "flat is for up to 10 modes outside of the tile");
  return true;
}

/* -------------------------------------------------------------------------------------------------------- accesses */

/* As even parts of so many accesses as there can be with at most so many side by side. */
static uint32_t side_by_side(uint32_t accesses, uint32_t most) {
  const uint32_t lanes = larger(most, 1), parts = (accesses + lanes - 1) / lanes;
  return parts > 0 ? (accesses + parts - 1) / parts : 1;
}

static cutt_gpu_spread spread(uint32_t threads, uint32_t accesses, uint32_t runs, uint32_t most, uint32_t *step) {
  const uint32_t along = side_by_side(accesses, smaller(most, threads)), across = smaller(threads / along, runs);
  /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a tile has a run */
  *step = along * smaller(threads / (along * across), (accesses + along - 1) / along);
  return (cutt_gpu_spread){along, across};
}

/* The same of elements or words one by one, of which a thread has a batch in flight, each of another run: it gets that many runs where there
 * are, and more threads are side by side along one. */
static cutt_gpu_spread spread_batches(uint32_t threads, uint32_t accesses, uint32_t runs, uint32_t most,
                                      uint32_t *step) {
  const uint32_t side = larger(runs / CUTT_FLAT_BATCH, 1);
  return spread(threads, accesses, runs, larger(most, threads / side), step);
}

/* The same of accesses of 16 bytes: so many lines of 128 bytes side by side where a run has as much, else one. */
static cutt_gpu_spread whole_lines(uint32_t lines, uint32_t threads, uint32_t accesses, uint32_t runs, uint32_t *step) {
  const uint32_t line = LINE / 16, most = accesses < lines * line ? line : lines * line;
  const uint32_t along = smaller(most, accesses), across = smaller(threads / along, runs);
  *step = along * smaller(threads / (along * across), (accesses + along - 1) / along);
  return (cutt_gpu_spread){along, across};
}

/* The same, but all of a run side by side where two lines do not divide it, so that no lanes are left over at its end, unless more than
 * a fifth of the threads would be. */
static cutt_gpu_spread whole_runs(uint32_t lines, uint32_t threads, uint32_t accesses, uint32_t runs, uint32_t *step) {
  const uint32_t line = LINE / 16, used = threads / accesses * accesses;
  if (accesses <= line || accesses % (2 * line) == 0 || used * 5 < threads * 4)
    return whole_lines(lines, threads, accesses, runs, step);
  *step = accesses;
  return (cutt_gpu_spread){accesses, smaller(threads / accesses, runs)};
}

bool cutt_gpu_one_range(const cutt_canonical *c, const cutt_gpu_tile *tile, bool input) {
  const uint64_t set = input ? tile->in_m : tile->in_k;
  const int *const list = input ? tile->row : tile->column, modes = input ? tile->row_modes : tile->column_modes;
  int64_t step = input ? tile->row_length : tile->column_length;
  for (int i = 0; i < 2; ++i) {
    if (tile->cut[i] >= 0 && (set >> tile->cut[i] & 1)) return false;
  }
  for (int i = 0; i < modes; ++i) {
    const cutt_mode *mode = &c->mode[list[i]];
    if ((input ? mode->in_stride : mode->out_stride) != step) return false;
    step *= tile->extent[list[i]];
  }
  return true;
}

uint64_t cutt_gpu_range_steps(const cutt_canonical *c, const cutt_gpu_tile *tile, bool input) {
  uint64_t bits = 0;
  for (int j = 0; j < c->rank; ++j) {
    const int64_t stride = input ? c->mode[j].in_stride : c->mode[j].out_stride;
    if (tile->extent[j] != c->mode[j].extent) bits |= (uint64_t)(stride * tile->extent[j] * c->elem_bytes);
  }
  return bits;
}

/* What divides the beginnings of these ranges. */
static uint32_t range_alignment(const cutt_canonical *c, const cutt_gpu_tile *tile, bool input, uint64_t start) {
  return (uint32_t)cutt_gpu_power(start | cutt_gpu_range_steps(c, tile, input) | CUTT_GPU_ALIGNED);
}

/* Runs of a few elements are worth it where they are no power of two, which other kernels access at least 16 bytes at a time. Lanes
 * are some runs apart in shared memory: by a multiple of 4 words, too many of them would meet in a bank. Elements of 16 bytes lose
 * nothing unless the output is waited for, too. */
static bool short_runs(uint32_t bytes, uint32_t width, bool sums) {
  enum { SHORT = 64, SHORT_16 = 128 };
  const uint32_t step = bytes * (width < 4 ? 4 / width : 1) / 4;
  if (width == 16) return sums && bytes < SHORT_16;
  return bytes < SHORT && (bytes < 16 || (bytes & (bytes - 1)) != 0) && (width == 8 || step % 4 != 0);
}

/* With alpha, op and beta: for elements alone, gathered to words of narrow ones, or to 16 bytes, and 16 bytes at once. */
static cutt_kernel add_kernel(const cutt_canonical *c, uint32_t store) {
#define OF_TYPE(type)                                                                                                  \
  {                                                                                                                    \
    CUTT_KERNEL_flat_add_##type, CUTT_KERNEL_flat_add_##type##w, CUTT_KERNEL_flat_add_##type##w,                       \
        CUTT_KERNEL_flat_add_##type##q                                                                                 \
  }
#define OF_NARROW(type)                                                                                                \
  {                                                                                                                    \
    CUTT_KERNEL_flat_add_##type, CUTT_KERNEL_flat_add_##type##w, CUTT_KERNEL_flat_add_##type##v,                       \
        CUTT_KERNEL_flat_add_##type##q                                                                                 \
  }
  static const cutt_kernel kernels[][4] = {[0] = OF_NARROW(f16),
                                           [CUTT_BF16 - CUTT_F16] = OF_NARROW(bf16),
                                           [CUTT_F32 - CUTT_F16] = OF_TYPE(f32),
                                           [CUTT_F64 - CUTT_F16] = OF_TYPE(f64),
                                           [CUTT_C32 - CUTT_F16] = OF_TYPE(c32),
                                           [CUTT_C64 - CUTT_F16] = {CUTT_KERNEL_flat_add_c64, CUTT_KERNEL_flat_add_c64,
                                                                    CUTT_KERNEL_flat_add_c64, CUTT_KERNEL_flat_add_c64},
                                           [CUTT_I32 - CUTT_F16] = OF_TYPE(i32),
                                           [CUTT_I64 - CUTT_F16] = OF_TYPE(i64)};
#undef OF_TYPE
#undef OF_NARROW
  const uint32_t w = (uint32_t)c->elem_bytes;
  return kernels[c->scale.type - CUTT_F16][w == 16 ? 3 : store == w ? 0 : store == 4 ? 1 : 2];
}

/* The same where one side is one range, 16 bytes at a time, or a word of narrow elements. */
static cutt_kernel joined_add_kernel(cuttType_t type, bool rows, uint32_t store) {
#define OF_TYPE(type)                                                                                                  \
  { CUTT_KERNEL_flat_out_add_##type, CUTT_KERNEL_flat_in_add_##type, CUTT_KERNEL_flat_in_add_##type }
#define OF_NARROW(type)                                                                                                \
  { CUTT_KERNEL_flat_out_add_##type, CUTT_KERNEL_flat_in_add_##type, CUTT_KERNEL_flat_in_add_##type##w }
  static const cutt_kernel kernels[][3] = {[0] = OF_NARROW(f16),
                                           [CUTT_BF16 - CUTT_F16] = OF_NARROW(bf16),
                                           [CUTT_F32 - CUTT_F16] = OF_TYPE(f32),
                                           [CUTT_F64 - CUTT_F16] = OF_TYPE(f64),
                                           [CUTT_C32 - CUTT_F16] = OF_TYPE(c32),
                                           [CUTT_I32 - CUTT_F16] = OF_TYPE(i32),
                                           [CUTT_I64 - CUTT_F16] = OF_TYPE(i64)};
#undef OF_TYPE
#undef OF_NARROW
  return kernels[type - CUTT_F16][!rows ? 0 : store == 16 ? 1 : 2];
}

/* Bytes of a store of columns whose elements are gathered from joined rows. Lanes that store 16 bytes each gather from places that
 * many rows apart: narrow elements not if more than 8 of them meet in a bank, since each takes a load of its own. */
static uint32_t gathered_store(uint32_t w, uint32_t row_bytes, uint32_t align) {
  const uint32_t step = row_bytes * (16 / w);
  if (w >= 2 && align >= 16 && (w > 2 || step % 64 != 0)) return 16;
  return align >= 4 ? larger(w, 4) : w;
}

static bool choose_joined(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_access *access,
                          uint32_t in_buffer, uint32_t out_buffer, uint32_t threads, cutt_gpu_flat *f) {
  static const cutt_kernel kernels[2][4] = {
      {CUTT_KERNEL_flat_in_1, CUTT_KERNEL_flat_in_2, CUTT_KERNEL_flat_in_4, CUTT_KERNEL_flat_in_8},
      {CUTT_KERNEL_flat_out_1, CUTT_KERNEL_flat_out_2, CUTT_KERNEL_flat_out_4, CUTT_KERNEL_flat_out_8}};
  const uint32_t w = (uint32_t)c->elem_bytes, warp = CUTT_GPU_WARP;
  const bool sums = c->scale.active;
  const uint32_t row_bytes = (uint32_t)tile->row_length * w, column_bytes = (uint32_t)tile->column_length * w;
  const bool rows = short_runs(row_bytes, w, sums) && cutt_gpu_one_range(c, tile, true);
  const bool columns = !rows && short_runs(column_bytes, w, sums) && cutt_gpu_one_range(c, tile, false);
  if (!rows && !columns) return false;
  const uint32_t align = rows ? range_alignment(c, tile, true, in_buffer | cutt_gpu_in_start(c))
                              : range_alignment(c, tile, false, out_buffer | cutt_gpu_out_start(c));
  if (align < 4 && !(sums && columns)) return false;
  const uint32_t range = align >= 16 ? 16 : sums && columns ? w : 4, accesses = (uint32_t)tile->volume * w / range;
  const cutt_gpu_spread side_by_side_all = {smaller(threads, larger(accesses, 1)), 1}; /* it may all be a tail */
  *f = (cutt_gpu_flat){
      .group = 1, .joined = rows ? CUTT_FLAT_ROWS : CUTT_FLAT_COLUMNS, .pitch = rows ? row_bytes : column_bytes};
  if (rows) {
    f->load = f->shared_store = range;
    f->store = gathered_store(w, row_bytes, access->out_align);
    f->shared_load = w;
    f->loads = side_by_side_all;
    f->load_step = side_by_side_all.along;
    f->stores = spread(threads, column_bytes / f->store, row_bytes / w, larger(threads, warp), &f->store_step);
  } else {
    const bool wide = !sums || range == 16; /* else element by element, as are the loads for it */
    f->load = w < 4 ? smaller(access->in_align, wide ? 8 : 4) : access->in_align >= 16 && wide ? 16 : w;
    if (f->load < 4) f->load = w;
    f->shared_store = w;
    f->store = f->shared_load = range;
    f->loads = spread(threads, row_bytes / f->load, column_bytes / w, larger(threads, warp), &f->load_step);
    f->stores = side_by_side_all;
    f->store_step = side_by_side_all.along;
  }
  f->kernel = !sums           ? kernels[rows ? 0 : 1][__builtin_ctz(w)]
              : f->store == w ? add_kernel(c, w)
                              : joined_add_kernel(c->scale.type, rows, f->store);
  return true;
}

static cutt_kernel async_kernel(const cutt_canonical *c) {
  static const cutt_kernel plain[] = {CUTT_KERNEL_flat_2a, CUTT_KERNEL_flat_4a, CUTT_KERNEL_flat_8a,
                                      CUTT_KERNEL_flat_16a};
  /* Elements alone, and 16 bytes of them. */
  static const cutt_kernel added[][2] = {
      [0] = {0, CUTT_KERNEL_flat_add_f16qa},
      [CUTT_BF16 - CUTT_F16] = {0, CUTT_KERNEL_flat_add_bf16qa},
      [CUTT_F32 - CUTT_F16] = {CUTT_KERNEL_flat_add_f32a, CUTT_KERNEL_flat_add_f32qa},
      [CUTT_F64 - CUTT_F16] = {CUTT_KERNEL_flat_add_f64a, CUTT_KERNEL_flat_add_f64qa},
      [CUTT_C32 - CUTT_F16] = {CUTT_KERNEL_flat_add_c32a, CUTT_KERNEL_flat_add_c32qa},
      [CUTT_C64 - CUTT_F16] = {CUTT_KERNEL_flat_add_c64a, CUTT_KERNEL_flat_add_c64a},
      [CUTT_I32 - CUTT_F16] = {CUTT_KERNEL_flat_add_i32a, CUTT_KERNEL_flat_add_i32qa},
      [CUTT_I64 - CUTT_F16] = {CUTT_KERNEL_flat_add_i64a, CUTT_KERNEL_flat_add_i64qa}};
  if (c->scale.active) return added[c->scale.type - CUTT_F16][c->elem_bytes == 16];
  return plain[__builtin_ctz((uint32_t)c->elem_bytes) - 1];
}

/* Tiles take some chunks of the mode that M_m cuts before they go on along the output, where rows are short: two where a row has only
 * one line of the input, of which the next one is fetched with it, but of a few odd ones too many would lack the second; in
 * windows, whose rows share sectors, too, as many as have some of the input's run. */
static void group_chunks(const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t row_bytes, cutt_gpu_flat *f) {
  enum { TWO_LINES = 256, FEW = 8, STRETCH = 2048 };
  const int j = cut_of(tile, tile->in_m);
  f->row_chunks = 0;
  f->row_group = 1;
  if (j < 0 || cutt_gpu_run_columns(tile) > 0 || row_bytes >= (f->windows ? STRETCH : TWO_LINES) ||
      tile->tiles > INT32_MAX / 2)
    return;
  const uint32_t chunks = (uint32_t)cutt_gpu_chunks(c->mode[j].extent, tile->extent[j]);
  if (!f->windows && chunks % 2 != 0 && chunks < FEW) return;
  const uint32_t most = f->windows ? (STRETCH + row_bytes - 1) / row_bytes : 2, groups = (chunks + most - 1) / most;
  f->row_chunks = chunks;
  f->row_group = f->windows ? (chunks + groups - 1) / groups : 2;
}

/* Where L2 holds both tensors, blocks that go through registers begin sooner. */
static bool takes_async(const cutt_device *d, const cutt_canonical *c) {
  return d->major >= 8 && c->elem_bytes >= 2 && 2.0 * (double)c->volume * c->elem_bytes >= (double)d->l2_bytes;
}

/* With beta they gained nothing in the mean: docs/log.md. */
bool cutt_gpu_flat_windows(const cutt_device *d, const cutt_canonical *c) {
  return takes_async(d, c) && !c->scale.active;
}

/* Of a tile in windows: as many elements of a column as take further rows. Without common modes each has a row of its own. */
static uint32_t step_elements(const cutt_gpu_tile *tile) {
  const int cut = cut_of(tile, tile->in_k);
  if ((tile->in_m & tile->in_k) == 0) return 1;
  if (cutt_gpu_run_columns(tile) > 0) return (uint32_t)tile->column_length;
  return (uint32_t)(tile->column_length / (cut >= 0 ? tile->extent[cut] : 1));
}

/* The most that windows have of a column, and of rows. */
static uint32_t most_elements(const cutt_gpu_tile *tile, uint32_t w) {
  return (uint32_t)tile->column_length + (cut_of(tile, tile->in_k) >= 0 ? (SECTOR - w) / w : 0);
}
uint32_t cutt_gpu_window_rows(const cutt_gpu_tile *tile, uint32_t w) {
  if (cutt_gpu_run_columns(tile) > 0)
    return (uint32_t)tile->rows; /* what a window reaches further lies behind its chunk */
  const uint32_t step = step_elements(tile), steps = (uint32_t)tile->column_length / step;
  return (most_elements(tile, w) + step - 1) / step * ((uint32_t)tile->rows / steps);
}

uint32_t cutt_gpu_window_row_bytes(const cutt_gpu_tile *tile, uint32_t w) {
  const uint32_t turns = cutt_gpu_run_columns(tile);
  return (turns > 0 ? most_elements(tile, w) * turns : (uint32_t)tile->row_length) * w;
}

/* Where the tables are in shared memory: behind the rows, which have 16 bytes more for as many as 16 bytes of a column have. Returns
 * where they end. */
static uint32_t lay_out_windows(const cutt_gpu_tile *tile, uint32_t w, uint32_t pitch, cutt_flat_window_args *at) {
  const uint32_t rows = cutt_gpu_window_rows(tile, w), columns = (uint32_t)tile->columns;
  at->places_at = rows * pitch + rows / (16 / w) * 16;
  at->columns_at = (at->places_at + (cutt_gpu_run_columns(tile) > 0 ? 0 : most_elements(tile, w) * 2) + 15) / 16 * 16;
  at->rows_at = at->columns_at + columns * 16;
  return at->rows_at + rows * 8;
}

/* For runs that begin anywhere, in windows that begin with sectors: of tiles that have a sector of a column at least, as what a window
 * reaches into the next tile would not end there otherwise. Lanes side by side begin with a sector, too. */
static bool choose_windows(const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t threads, cutt_gpu_flat *f) {
  const uint32_t w = (uint32_t)c->elem_bytes, row_bytes = cutt_gpu_window_row_bytes(tile, w);
  const uint32_t column_bytes = (uint32_t)tile->column_length * w, sectors = (row_bytes + 2 * SECTOR - w - 1) / SECTOR;
  const uint32_t grain = larger(16, 2 * w); /* elements of 16 bytes: rows lie an odd number of them apart */
  const uint32_t pitch = (row_bytes + SECTOR - w + grain - 1) / grain * grain;
  static const cutt_kernel kernels[] = {
      [1] = CUTT_KERNEL_flat_2s, CUTT_KERNEL_flat_4s, CUTT_KERNEL_flat_8s, CUTT_KERNEL_flat_16s};
  cutt_flat_window_args at;
  if (row_bytes < 2 * SECTOR || column_bytes < 2 * SECTOR || row_bytes > ASYNC_MOST ||
      cutt_gpu_window_rows(tile, w) > ASYNC_MOST / pitch || lay_out_windows(tile, w, pitch, &at) > ASYNC_MOST) {
    return false;
  }
  *f = (cutt_gpu_flat){.kernel = kernels[__builtin_ctz(w)],
                       .load = 16,
                       .store = 16,
                       .shared_load = w,
                       .shared_store = 16,
                       .group = 1,
                       .pitch = pitch,
                       .async = true,
                       .windows = true};
  group_chunks(c, tile, row_bytes, f);
  f->loads = spread(threads / 2, sectors, cutt_gpu_window_rows(tile, w), CUTT_GPU_WARP / 2, &f->load_step);
  f->loads.along *= 2;
  f->load_step *= 2;
  f->stores = whole_lines(1, threads, (column_bytes + 15) / 16, (uint32_t)tile->columns, &f->store_step);
  return true;
}

/* Rows by asynchronous copies. They are a multiple of 128 bytes apart, or 64, for which there has to be room without wasting much. */
static void choose_async(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t threads,
                         cutt_gpu_flat *f) {
  const uint32_t w = (uint32_t)c->elem_bytes, row_bytes = (uint32_t)tile->row_length * w, rows = (uint32_t)tile->rows;
  const uint32_t pitch = row_bytes <= CUTT_FLAT_HALF_LINE ? CUTT_FLAT_HALF_LINE : (row_bytes + LINE - 1) / LINE * LINE;
  if (!takes_async(d, c)) return;
  if (smaller(f->load, f->store) < 16 || cutt_gpu_power(tile->row_steps | cutt_gpu_in_start(c) | SECTOR) < SECTOR ||
      cutt_gpu_power(tile->column_steps | cutt_gpu_out_start(c) | SECTOR) < SECTOR) {
    if (cutt_gpu_flat_windows(d, c)) choose_windows(c, tile, threads, f); /* else it goes through registers */
    return;
  }
  if (w == 2 && c->scale.active) return;
  if (pitch * 3 > row_bytes * 4 || rows * pitch > ASYNC_MOST) return;
  f->kernel = async_kernel(c);
  f->shared_store = 16;
  f->pitch = pitch;
  f->async = true;
  group_chunks(c, tile, row_bytes, f);
  f->line_alone = cutt_gpu_power(tile->row_steps | cutt_gpu_in_start(c) | LINE) < LINE;
  /* Lanes side by side from the beginning of a line on, also where fewer are left over at the end of a run. */
  f->loads = whole_lines(1, threads, row_bytes / 16, rows, &f->load_step);
  /* More of the output: memory gains more by it than columns side by side spare shared memory, but where the output is read, too, by no
   * more than one line: measured, docs/log.md. */
  f->stores = whole_runs(c->scale.active ? 1 : 2, threads, rows * w / 16, row_bytes / (w * f->group), &f->store_step);
}

bool cutt_gpu_flat_choose(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct,
                          const cutt_gpu_access *access, uint32_t in_buffer, uint32_t out_buffer, uint32_t threads,
                          cutt_gpu_flat *f) {
  const uint32_t in_align = access->in_align, out_align = access->out_align;
  static const cutt_kernel single[] = {CUTT_KERNEL_flat_1, CUTT_KERNEL_flat_2, CUTT_KERNEL_flat_4, CUTT_KERNEL_flat_8,
                                       CUTT_KERNEL_flat_16};
  const uint32_t w = (uint32_t)c->elem_bytes, least = smaller(in_align, out_align);
  const uint32_t row_bytes = (uint32_t)tile->row_length * w, rows = (uint32_t)tile->rows;
  if (direct) return cutt_gpu_flat_copy_choose(c, access, threads, f);
  if (access->lines) return false; /* its lanes begin with the column */
  if (least < w) return false;
  if (!takes_plain(c, tile)) return cutt_gpu_flat_windows(d, c) && choose_windows(c, tile, threads, f);
  if (choose_joined(c, tile, access, in_buffer, out_buffer, threads, f)) return true;
  *f = (cutt_gpu_flat){
      .kernel = single[__builtin_ctz(w)], .load = w, .store = w, .shared_load = w, .shared_store = w, .group = 1};
  uint32_t load_lanes = CUTT_GPU_WARP, store_lanes = CUTT_GPU_WARP; /* most side by side */
  if (w < 4 && least >= 4) {
    f->load = in_align >= 16 ? 16 : 4;
    f->store = w == 2 && out_align >= 16 ? 16 : 4;
    f->kernel = w == 1 ? CUTT_KERNEL_flat_1w : f->store == 16 ? CUTT_KERNEL_flat_2q : CUTT_KERNEL_flat_2w;
    f->shared_load = f->shared_store = 4;
    f->group = 4 / w;
    if (f->load == 16) load_lanes = 8;
    store_lanes = CUTT_GPU_WARP * w / f->store; /* rows of a word apart: as many as an access of global memory has */
  } else if (w >= 4 && w < 16 && least >= 16) {
    f->load = f->store = 16;
    f->kernel = w == 4 ? CUTT_KERNEL_flat_4w : CUTT_KERNEL_flat_8w;
    load_lanes = store_lanes = 8;
  }
  if (c->scale.active) f->kernel = add_kernel(c, f->store);
  f->loads = (f->load < 16 ? spread_batches : spread)(threads, row_bytes / f->load, rows, load_lanes, &f->load_step);
  f->stores = spread(threads, rows * w / f->store, row_bytes / (w * f->group), store_lanes, &f->store_step);
  const uint32_t bank = larger(w, 4);
  f->pitch = ((row_bytes + bank - 1) / bank | 1) * bank;
  choose_async(d, c, tile, threads, f);
  return true;
}

uint32_t cutt_gpu_flat_shared(const cutt_gpu_tile *tile, const cutt_gpu_flat *f) {
  if (f->copies > 0) return 0;
  cutt_flat_window_args at;
  if (f->windows) return lay_out_windows(tile, f->shared_load, f->pitch, &at);
  const uint32_t runs = (uint32_t)(f->joined == CUTT_FLAT_COLUMNS ? tile->columns : tile->rows);
  const uint32_t grain = f->async ? LINE : 16;
  return (runs * f->pitch + grain - 1) / grain * grain;
}

uint32_t cutt_gpu_flat_blocks(const cutt_gpu_tile *tile, const cutt_gpu_flat *f, uint32_t threads) {
  if (f->copies == 0) {
    const uint32_t tiles = (uint32_t)tile->tiles, chunks = f->row_chunks, group = f->row_group;
    return chunks == 0 ? tiles : tiles / chunks * ((chunks + group - 1) / group * group);
  }
  const uint32_t warps = threads / CUTT_FLAT_LANES;
  return f->pieces > 0 ? (f->pieces + warps - 1) / warps : (f->copies + threads * f->each - 1) / (threads * f->each);
}

/* ------------------------------------------------------------------------------------------------------ parameters */

static void fill_runs(const cutt_canonical *c, const cutt_gpu_tile *tile, const int *list, int modes, bool input,
                      cutt_flat_runs *runs) {
  runs->modes = (uint32_t)modes;
  for (int i = 0; i < CUTT_FLAT_MODES; ++i) {
    runs->step[i] = 0;
    /* Beyond the last mode, no number of a run is as large as that. */
    if (i + 1 < CUTT_FLAT_MODES) runs->extent[i] = cutt_divide_by(UINT32_C(1) << 30);
    if (i >= modes) continue;
    const int j = list[i];
    runs->step[i] = (int32_t)((input ? c->mode[j].in_stride : c->mode[j].out_stride) * c->elem_bytes);
    if (i + 1 < modes) runs->extent[i] = cutt_divide_by((uint32_t)tile->extent[j]);
  }
}

/* What a mode's position adds to where an element is: rows, in the order that they are counted in, and bytes inside of a row. */
static void fill_count(const cutt_canonical *c, const cutt_gpu_tile *tile, const int *list, int modes, bool columns,
                       cutt_flat_count *count) {
  uint32_t rows = 1;
  count->modes = (uint32_t)modes;
  for (int i = 0; i < modes; ++i) {
    const int j = list[i];
    const int32_t in = (int32_t)(c->mode[j].in_stride * c->elem_bytes);
    const bool row = !(tile->in_m >> j & 1);
    count->mode[i].extent = cutt_divide_by((uint32_t)tile->extent[j]);
    count->mode[i].step = columns ? (int32_t)(c->mode[j].out_stride * c->elem_bytes) : row ? in : 0;
    count->mode[i].rows = row ? (int32_t)rows : 0;
    count->mode[i].inside = row ? 0 : in;
    if (row) rows *= (uint32_t)tile->extent[j];
  }
}

/* `length`, of a whole tile, in one that has the last chunk of what the set cuts. */
static uint32_t last_length(const cutt_canonical *c, const cutt_gpu_tile *tile, uint64_t set, uint32_t length) {
  const int j = cut_of(tile, set);
  if (j < 0) return length;
  return length / (uint32_t)tile->extent[j] * (uint32_t)cutt_gpu_last_chunk(c->mode[j].extent, tile->extent[j]);
}

static void fill_windows(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_flat *f,
                         cutt_flat_window_args *windows) {
  const uint32_t step = step_elements(tile);
  fill_count(c, tile, tile->row, tile->row_modes, false, &windows->row);
  fill_count(c, tile, tile->column, tile->column_modes, true, &windows->column);
  fill_count(c, tile, tile->run, tile->run_modes, false, &windows->element);
  windows->run_columns = cutt_gpu_run_columns(tile);
  windows->columns = (uint32_t)tile->columns;
  windows->last_columns = last_length(c, tile, tile->in_m, windows->columns);
  windows->elements = (uint32_t)tile->column_length;
  windows->last_elements = last_length(c, tile, tile->in_k, windows->elements);
  windows->step_elements = cutt_divide_by(step);
  windows->step_rows = (uint32_t)tile->rows / (windows->elements / step);
  windows->align = (uint32_t)cutt_gpu_power(tile->column_steps | SECTOR);
  windows->in_low = c->in_low - c->in_start;
  windows->in_high = c->in_high - c->in_start;
  lay_out_windows(tile, f->shared_load, f->pitch, windows);
}

static cutt_flat_digit digit_of(const cutt_canonical *c, const cutt_gpu_tile *tile, int j) {
  const cutt_mode *mode = &c->mode[j];
  const int64_t chunk = tile->extent[j], bytes = chunk * c->elem_bytes;
  return (cutt_flat_digit){.extent = cutt_divide_by((uint32_t)cutt_gpu_chunks(mode->extent, chunk)),
                           .in = (int32_t)(mode->in_stride * bytes),
                           .out = (int32_t)(mode->out_stride * bytes)};
}

/* Chunks of M_k and of M_m are the first two digits. Of the rest, in output order, those come first in which the output's runs
 * continue and then the input's, as in launch.c; but not where rows go through registers, which gains nothing by it. In windows that
 * have whole columns, which begin and end inside of sectors, the former comes even before M_m's chunks: true then. */
static bool fill_grid(const cutt_canonical *c, const cutt_gpu_tile *tile, bool async, bool windows,
                      cutt_flat_digit *grid, int most, cutt_flat_args *args) {
  bool whole = windows;
  for (int i = 0; i < most; ++i) grid[i] = (cutt_flat_digit){.extent = {1, 1, 0}}; /* none */
  uint64_t listed = 0;
  args->grid_modes = 2;
  for (int pass = async ? 0 : 2; pass < 3; ++pass) {
    for (int i = 0; i < c->rank; ++i) {
      const int j = pass == 1 ? i : c->out_order[i];
      if ((listed >> j & 1) || tile->extent[j] == c->mode[j].extent) continue;
      const bool row = tile->in_m >> j & 1, column = tile->in_k >> j & 1;
      listed |= UINT64_C(1) << j;
      if (column || (pass == 0 && row)) whole = false;
      grid[column || (whole && pass == 0) ? 0 : row ? 1 : args->grid_modes++] = digit_of(c, tile, j);
      if (pass < 2) break;
    }
  }
  return whole;
}

void cutt_gpu_flat_fill(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_flat *f,
                        cutt_flat_window_args *all) {
  cutt_flat_args *const args = &all->flat;
  memset(all, 0, sizeof *all);
  if (f->copies > 0) {
    cutt_gpu_flat_copy_fill(c, f, args);
    return;
  }
  cutt_flat_digit *const grid = f->windows ? all->grid : args->grid;
  const int most = f->windows ? CUTT_FLAT_WINDOW_GRID : CUTT_FLAT_GRID;
  const bool whole = fill_grid(c, tile, f->async, f->windows, grid, most, args);
  args->row_chunks = f->row_chunks;
  args->row_group = cutt_divide_by(f->row_chunks > 0 ? f->row_group : 1);
  if (f->row_chunks > 0) grid[1].extent = cutt_divide_by((f->row_chunks + f->row_group - 1) / f->row_group);
  if (f->windows) {
    fill_windows(c, tile, f, all);
    all->whole = whole;
  } else {
    fill_runs(c, tile, tile->row, tile->row_modes, true, &args->row);
    fill_runs(c, tile, tile->column, tile->column_modes, false, &args->column);
  }
  args->row_bytes = (uint32_t)(tile->row_length * c->elem_bytes);
  args->rows = (uint32_t)tile->rows;
  args->last_row_bytes = last_length(c, tile, tile->in_m, args->row_bytes);
  args->last_rows = last_length(c, tile, cutt_gpu_run_columns(tile) > 0 ? ~tile->in_k : tile->in_k, args->rows);
  args->pitch = f->pitch;
  args->store_pitch = f->joined == CUTT_FLAT_COLUMNS ? (uint32_t)c->elem_bytes : f->pitch;
  args->joined = f->joined;
  args->line_alone = f->line_alone;
  args->load_log2 = (uint32_t)__builtin_ctz(f->load);
  args->store_log2 = (uint32_t)__builtin_ctz(f->store);
  args->range_log2 = (uint32_t)__builtin_ctz(f->joined == CUTT_FLAT_COLUMNS ? f->store : f->load);
  args->loads = (cutt_flat_spread){cutt_divide_by(f->loads.along), cutt_divide_by(f->loads.across), f->load_step};
  args->stores = (cutt_flat_spread){cutt_divide_by(f->stores.along), cutt_divide_by(f->stores.across), f->store_step};
}
