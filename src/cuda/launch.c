/* From a candidate to a launch: the kernel for the alignment of the buffers at hand, the lists of digits that it is told,
 * and how a tile lies in shared memory. */
#include "cuda/launch.h"

#include <string.h>

#include "cuda/cost.h"
#include "cuda/pitch.h"
#include "cuda/tile.h"

const char *const cutt_cuda_param_name[CUTT_PARAMS] = {"stages", "block_tiles", "direct", "batch", NULL, NULL};

#define KERNEL_NAME(name) [CUTT_KERNEL_##name] = "cutt_" #name,
const char *const cutt_cuda_kernel_name[CUTT_KERNEL_COUNT] = {CUTT_KERNELS(KERNEL_NAME)};
#define OF_TILE(name) [CUTT_KERNEL_##name] = "tile",
#define OF_COPY(name) [CUTT_KERNEL_##name] = "copy",
const char *const cutt_cuda_kernel_source[CUTT_KERNEL_COUNT] = {CUTT_TILE_KERNELS(OF_TILE) CUTT_SCALE_KERNELS(OF_TILE)
                                                                    CUTT_COPY_KERNELS(OF_COPY)};

static bool refuse(const char **why, const char *text) {
  *why = text;
  return false;
}

static uint32_t alignment(uint64_t bits) { return (uint32_t)cutt_cuda_power(bits | CUTT_CUDA_ALIGNED); }

uint32_t cutt_cuda_alignment(const void *pointer) { return alignment((uintptr_t)pointer); }

static uint32_t log2_of(uint32_t power) { return (uint32_t)__builtin_ctz(power); }

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static cutt_divisor divisor(uint32_t by) {
  const uint32_t shift = by > 1 ? 32 - (uint32_t)__builtin_clz(by - 1) : 0;
  const uint64_t multiplier = (((UINT64_C(1) << shift) - by) << 32) / by + 1;
  return (cutt_divisor){by, (uint32_t)multiplier, shift};
}

/* What is worked out once per launch. */
typedef struct layout {
  const cutt_canonical *canonical;
  const cutt_cuda_tile *tile;
  cutt_cuda_launch *launch;
  uint32_t in_align, out_align; /* what divides all places and lengths of rows, and of columns: in bytes */
  uint32_t piece;               /* bytes */
  uint32_t load;                /* bytes of a load; 0: rows are aligned to nothing */
  uint32_t store;               /* bytes of a store: one or more pieces */
  bool copies;                  /* runs go straight from global to global memory, in pieces */
} layout;

/* Everything that is ever added to the addresses of one side; and, if asked for, the lengths of its runs. */
static uint32_t side_alignment(const cutt_canonical *c, const cutt_cuda_tile *tile, bool input, uint64_t start,
                               bool lengths) {
  const uint64_t w = (uint64_t)c->elem_bytes, set = input ? tile->in_m : tile->in_k;
  const uint64_t bits = start | cutt_cuda_tile_steps(c, tile, input);
  if (!lengths) return alignment(bits);
  uint64_t length = w, last_length = w;
  for (int j = 0; j < c->rank; ++j) {
    if (!(set >> j & 1)) continue;
    length *= (uint64_t)tile->extent[j];
    last_length *= (uint64_t)cutt_cuda_last_chunk(c->mode[j].extent, tile->extent[j]);
  }
  return alignment(bits | length | last_length);
}

/* ---------------------------------------------------------------------------------------------------------- kernel */

/* Bytes of the parts that have to be aligned for alpha and beta: what a scale kernel can't do without. */
static uint32_t scalar_bytes(cuttType_t type) {
  return type == CUTT_F16 || type == CUTT_BF16 ? 2 : type == CUTT_C64 ? 8 : 4;
}

static bool choose_scale_kernel(layout *l, const char **why) {
  static const cutt_kernel kernels[] = {[0] = CUTT_KERNEL_scale_f16,
                                        [CUTT_BF16 - CUTT_F16] = CUTT_KERNEL_scale_bf16,
                                        [CUTT_F32 - CUTT_F16] = CUTT_KERNEL_scale_f32,
                                        [CUTT_F64 - CUTT_F16] = CUTT_KERNEL_scale_f64,
                                        [CUTT_C32 - CUTT_F16] = CUTT_KERNEL_scale_c32,
                                        [CUTT_C64 - CUTT_F16] = CUTT_KERNEL_scale_c64,
                                        [CUTT_I32 - CUTT_F16] = CUTT_KERNEL_scale_i32,
                                        [CUTT_I64 - CUTT_F16] = CUTT_KERNEL_scale_i64};
  const cuttType_t type = l->canonical->scale.type;
  const uint32_t needed = scalar_bytes(type);
  if (l->in_align < needed || l->out_align < needed) {
    return refuse(why,
                  "alpha, beta and conjugate need buffers and strides that are multiples of the size of the type's "
                  "numbers (4 bytes for 8-byte ones)");
  }
  l->launch->kernel = kernels[type - CUTT_F16];
  l->piece = l->store = (uint32_t)l->canonical->base_bytes;
  l->launch->args.halves = l->out_align < l->piece;
  l->load = l->in_align >= 4 ? smaller(l->in_align, 16) : 0;
  return true;
}

