/* From a candidate to a launch: the kernel for the alignment of the buffers at hand, the lists of digits that it is given,
 * and how a tile lies in shared memory. */
#include "gpu/launch.h"

#include <string.h>

#include "base/number.h"
#include "gpu/access.h"
#include "gpu/cost.h"
#include "gpu/divisor.h"
#include "gpu/flat.h"
#include "gpu/pitch.h"
#include "gpu/tile.h"

#define KERNEL_NAME(name) [CUTT_KERNEL_##name] = "cutt_" #name,
const char *const cutt_gpu_kernel_name[CUTT_KERNEL_COUNT] = {CUTT_KERNELS(KERNEL_NAME)};
#define OF_TILE(name) [CUTT_KERNEL_##name] = "tile",
#define OF_SCALE(name) [CUTT_KERNEL_##name] = "scale",
#define OF_ADD(name) [CUTT_KERNEL_##name] = "add",
#define OF_COPY(name) [CUTT_KERNEL_##name] = "copy",
#define OF_FLAT(name) [CUTT_KERNEL_##name] = "flat",
#define OF_FLAT_ADD(name) [CUTT_KERNEL_##name] = "flat_add",
#define OF_FLAT_ASYNC(name) [CUTT_KERNEL_##name] = "flat_async",
#define OF_FLAT_WINDOWS(name) [CUTT_KERNEL_##name] = "flat_windows",
#define OF_FLAT_JOINED(name) [CUTT_KERNEL_##name] = "flat_joined",
#define OF_FLAT_JOINED_ADD(name) [CUTT_KERNEL_##name] = "flat_joined_add",
#define OF_FLAT_COPY(name) [CUTT_KERNEL_##name] = "flat_copy",
#define OF_FLAT_STEP(name) [CUTT_KERNEL_##name] = "flat_step",
const char *const cutt_gpu_kernel_source[CUTT_KERNEL_COUNT] = {
    CUTT_TILE_KERNELS(OF_TILE) CUTT_SCALE_KERNELS(OF_SCALE) CUTT_ADD_KERNELS(OF_ADD) CUTT_COPY_KERNELS(OF_COPY)
        CUTT_FLAT_TILE_KERNELS(OF_FLAT) CUTT_FLAT_JOINED_KERNELS(OF_FLAT_JOINED) CUTT_FLAT_COPY_KERNELS(OF_FLAT_COPY)
            CUTT_FLAT_STEP_KERNELS(OF_FLAT_STEP) CUTT_FLAT_ADD_KERNELS(OF_FLAT_ADD)
                CUTT_FLAT_JOINED_ADD_KERNELS(OF_FLAT_JOINED_ADD) CUTT_FLAT_SUM_KERNELS(OF_FLAT_ADD)
                    CUTT_FLAT_ASYNC_KERNELS(OF_FLAT_ASYNC) CUTT_FLAT_WINDOW_KERNELS(OF_FLAT_WINDOWS)};

#define BATCHED_NAME(name) [CUTT_KERNEL_##name] = "cutt_" #name "_batched",
const char *const cutt_gpu_batched_name[CUTT_TABLE_KERNEL_COUNT] = {CUTT_TABLE_KERNELS(BATCHED_NAME)};
#define OF_TILE_BATCHED(name) [CUTT_KERNEL_##name] = "tile_batched",
#define OF_SCALE_BATCHED(name) [CUTT_KERNEL_##name] = "scale_batched",
#define OF_ADD_BATCHED(name) [CUTT_KERNEL_##name] = "add_batched",
#define OF_COPY_BATCHED(name) [CUTT_KERNEL_##name] = "copy_batched",
const char *const cutt_gpu_batched_source[CUTT_TABLE_KERNEL_COUNT] = {
    CUTT_TILE_KERNELS(OF_TILE_BATCHED) CUTT_SCALE_KERNELS(OF_SCALE_BATCHED) CUTT_ADD_KERNELS(OF_ADD_BATCHED)
        CUTT_COPY_KERNELS(OF_COPY_BATCHED)};

static bool refuse(const char **why, const char *text) {
  *why = text;
  return false;
}

uint32_t cutt_gpu_alignment(const void *pointer) {
  return (uint32_t)cutt_gpu_power((uintptr_t)pointer | CUTT_GPU_ALIGNED);
}