static void choose_tile_kernel(layout *l) {
  const uint32_t w = (uint32_t)l->canonical->elem_bytes, in = l->in_align, out = l->out_align;
  cutt_kernel kernel;
  if (w >= 4 && in >= 4 && out >= 4) {
    l->piece = smaller(w, out);
    kernel = l->piece == 16 ? CUTT_KERNEL_tile_16 : l->piece == 8 ? CUTT_KERNEL_tile_8 : CUTT_KERNEL_tile_4;
    if (out >= 16 && l->piece == 8) kernel = CUTT_KERNEL_tile_8w;
    if (out >= 16 && l->piece == 4) kernel = CUTT_KERNEL_tile_4w;
  } else {
    l->piece = smaller(smaller(w, 2), smaller(in, out));
    const bool aligned = in >= 4 && out >= 4;
    kernel = l->piece == 2 ? (aligned ? CUTT_KERNEL_tile_2 : CUTT_KERNEL_tile_2u)
                           : (aligned ? CUTT_KERNEL_tile_1 : CUTT_KERNEL_tile_1u);
  }
  const bool wide = kernel == CUTT_KERNEL_tile_4w || kernel == CUTT_KERNEL_tile_8w;
  l->store = wide ? 16 : l->piece < 4 ? 4 : l->piece;
  l->launch->kernel = kernel;
  l->load = in >= 4 ? smaller(in, 16) : 0;
}

/* Runs that go straight from global to global memory. They may end anywhere. */
static void choose_copy_kernel(layout *l) {
  static const cutt_kernel kernels[] = {CUTT_KERNEL_copy_1, CUTT_KERNEL_copy_2, CUTT_KERNEL_copy_4, CUTT_KERNEL_copy_8,
                                        CUTT_KERNEL_copy_16};
  const uint32_t unit = smaller(l->in_align, l->out_align);
  l->launch->kernel = kernels[log2_of(unit)];
  l->piece = l->store = l->load = unit;
  l->copies = true;
}

/* ----------------------------------------------------------------------------------------------------------- lists */

/* The digits of a tile's number. Neighbouring tiles share the sectors that their runs end in, so those that go on with
 * the output's run come first, since a sector that is written in two parts costs more when the parts do not meet in L2;
 * then those that go on with the input's; then the rest, in output order. */
static void fill_grid(const layout *l) {
  const cutt_canonical *c = l->canonical;
  const cutt_cuda_tile *tile = l->tile;
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
  for (int i = 0; i < 2; ++i) args->cut[i] = (cutt_cut){UINT32_MAX, 1, 1};
  for (int i = 0; i < count; ++i) {
    const int j = order[i];
    const cutt_mode *mode = &c->mode[j];
    const int64_t chunk = tile->extent[j];
    args->grid[i] = (cutt_grid_mode){.in = mode->in_stride * chunk * w,
                                     .out = mode->out_stride * chunk * w,
                                     .extent = divisor((uint32_t)cutt_cuda_chunks(mode->extent, chunk))};
    for (int cut = 0; cut < 2; ++cut) {
      if (tile->cut[cut] != j) continue;
      args->cut[cut] = (cutt_cut){(uint32_t)i, (uint32_t)chunk, (uint32_t)cutt_cuda_last_chunk(mode->extent, chunk)};
    }
  }
}

/* So many units, of which a cut mode's extent is a factor if its mode is in the set. */
static cutt_count count_over(const cutt_cuda_tile *tile, uint64_t set, int64_t units) {
  for (uint32_t cut = 0; cut < 2; ++cut) {
    const int j = tile->cut[cut];
    if (j >= 0 && (set >> j & 1)) return (cutt_count){(uint32_t)(units / tile->extent[j]), cut + 1};
  }
  return (cutt_count){(uint32_t)units, 0};
}

static void fill_counts(const layout *l) {
  const cutt_cuda_tile *tile = l->tile;
  cutt_kernel_args *args = &l->launch->args;
  const uint32_t w = (uint32_t)l->canonical->elem_bytes;
  args->row_bytes = count_over(tile, tile->in_m, tile->row_length * w);
  args->rows = count_over(tile, ~tile->in_m, tile->rows);
  args->columns = count_over(tile, ~tile->in_k, tile->columns);
  if (l->copies) { /* their columns are not counted in pieces */
    args->run = (cutt_count){1, 0};
  } else {
    args->run = count_over(tile, tile->in_k, tile->column_length * (w / l->piece));
  }
}

/* The places of a tile. In shared memory, a mode of M_m is walked in the row, and another one from row to row. */
static void fill_places(const layout *l) {
  const cutt_canonical *c = l->canonical;
  const cutt_cuda_tile *tile = l->tile;
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
    *mode++ = (cutt_table_mode){.global = c->mode[j].in_stride * w, .extent = divisor(extent)};
  }
  args->row_modes = (uint32_t)tile->row_modes;
  args->run_modes = args->table_run = 0;
  if (!l->copies) {
    if (l->piece < (uint32_t)w) { /* an element in several pieces: one more mode, common to both sides */
      *mode++ = (cutt_table_mode){.shared = l->piece, .extent = divisor((uint32_t)w / l->piece)};
      args->run_modes = 1;
    }
    for (int i = 0; i < tile->run_modes; ++i) {
      const int j = tile->run[i];
      *mode++ = (cutt_table_mode){.shared = shared[j], .phase = phase[j], .extent = divisor((uint32_t)tile->extent[j])};
    }
    args->run_modes += (uint32_t)tile->run_modes;
    args->table_run = (uint32_t)tile->column_length * (uint32_t)w / l->piece;
  }
  for (int i = 0; i < tile->column_modes; ++i) {
    const int j = tile->column[i];
    *mode++ = (cutt_table_mode){.global = c->mode[j].out_stride * w,
                                .shared = shared[j],
                                .phase = phase[j],
                                .extent = divisor((uint32_t)tile->extent[j])};
  }
  args->column_modes = (uint32_t)tile->column_modes;
  args->table_rows = (uint32_t)tile->rows;
  args->table_columns = (uint32_t)tile->columns;
}

static void fill_scale(const cutt_scale *scale, cutt_kernel_args *args) {
  args->alpha[0] = scale->alpha.re;
  args->alpha[1] = scale->alpha.im;
  args->beta[0] = scale->beta.re;
  args->beta[1] = scale->beta.im;
  args->alpha_integer = scale->alpha.i;
  args->beta_integer = scale->beta.i;
  args->conjugate = scale->conjugate;
  args->reads_out = scale->reads_out;
}

/* ---------------------------------------------------------------------------------------------------- shared memory */

/* Spreads a block's threads over lines of units, so that the fewest passes are needed for a whole tile. Those on one line
 * are all of its units, or whole warps. The lines of a pass are a multiple of `period` where that is possible; then the
 * result is true. */
static bool spread(uint32_t threads, uint32_t units, uint32_t lines, uint32_t period, uint32_t *unit_step,
                   uint32_t *line_step) {
  enum { WARP = 32 };
  uint64_t least = UINT64_MAX;
  if (units == 0) units = 1; /* a run shorter than a load, of which only the tail is copied */
  const bool periodic = threads >= period * smaller(units, WARP);
  if (!periodic) period = 1;
  const uint32_t most_lines = (lines + period - 1) / period * period;
  for (uint32_t across = units <= threads ? units : threads; across > 0;
       across = across > WARP ? (across - 1) / WARP * WARP : 0) {
    const uint32_t down = smaller(threads / across, most_lines) / period * period;
    if (down == 0) continue;
    const uint64_t passes = (uint64_t)((units + across - 1) / across) * ((lines + down - 1) / down);
    if (passes >= least) continue;
    least = passes;
    *unit_step = across;
    *line_step = down;
  }
  return periodic;
}

/* After how many columns does one lie in its words as the first does, and its rows likewise? 0: there is no saying. */
static uint32_t column_period(const layout *l) {
  const cutt_cuda_tile *tile = l->tile;
  if (tile->columns == 1) return 1;
  for (int i = 0; i < tile->column_modes; ++i) {
    /* Columns of a batch begin in different rows. */
    if (!(tile->in_m >> tile->column[i] & 1) && l->in_align < 4) return 0;
  }
  if (l->out_align >= 4) return 1;
  if (tile->column_modes > 1) return 0;
  const int64_t stride = l->canonical->mode[tile->column[0]].out_stride * l->canonical->elem_bytes;
  return stride % 4 == 0 ? 1 : stride % 2 == 0 ? 2 : 4;
}