static uint32_t log2_of(uint32_t power) { return (uint32_t)__builtin_ctz(power); }

/* What is worked out once per launch. */
typedef struct layout {
  const cutt_canonical *canonical;
  const cutt_gpu_tile *tile;
  uint32_t problems; /* that the launch is for */
  cutt_gpu_launch *launch;
  cutt_gpu_access access;
} layout;

/* ----------------------------------------------------------------------------------------------------------- lists */

/* The digits of a tile's number, fastest first. Neighbouring tiles share the sectors in which their runs end, and a sector
 * that is written in two parts costs more if the parts do not meet in L2: so first comes the mode in which the output's runs
 * continue, then that of the input's runs, then the rest, in output order. */
static void fill_grid(const layout *l) {
  const cutt_canonical *c = l->canonical;
  const cutt_gpu_tile *tile = l->tile;
  cutt_kernel_args *args = &l->launch->args;
  const int64_t w = c->elem_bytes;
  int order[CUTT_MAX_RANK], count = 0;
  uint64_t listed = 0;
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = 0; i < c->rank; ++i) {
      const int j = pass == 1 ? i : c->out_order[i];
      if ((listed >> j & 1) || tile->extent[j] == c->mode[j].extent) continue;
      listed |= UINT64_C(1) << j;
      order[count++] = j;
      if (pass < 2) break;
    }
  }
  args->grid_modes = (uint32_t)count;
  for (int i = 0; i < 2; ++i) args->cut[i] = (cutt_tile_cut){UINT32_MAX, 1, 1};
  for (int i = 0; i < count; ++i) {
    const int j = order[i];
    const cutt_mode *mode = &c->mode[j];
    const int64_t chunk = tile->extent[j];
    args->grid[i] = (cutt_grid_mode){.in = mode->in_stride * chunk * w,
                                     .out = mode->out_stride * chunk * w,
                                     .extent = cutt_divide_by((uint32_t)cutt_gpu_chunks(mode->extent, chunk))};
    for (int cut = 0; cut < 2; ++cut) {
      if (tile->cut[cut] != j) continue;
      args->cut[cut] =
          (cutt_tile_cut){(uint32_t)i, (uint32_t)chunk, (uint32_t)cutt_gpu_last_chunk(mode->extent, chunk)};
    }
  }
}

/* A count that has the extent of a cut mode as a factor, if that mode is in the set. */
static cutt_count count_over(const cutt_gpu_tile *tile, uint64_t set, int64_t count) {
  for (uint32_t cut = 0; cut < 2; ++cut) {
    const int j = tile->cut[cut];
    if (j >= 0 && (set >> j & 1)) return (cutt_count){(uint32_t)(count / tile->extent[j]), cut + 1};
  }
  return (cutt_count){(uint32_t)count, 0};
}

static void fill_counts(const layout *l) {
  const cutt_gpu_tile *tile = l->tile;
  cutt_kernel_args *args = &l->launch->args;
  const uint32_t w = (uint32_t)l->canonical->elem_bytes;
  args->row_bytes = count_over(tile, tile->in_m, tile->row_length * w);
  args->row_gap = 0;
  if (tile->row_gaps && args->row_bytes.cut > 0) { /* behind the last element there is no gap */
    const int j = tile->cut[0];
    const uint32_t step = (uint32_t)magnitude(l->canonical->mode[j].in_stride) * w;
    args->row_gap = step * (uint32_t)tile->extent[j] - (uint32_t)tile->row_length * w;
    args->row_bytes.each = step;
  }
  args->whole_row = 0;
  if (args->row_bytes.cut > 0 && (tile->backwards >> tile->cut[args->row_bytes.cut - 1] & 1))
    args->whole_row = (uint32_t)tile->row_length * w;
  args->rows = count_over(tile, cutt_gpu_row_set(tile), tile->rows);
  args->columns = count_over(tile, ~tile->in_k, tile->columns);
  args->inner = (cutt_inner_cut){0, 0};
  if (tile->inner >= 0) { /* a factor of its own, or the only one */
    const uint32_t number = (uint32_t)tile->inner + 1, chunk = (uint32_t)tile->extent[tile->cut[tile->inner]];
    args->inner.cut = number;
    if (args->columns.cut == number) {
      args->columns.cut = 0;
    } else {
      args->columns.each /= chunk;
    }
  }
  if (l->access.copies) { /* what is loaded is not loaded again from shared memory */
    args->run = (cutt_count){1, 0};
  } else {
    args->run = count_over(tile, tile->in_k, tile->column_length * (w / l->access.shared_load));
  }
}