/* The threads' places in rows, in units of a load, and in columns, in units of a store. */
static void fill_shares(const layout *l, uint32_t threads) {
  cutt_kernel_args *args = &l->launch->args;
  const cutt_kernel kernel = l->launch->kernel;
  args->store_alike = 0;
  const uint32_t row_bytes = (uint32_t)(l->tile->row_length * l->canonical->elem_bytes);
  const uint32_t column_bytes = (uint32_t)(l->tile->column_length * l->canonical->elem_bytes);
  const uint32_t units = l->load > 0 ? row_bytes / l->load : (row_bytes + 6) / 4;
  if (l->copies) { /* a thread's batch of loads goes from row to row: no more parts of rows than have to be */
    const uint32_t parts = (units + threads - 1) / threads;
    args->load_units = units > 0 ? (units + parts - 1) / parts : 1;
    args->load_rows = smaller(threads / args->load_units, args->table_rows);
    args->store_units = args->store_columns = 1; /* of no meaning */
    return;
  }
  spread(threads, units, args->table_rows, 1, &args->load_units, &args->load_rows);
  if (kernel == CUTT_KERNEL_tile_1u || kernel == CUTT_KERNEL_tile_2u) {
    const uint32_t period = column_period(l);
    const bool alike = spread(threads, (column_bytes + 6) / 4, args->table_columns, period > 0 ? period : 1,
                              &args->store_units, &args->store_columns);
    args->store_alike = alike && period > 0;
    return;
  }
  spread(threads, column_bytes / l->store, args->table_columns, 1, &args->store_units, &args->store_columns);
}

static uint32_t round_up(uint32_t bytes, uint32_t unit) { return (bytes + unit - 1) / unit * unit; }

/* stages: places for tiles; 0 when tiles do not go through shared memory. */
static uint32_t place_in_shared(cutt_kernel_args *args, uint32_t stages) {
  args->rows_at = args->block_tiles * CUTT_TILE_ENTRY;
  args->columns_at = round_up(args->rows_at + args->table_rows * CUTT_ROW_ENTRY, CUTT_COLUMN_ENTRY);
  args->run_at = args->columns_at + args->table_columns * CUTT_COLUMN_ENTRY;
  args->stage_at = round_up(args->run_at + args->table_run * CUTT_RUN_ENTRY, 128);
  args->stage_bytes = round_up(args->table_rows * args->pitch, 16);
  args->stages = stages > 0 ? stages : 1;
  return stages > 0 ? args->stage_at + stages * args->stage_bytes : args->run_at;
}

/* Are M_m and M_k the same modes in the same order? */
static bool same_runs(const cutt_canonical *canonical, const cutt_candidate *candidate) {
  if (candidate->m != candidate->k) return false;
  for (int i = 0; i < candidate->m; ++i) {
    if (canonical->out_order[i] != i) return false;
  }
  return true;
}

/* Blocks that run at the same time take turns at tiles. */
static void share_tiles(const cutt_cuda_device *device, bool copies, cutt_cuda_launch *launch) {
  cutt_kernel_args *args = &launch->args;
  const int resident = cutt_cuda_occupancy(device, copies, (int)launch->threads, launch->shared_bytes);
  const uint32_t blocks = (args->tiles + args->block_tiles - 1) / args->block_tiles;
  args->tile_step = smaller(blocks, (uint32_t)((resident > 0 ? resident : 1) * device->sms));
  const uint32_t stretch = args->tile_step * args->block_tiles;
  launch->blocks = (args->tiles + stretch - 1) / stretch * args->tile_step;
}