/* The tables' modes. In shared memory, a step of a mode of M_m is inside the row, and of another mode from row to row. */
static void fill_places(const layout *l) {
  const cutt_canonical *c = l->canonical;
  const cutt_gpu_tile *tile = l->tile;
  cutt_kernel_args *args = &l->launch->args;
  const int64_t w = c->elem_bytes;
  uint32_t shared[CUTT_MAX_RANK], phase[CUTT_MAX_RANK], weight = args->pitch;
  for (int j = 0; j < c->rank; ++j) {
    shared[j] = (uint32_t)(c->mode[j].in_stride * w);
    phase[j] = 0;
  }
  cutt_table_mode *mode = args->mode;
  for (int i = 0; i < tile->row_modes; ++i) {
    const int j = tile->row[i];
    const uint32_t extent = (uint32_t)tile->extent[j];
    shared[j] = weight;
    phase[j] = (uint32_t)(uint64_t)(c->mode[j].in_stride * w) & 3;
    weight *= extent;
    *mode++ = (cutt_table_mode){.global = c->mode[j].in_stride * w, .extent = cutt_divide_by(extent)};
  }
  args->row_modes = (uint32_t)tile->row_modes;
  args->run_modes = args->table_run = 0;
  if (!l->access.copies) {
    if (l->access.shared_load < (uint32_t)w) { /* an element in several loads: one more mode, common to both sides */
      *mode++ = (cutt_table_mode){.shared = l->access.shared_load,
                                  .extent = cutt_divide_by((uint32_t)w / l->access.shared_load)};
      args->run_modes = 1;
    }
    for (int i = 0; i < tile->run_modes; ++i) {
      const int j = tile->run[i];
      *mode++ = (cutt_table_mode){
          .shared = shared[j], .phase = phase[j], .extent = cutt_divide_by((uint32_t)tile->extent[j])};
    }
    args->run_modes += (uint32_t)tile->run_modes;
    args->table_run = (uint32_t)tile->column_length * (uint32_t)w / l->access.shared_load;
  }
  for (int i = 0; i < tile->column_modes; ++i) {
    const int j = tile->column[i];
    *mode++ = (cutt_table_mode){.global = c->mode[j].out_stride * w,
                                .shared = shared[j],
                                .phase = phase[j],
                                .extent = cutt_divide_by((uint32_t)tile->extent[j])};
  }
  args->column_modes = (uint32_t)tile->column_modes;
  args->inner.columns = (uint32_t)tile->short_columns;
  if (tile->short_columns > 0) { /* the same once more, for the last chunk */
    const int j = tile->cut[tile->inner];
    const uint32_t last = (uint32_t)cutt_gpu_last_chunk(c->mode[j].extent, tile->extent[j]);
    memcpy(mode, mode - tile->column_modes, (size_t)tile->column_modes * sizeof *mode);
    mode[tile->beside - 1].extent = cutt_divide_by(last);
  }
  args->run_first = (uint32_t)cutt_gpu_first_in_row(c, tile, tile->in_k);
  args->column_first = (uint32_t)cutt_gpu_first_in_row(c, tile, ~tile->in_k);
  args->table_rows = (uint32_t)tile->rows;
  args->table_columns = (uint32_t)tile->columns;
}

static uint32_t parts_of(cutt_factor factor) {
  return factor == CUTT_FACTOR_COMPLEX ? CUTT_PARTS_MIXED
         : factor == CUTT_FACTOR_REAL  ? CUTT_PARTS_SCALED
                                       : CUTT_PARTS_ALONE;
}

static void fill_scale(const cutt_scale *scale, cutt_scale_args *args) {
  args->alpha[0] = scale->alpha.re;
  args->alpha[1] = scale->alpha.im;
  args->beta[0] = scale->beta.re;
  args->beta[1] = scale->beta.im;
  args->alpha_integer = scale->alpha.i;
  args->beta_integer = scale->beta.i;
  args->alpha_parts = parts_of(scale->alpha_factor);
  args->beta_parts = parts_of(scale->beta_factor);
  args->flip = scale->conjugate ? UINT32_C(0x80000000) : 0;
  args->op = CUTT_COMBINE_ADD;
}

/* ---------------------------------------------------------------------------------------------------- shared memory */

/* How the threads are spread over rows and columns. */
static void fill_spreads(const layout *l, uint32_t threads) {
  cutt_kernel_args *args = &l->launch->args;
  bool alike;
  const cutt_gpu_spread loads = cutt_gpu_spread_loads(l->canonical, l->tile, &l->access, threads);
  const cutt_gpu_spread stores = cutt_gpu_spread_stores(l->canonical, l->tile, &l->access, threads, &alike);
  args->load_along = loads.along;
  args->load_rows = loads.across;
  args->store_along = l->access.copies ? 1 : stores.along; /* copies store where they load */
  args->store_columns = l->access.copies ? 1 : stores.across;
  args->store_alike = alike;
}

static uint32_t round_up(uint32_t bytes, uint32_t to) { return (bytes + to - 1) / to * to; }

/* stages: how many tiles there is to be room for; 0 when tiles do not go through shared memory. Returns the bytes. */
static uint32_t place_in_shared(cutt_kernel_args *args, uint32_t stages) {
  args->rows_at = args->block_tiles * CUTT_TILE_ENTRY;
  args->columns_at = round_up(args->rows_at + args->table_rows * CUTT_ROW_ENTRY, CUTT_COLUMN_ENTRY);
  args->run_at = args->columns_at + (args->table_columns + args->inner.columns) * CUTT_COLUMN_ENTRY;
  args->stage_at = round_up(args->run_at + args->table_run * CUTT_RUN_ENTRY, 128);
  args->stage_bytes = round_up(args->table_rows * args->pitch, 16);
  args->stages = stages > 0 ? stages : 1;
  return stages > 0 ? args->stage_at + stages * args->stage_bytes : args->run_at;
}

double cutt_gpu_most_shared(const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct) {
  enum { ROUNDED = 256 }; /* by what place_in_shared rounds up, all together */
  const double tables = CUTT_BLOCK_TILES * CUTT_TILE_ENTRY + (double)tile->rows * CUTT_ROW_ENTRY +
                        (double)(tile->columns + tile->short_columns) * CUTT_COLUMN_ENTRY + ROUNDED;
  if (direct) return tables;
  const double w = c->elem_bytes, run = (double)tile->column_length * w * CUTT_RUN_ENTRY; /* byte by byte */
  return tables + run + (double)tile->rows * cutt_gpu_pitch_most((double)tile->row_length * w);
}

/* Are M_m and M_k the same modes in the same order? */
static bool same_runs(const cutt_canonical *canonical, const cutt_candidate *candidate) {
  if (candidate->k == 1 && candidate->param[CUTT_GPU_PARAM_FLAT] && !cutt_gpu_same_first(canonical))
    return candidate->m == 0; /* M_k's elements one by one */
  if (candidate->m != candidate->k) return false;
  for (int i = 0; i < candidate->m; ++i) {
    if (canonical->out_order[i] != i) return false;
  }
  return true;
}

/* Blocks that run at the same time share a range of tiles (fill_tables in tables.h). */
static void share_tiles(const cutt_device *device, bool copies, cutt_gpu_launch *launch) {
  cutt_kernel_args *args = &launch->args;
  const int resident = cutt_gpu_occupancy(device, copies, (int)launch->threads, launch->shared_bytes);
  const uint32_t blocks = (args->tiles + args->block_tiles - 1) / args->block_tiles;
  args->tile_step = smaller(blocks, (uint32_t)((resident > 0 ? resident : 1) * device->sms));
  const uint32_t range = args->tile_step * args->block_tiles;
  /* A grid has no more than INT32_MAX blocks; the last blocks of the last range have no tile, and may be missing. */
  launch->blocks = smaller((args->tiles + range - 1) / range * args->tile_step, INT32_MAX);
}

/* May the next kernel begin while blocks of this one run? Where these have more than half of the SMs' room, but not nearly all, some SMs
 * would get far more of the next one's blocks than others: up to 1 us more for a small tensor, where 0.7 us less are usual. */