bool cutt_cuda_lay_out(const cutt_cuda_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                       uint32_t in_align, uint32_t out_align, cutt_cuda_launch *launch, const char **why) {
  cutt_cuda_tile tile;
  if (!cutt_cuda_tile_derive(canonical, candidate, &tile, why)) return false;
  const int64_t stages = candidate->param[CUTT_CUDA_PARAM_STAGES];
  const int64_t block_tiles = candidate->param[CUTT_CUDA_PARAM_BLOCK_TILES];
  const int64_t direct = candidate->param[CUTT_CUDA_PARAM_DIRECT];
  const int threads = candidate->threads;
  if (candidate->method != cutt_cuda_method(canonical, candidate)) return refuse(why, "the method has another name");
  if (direct != 0 && (direct != 1 || !same_runs(canonical, candidate) || canonical->scale.active)) {
    return refuse(why, "direct is for runs that both sides have, without alpha, beta or conjugate");
  }
  if (stages < 1 || stages > CUTT_STAGES) return refuse(why, "stages is not 1 to 4");
  if (block_tiles < 1 || block_tiles > CUTT_BLOCK_TILES) return refuse(why, "block_tiles is not 1 to 32");
  if (threads < 32 || threads > CUTT_BLOCK_THREADS || threads % 32 != 0) {
    return refuse(why, "threads is not a multiple of 32 from 32 to 512");
  }
  if (direct && threads > CUTT_COPY_THREADS) return refuse(why, "threads is not up to 256 for direct copies");
  for (int i = CUTT_CUDA_PARAM_BATCH + 1; i < CUTT_PARAMS; ++i) {
    if (candidate->param[i] != 0) return refuse(why, "a parameter that this backend does not have");
  }
  if (tile.row_modes + tile.column_modes + tile.run_modes + 1 > CUTT_TABLE_MODES) {
    return refuse(why, "a tile of too many modes");
  }
  int grid_modes = 0;
  for (int j = 0; j < canonical->rank; ++j) grid_modes += tile.extent[j] != canonical->mode[j].extent;
  if (grid_modes > CUTT_GRID_MODES) return refuse(why, "more than 32 modes outside of the tile");

  layout l = {.canonical = canonical, .tile = &tile, .launch = launch};
  cutt_kernel_args *args = &launch->args;
  const uint64_t in_bits = in_align | (uint64_t)canonical->in_start,
                 out_bits = out_align | (uint64_t)canonical->out_start;
  args->halves = 0;
  l.in_align = side_alignment(canonical, &tile, true, in_bits, !direct);
  l.out_align = side_alignment(canonical, &tile, false, out_bits, !direct);
  if (direct) {
    choose_copy_kernel(&l);
  } else if (!canonical->scale.active) {
    choose_tile_kernel(&l);
  } else if (!choose_scale_kernel(&l, why)) {
    return false;
  }
  args->tiles = (uint32_t)tile.tiles;
  args->block_tiles = smaller((uint32_t)block_tiles, smaller((uint32_t)threads, args->tiles));
  args->in_low = canonical->in_low - canonical->in_start;
  args->in_high = canonical->in_high - canonical->in_start;
  /* Memory serves a row's neighbourhood faster at once, if all of it is wanted: measured in docs/performance.md. */
  args->near = canonical->volume * canonical->elem_bytes * 8 >= (canonical->in_high - canonical->in_low) * 7;
  fill_grid(&l);
  fill_counts(&l);
  if (l.copies) {
    args->pitch = 0;
  } else {
    cutt_cuda_pitch pitch = cutt_cuda_pitch_choose(canonical, &tile, l.piece, l.store, l.load);
    if (pitch.conflicts && l.store > l.piece && l.piece >= 4) {
      /* Wide stores are worth less than what the banks take: pieces are stored as they are. */
      launch->kernel = l.piece == 8 ? CUTT_KERNEL_tile_8 : CUTT_KERNEL_tile_4;
      l.store = l.piece;
      pitch = cutt_cuda_pitch_choose(canonical, &tile, l.piece, l.store, l.load);
    }
    args->pitch = pitch.bytes;
    l.load = pitch.load;
  }
  args->load_log2 = l.load > 0 ? log2_of(l.load) : CUTT_LOAD_UNALIGNED;
  fill_places(&l);
  fill_shares(&l, (uint32_t)threads);
  fill_scale(&canonical->scale, args);
  launch->threads = (uint32_t)threads;
  /* Buffers that are badly aligned take longer tables, which may cost a stage. */
  uint32_t places = l.copies ? 0 : (uint32_t)stages;
  do {
    launch->shared_bytes = place_in_shared(args, places);
  } while (launch->shared_bytes > (uint32_t)device->block_shared && places-- > 1);
  share_tiles(device, l.copies, launch);
  launch->in_start = canonical->in_start;
  launch->out_start = canonical->out_start;
  if (launch->shared_bytes > (uint32_t)device->block_shared) return refuse(why, "a tile larger than shared memory");
  return true;
}

bool cutt_cuda_accept(const cutt_cuda_device *device, const cutt_canonical *canonical, const cutt_candidate *candidate,
                      const char **why) {
  cutt_cuda_launch launch;
  const uint32_t least = canonical->scale.active ? scalar_bytes(canonical->scale.type) : 1;
  return cutt_cuda_lay_out(device, canonical, candidate, CUTT_CUDA_ALIGNED, CUTT_CUDA_ALIGNED, &launch, why) &&
         cutt_cuda_lay_out(device, canonical, candidate, least, least, &launch, why);
}