static bool next_may_begin(const cutt_device *device, bool copies, const cutt_gpu_launch *launch) {
  const int resident = cutt_gpu_occupancy(device, copies, (int)launch->threads, launch->shared_bytes);
  const double share = (double)launch->blocks / ((double)larger(resident, 1) * device->sms);
  return share <= 0.5 || share >= 0.75;
}

/* ------------------------------------------------------------------------------------------------------ what is taken */

static bool is_or_unknown(int value, int wanted) { return value == 0 || value == wanted; }

static bool takes_device(const cutt_device *device, const char **why) {
  const int sector = cutt_gpu_sector(device);
  if (!is_or_unknown(device->warp, CUTT_GPU_WARP) || !is_or_unknown(device->banks, CUTT_GPU_BANKS) ||
      !is_or_unknown(device->bank_bytes, CUTT_GPU_BANK_BYTES)) {
    return refuse(why, "the kernels are for warps of 32 lanes and 32 banks of 4 bytes");
  }
  if (sector > 128 || (sector & (sector - 1))) return refuse(why, "a sector is not a power of two of up to 128 bytes");
  return true;
}

static bool takes_parameters(const cutt_canonical *canonical, const cutt_candidate *candidate, const char **why) {
  const int64_t stages = candidate->param[CUTT_GPU_PARAM_STAGES];
  const int64_t block_tiles = candidate->param[CUTT_GPU_PARAM_BLOCK_TILES];
  const int64_t direct = candidate->param[CUTT_GPU_PARAM_DIRECT], flat = candidate->param[CUTT_GPU_PARAM_FLAT];
  const int threads = candidate->threads;
  if (candidate->method != cutt_gpu_method(canonical, candidate)) return refuse(why, "the method has another name");
  if (direct != 0 && (direct != 1 || !same_runs(canonical, candidate) || (canonical->scale.active && flat == 0))) {
    return refuse(why, "direct is for runs that both sides have, with alpha, beta or conjugate only if flat");
  }
  if (direct && !flat && !cutt_gpu_plain_runs(canonical))
    return refuse(why, "direct is for runs without gaps, which are not backwards, but if flat");
  if (stages < 1 || stages > CUTT_STAGES) return refuse(why, "stages is not 1 to 4");
  if (block_tiles < 1 || block_tiles > CUTT_BLOCK_TILES) return refuse(why, "block_tiles is not 1 to 32");
  if (threads < CUTT_GPU_WARP || threads > CUTT_BLOCK_THREADS || threads % CUTT_GPU_WARP != 0) {
    return refuse(why, "threads is not a multiple of 32 from 32 to 512");
  }
  if (direct && threads > CUTT_COPY_THREADS) return refuse(why, "threads is not up to 256 for direct copies");
  if (flat != 0 && (flat != 1 || stages != 1 || block_tiles != 1 || threads > CUTT_FLAT_THREADS)) {
    return refuse(why, "flat is for one stage and one tile of up to 256 threads");
  }
  for (int i = CUTT_GPU_PARAM_FLAT + 1; i < CUTT_PARAMS; ++i) {
    if (candidate->param[i] != 0) return refuse(why, "a parameter that this backend does not have");
  }
  return true;
}

/* Do the lists of modes and a tile have room? */
static bool takes_tile(const cutt_device *device, const cutt_canonical *canonical, const cutt_gpu_tile *tile,
                       bool direct, const char **why) {
  if (direct && (cutt_gpu_has_gaps(tile) || tile->backwards))
    return refuse(why, "direct is for runs without gaps, which are not backwards");
  if (cutt_gpu_most_shared(canonical, tile, direct) > device->block_shared) {
    return refuse(why, "a tile larger than shared memory");
  }
  int grid_modes = 0;
  for (int j = 0; j < canonical->rank; ++j) grid_modes += tile->extent[j] != canonical->mode[j].extent;
  if (grid_modes > CUTT_GRID_MODES) return refuse(why, "more than 32 modes outside of the tile");
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- the launch */

/* The pitch of rows, and loads and stores that are as wide as suits the banks. */
static void choose_pitch(layout *l) {
  cutt_gpu_access *a = &l->access;
  l->launch->args.pitch = 0;
  if (a->copies) return;
  cutt_gpu_pitch pitch = cutt_gpu_pitch_choose(l->canonical, l->tile, a->shared_load, a->store, a->load);
  if (pitch.conflicts && a->store > a->shared_load && a->shared_load >= 4) {
    /* Wide stores gain less than bank conflicts cost. */
    cutt_gpu_access_narrow(a);
    pitch = cutt_gpu_pitch_choose(l->canonical, l->tile, a->shared_load, a->store, a->load);
  }
  l->launch->args.pitch = pitch.bytes;
  a->load = pitch.load;
}

/* What of the arguments does not depend on the access. */
static void fill_problem(const layout *l, int64_t block_tiles, uint32_t threads) {
  const cutt_canonical *c = l->canonical;
  cutt_kernel_args *args = &l->launch->args;
  args->tiles = (uint32_t)l->tile->tiles * l->problems;
  args->block_tiles = smaller((uint32_t)block_tiles, smaller(threads, args->tiles));
  args->in_low = c->in_low - l->launch->in_start;
  args->in_high = c->in_high - l->launch->in_start;
  /* To fetch a row's neighbourhood with it is faster, if all of that is wanted: measured in docs/log.md. */
  const int64_t read =
      c->volume / l->tile->volume * l->tile->row_length * l->tile->rows; /* with what is in gaps of rows */
  args->near = (l->tile->row_gaps ? read : c->volume) * c->elem_bytes * 8 >= (c->in_high - c->in_low) * 7;
  args->near_out = c->volume * c->elem_bytes * 8 >= (c->out_high - c->out_low) * 7;
  args->second = 0;
  fill_grid(l);
  fill_scale(&c->scale, &args->scale);
}

/* A block's tiles and stages in a launch for many executions: a plan for a single one often has too few tiles for more than
 * one of either. The block's tables and its way to the first tile are paid once, and the fetch of a tile hides behind another. */
static void share_out(const layout *l, const cutt_device *device, int threads, uint32_t *stages) {
  enum { FEW_BYTES = 24 << 10 }; /* of a block's tiles in shared memory: an SM has room for some such blocks */
  cutt_kernel_args *args = &l->launch->args;
  const uint32_t tile_bytes = (uint32_t)(l->tile->volume * l->canonical->elem_bytes), planned = *stages;
  while (*stages > 0 && *stages < 3 && (*stages + 1) * tile_bytes <= FEW_BYTES) ++*stages;
  const uint32_t bytes = place_in_shared(args, *stages);
  const int resident = cutt_gpu_occupancy(device, l->access.copies, threads, bytes);
  const uint32_t blocks = (uint32_t)((resident > 0 ? resident : 1) * device->sms);
  const uint32_t even = (args->tiles + blocks - 1) / blocks;
  const uint32_t most = smaller((uint32_t)threads, CUTT_BLOCK_TILES);
  if (even > args->block_tiles) args->block_tiles = smaller(even, most);
  if (*stages > args->block_tiles) *stages = larger(planned, args->block_tiles);
}

/* Bytes of shared memory of a block of which as many would fit on an SM as ask for far more than keeps memory busy. Twice as much is
 * best: beyond that, reads and writes of more places at once disturb one another (docs/log.md). So blocks take more of it than they use. */
static uint32_t shared_for_few(const cutt_device *device, uint32_t shared_bytes) {
  const double most = 2 * cutt_gpu_flight_needed(device);
  const uint32_t blocks = (uint32_t)(most / shared_bytes) + 1;
  const double each = (double)device->sm_shared / blocks - device->reserved_shared;
  const uint32_t share = each > 0 ? (uint32_t)each / 128 * 128 : 0;
  return blocks > 1 ? larger(shared_bytes, smaller(share, (uint32_t)device->block_shared)) : shared_bytes;
}

/* Without tables, if the buffers are aligned to elements. In `problems` launches there is none. */
static bool lay_out_flat(const layout *l, const cutt_device *device, bool direct, uint32_t in_align, uint32_t out_align,
                         uint32_t threads) {
  cutt_gpu_launch *launch = l->launch;
  cutt_gpu_flat flat;
  if (l->problems > 1 ||
      !cutt_gpu_flat_choose(device, l->canonical, l->tile, direct, &l->access, in_align, out_align, threads, &flat))
    return false;
  cutt_gpu_flat_fill(l->canonical, l->tile, &flat, &launch->windows);
  launch->flat.reads_out = l->canonical->scale.reads_out;
  fill_scale(&l->canonical->scale, &launch->flat.scale);
  launch->without_tables = true;
  launch->in_start = l->canonical->in_start + flat.in_first;
  launch->kernel = flat.kernel;
  launch->threads = threads;
  launch->blocks = cutt_gpu_flat_blocks(l->tile, &flat, threads);
  launch->flat.last = launch->blocks - 1;
  launch->shared_bytes = cutt_gpu_flat_shared(l->tile, &flat);
  if (flat.async && !flat.windows && !l->canonical->scale.active)
    launch->shared_bytes = shared_for_few(device, launch->shared_bytes);
  launch->flat.next_early = next_may_begin(device, false, launch);
  return true;
}

static bool lay_out(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                    uint32_t in_align, uint32_t out_align, uint32_t problems, cutt_gpu_launch *launch,
                    const char **why) {
  const bool direct = candidate->param[CUTT_GPU_PARAM_DIRECT] != 0;
  const bool copies = cutt_gpu_copies_runs(canonical, direct);
  cutt_gpu_tile tile;
  layout l = {.canonical = canonical, .tile = &tile, .problems = problems, .launch = launch};
  if (!takes_device(device, why) || !cutt_gpu_tile_derive(canonical, candidate, &tile, why) ||
      !takes_parameters(canonical, candidate, why) || !takes_tile(device, canonical, &tile, copies, why) ||
      !cutt_gpu_access_choose(canonical, &tile, direct, in_align, out_align, &l.access, why)) {
    return false;
  }
  const uint32_t threads = (uint32_t)candidate->threads;
  cutt_kernel_args *args = &launch->args;
  launch->in_start = cutt_gpu_row_start(canonical, &tile);
  launch->out_start = canonical->out_start;
  launch->tiles = (uint32_t)tile.tiles * problems;
  launch->without_tables = false;
  if (candidate->param[CUTT_GPU_PARAM_FLAT]) {
    if (!cutt_gpu_flat_takes(canonical, &tile, direct, why)) return false;
    if (lay_out_flat(&l, device, direct, in_align, out_align, threads)) return true;
    if (direct != copies && !cutt_gpu_access_choose(canonical, &tile, copies, in_align, out_align, &l.access, why)) {
      return false;
    }
  }
  fill_problem(&l, candidate->param[CUTT_GPU_PARAM_BLOCK_TILES], threads);
  choose_pitch(&l);
  fill_counts(&l);
  fill_places(&l);
  fill_spreads(&l, threads);
  args->row_tails = tile.row_gaps && l.access.load > 0;
  args->load_log2 = l.access.load > 0 ? log2_of(l.access.load) : CUTT_LOAD_UNALIGNED;
  launch->kernel = l.access.kernel;
  launch->threads = threads;
  /* Badly aligned buffers have longer tables, which may cost a stage. There is room for one (takes_tile). */
  uint32_t stages = l.access.copies ? 0 : (uint32_t)candidate->param[CUTT_GPU_PARAM_STAGES];
  if (problems > 1) share_out(&l, device, candidate->threads, &stages);
  do {
    launch->shared_bytes = place_in_shared(args, stages);
  } while (launch->shared_bytes > (uint32_t)device->block_shared && stages-- > 1);
  share_tiles(device, l.access.copies, launch);
  args->next_early = next_may_begin(device, l.access.copies, launch);
  return true;
}

bool cutt_gpu_lay_out(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      uint32_t in_align, uint32_t out_align, cutt_gpu_launch *launch, const char **why) {
  return lay_out(device, canonical, candidate, in_align, out_align, 1, launch, why);
}

bool cutt_gpu_lay_out_many(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                           uint32_t in_align, uint32_t out_align, uint32_t problems, cutt_gpu_launch *launch,
                           const char **why) {
  return lay_out(device, canonical, candidate, in_align, out_align, problems, launch, why);
}

bool cutt_gpu_accept(const cutt_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                     const char **why) {
  cutt_gpu_launch launch;
  return cutt_gpu_lay_out(device, canonical, candidate, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, &launch, why);
}
