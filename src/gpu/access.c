/* Which kernel, how wide accesses are, and how threads are spread (access.h). */
#include "gpu/access.h"

#include "base/number.h"

/* The power of two that divides all that is ever added to the addresses of one side; and, if asked for, the lengths of its
 * runs. */
static uint32_t side_alignment(const cutt_canonical *c, const cutt_gpu_tile *tile, bool input, uint64_t start,
                               bool lengths) {
  const uint64_t w = (uint64_t)c->elem_bytes, set = input ? tile->in_m : tile->in_k;
  uint64_t bits = start | (input ? tile->row_steps : tile->column_steps) | CUTT_GPU_ALIGNED;
  if (!lengths) return (uint32_t)cutt_gpu_power(bits);
  if (input && tile->row_gaps) { /* rows end anywhere (load_tails in rows.h), but have a load at least */
    const int64_t row_bytes = tile->row_length * (int64_t)w;
    uint32_t align = (uint32_t)cutt_gpu_power(bits);
    while (align > 4 && align > row_bytes) align /= 2;
    return align;
  }
  uint64_t length = w, last_length = w;
  for (int j = 0; j < c->rank; ++j) {
    if (!(set >> j & 1)) continue;
    const int64_t extent = c->mode[j].extent, chunk = tile->extent[j];
    length *= (uint64_t)chunk;
    last_length *= (uint64_t)(chunk == extent ? extent : cutt_gpu_last_chunk(extent, chunk));
  }
  return (uint32_t)cutt_gpu_power(bits | length | last_length);
}

/* ---------------------------------------------------------------------------------------------------------- kernel */

uint32_t cutt_gpu_scalar_bytes(cuttType_t type) {
  return type == CUTT_F16 || type == CUTT_BF16 ? 2 : type == CUTT_C64 ? 8 : 4;
}

/* Of a type, without and with reading the output: the kernels that scale_types.h of the kernels names. Numbers of up to 4 bytes have
 * no halves, and an element of 16 bytes is as wide as any. */
enum { SINGLE, HALVES, GATHERED, QUADS, VARIANTS };
#define PAIR(name)                                                                                                     \
  { CUTT_KERNEL_scale_##name, CUTT_KERNEL_add_##name }
#define NARROW(type)                                                                                                   \
  { PAIR(type), PAIR(type), PAIR(type##w), PAIR(type##q) }
#define WIDE(type)                                                                                                     \
  { PAIR(type), PAIR(type##h), PAIR(type##w), PAIR(type##q) }
static const cutt_kernel scale_kernels[][VARIANTS][2] = {
    [0] = NARROW(f16),
    [CUTT_BF16 - CUTT_F16] = NARROW(bf16),
    [CUTT_F32 - CUTT_F16] = NARROW(f32),
    [CUTT_F64 - CUTT_F16] = WIDE(f64),
    [CUTT_C32 - CUTT_F16] = WIDE(c32),
    [CUTT_C64 - CUTT_F16] = {PAIR(c64), PAIR(c64h), PAIR(c64), PAIR(c64)},
    [CUTT_I32 - CUTT_F16] = NARROW(i32),
    [CUTT_I64 - CUTT_F16] = WIDE(i64)};

static bool choose_scale_kernel(const cutt_canonical *c, cutt_gpu_access *a, const char **why) {
  const cuttType_t type = c->scale.type;
  const uint32_t needed = cutt_gpu_scalar_bytes(type), base = (uint32_t)c->base_bytes;
  if (a->in_align < needed || a->out_align < needed) {
    *why =
        "alpha, beta and conjugate need buffers and strides that are multiples of the size of the type's numbers "
        "(4 bytes for 8-byte ones)";
    return false;
  }
  const uint32_t wide = base < 4 ? 4 : 16;
  const int single = a->out_align < base ? HALVES : SINGLE;
  int variant = single;
  if (base < 16 && a->in_align >= 4 && a->out_align >= wide)
    variant = c->elem_bytes == 16 && a->out_align >= 16 ? QUADS : GATHERED;
  a->kernel = scale_kernels[type - CUTT_F16][variant][c->scale.reads_out];
  a->narrow = scale_kernels[type - CUTT_F16][single][c->scale.reads_out];
  a->shared_load = variant == QUADS ? 16 : base;
  a->store = variant == GATHERED ? wide : a->shared_load;
  a->load = a->in_align >= 4 ? smaller(a->in_align, 16) : 0;
  return true;
}

static void choose_tile_kernel(uint32_t w, bool far, cutt_gpu_access *a) {
  const uint32_t in = a->in_align, out = a->out_align;
  cutt_kernel kernel;
  if (w >= 4 && in >= 4 && out >= 4) {
    a->shared_load = smaller(w, out);
    kernel = a->shared_load == 16 ? CUTT_KERNEL_tile_16 : a->shared_load == 8 ? CUTT_KERNEL_tile_8 : CUTT_KERNEL_tile_4;
    if (out >= 16 && a->shared_load == 8) kernel = CUTT_KERNEL_tile_8w;
    if (out >= 16 && a->shared_load == 4) kernel = CUTT_KERNEL_tile_4w;
  } else {
    a->shared_load = smaller(smaller(w, 2), smaller(in, out));
    const bool aligned = in >= 4 && out >= 4;
    kernel = a->shared_load == 2 ? (aligned ? CUTT_KERNEL_tile_2 : CUTT_KERNEL_tile_2u)
                                 : (aligned ? CUTT_KERNEL_tile_1 : CUTT_KERNEL_tile_1u);
  }
  a->lines = far && a->shared_load >= 4;
  if (a->lines)
    kernel = a->shared_load == 16  ? CUTT_KERNEL_tile_16l
             : a->shared_load == 8 ? CUTT_KERNEL_tile_8l
                                   : CUTT_KERNEL_tile_4l;
  const bool wide = kernel == CUTT_KERNEL_tile_4w || kernel == CUTT_KERNEL_tile_8w;
  a->store = wide ? 16 : a->shared_load < 4 ? 4 : a->shared_load;
  a->kernel = kernel;
  a->narrow = a->lines ? kernel : a->shared_load == 8 ? CUTT_KERNEL_tile_8 : CUTT_KERNEL_tile_4;
  a->load = in >= 4 ? smaller(in, 16) : 0;
}

/* Runs that go straight from global to global memory. Their lengths need not be a multiple of an access. */
static void choose_copy_kernel(cutt_gpu_access *a) {
  static const cutt_kernel kernels[] = {CUTT_KERNEL_copy_1, CUTT_KERNEL_copy_2, CUTT_KERNEL_copy_4, CUTT_KERNEL_copy_8,
                                        CUTT_KERNEL_copy_16};
  const uint32_t bytes = smaller(a->in_align, a->out_align);
  a->kernel = a->narrow = kernels[__builtin_ctz(bytes)];
  a->shared_load = a->store = a->load = bytes;
  a->copies = true;
}

bool cutt_gpu_access_choose(const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct, uint32_t in_align,
                            uint32_t out_align, cutt_gpu_access *access, const char **why) {
  access->copies = access->lines = false;
  access->in_align =
      side_alignment(c, tile, true, in_align | (uint64_t)(cutt_gpu_row_start(c, tile) - c->in_low), !direct);
  access->out_align = side_alignment(c, tile, false, out_align | cutt_gpu_out_start(c), !direct);
  if (direct) {
    choose_copy_kernel(access);
  } else if (!c->scale.active) {
    choose_tile_kernel((uint32_t)c->elem_bytes, c->far, access);
  } else {
    return choose_scale_kernel(c, access, why);
  }
  return true;
}

void cutt_gpu_access_narrow(cutt_gpu_access *access) {
  access->kernel = access->narrow;
  access->store = access->shared_load;
}

/* --------------------------------------------------------------------------------------------------------- threads */

cutt_gpu_spread cutt_gpu_spread_runs(uint32_t threads, uint32_t accesses, uint32_t runs, uint32_t period,
                                     bool *periodic) {
  enum { WARP = CUTT_GPU_WARP };
  cutt_gpu_spread best = {1, 1};
  uint64_t least = UINT64_MAX;
  if (accesses == 0) accesses = 1; /* a run shorter than a load, of which only the tail is copied */
  *periodic = threads >= period * smaller(accesses, WARP);
  if (!*periodic) period = 1;
  const uint32_t most_runs = (runs + period - 1) / period * period;
  for (uint32_t along = accesses <= threads ? accesses : threads; along > 0;
       along = along > WARP ? (along - 1) / WARP * WARP : 0) {
    const uint32_t across = smaller(threads / along, most_runs) / period * period;
    if (across == 0) continue;
    const uint64_t passes = (uint64_t)((accesses + along - 1) / along) * ((runs + across - 1) / across);
    if (passes >= least) continue;
    least = passes;
    best = (cutt_gpu_spread){along, across};
  }
  return best;
}

/* A thread's batch of loads goes from run to run, so a run is divided into as few parts as possible. */
static cutt_gpu_spread spread_copies(uint32_t threads, uint32_t accesses, uint32_t rows) {
  const uint32_t parts = (accesses + threads - 1) / threads, along = accesses > 0 ? (accesses + parts - 1) / parts : 1;
  return (cutt_gpu_spread){along, smaller(threads / along, rows)};
}

/* After how many columns does one begin at the same byte of a word as the first, and what it reads too? 0: unknown. */
static uint32_t column_period(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_access *access) {
  if (tile->columns == 1) return 1;
  for (int i = 0; i < tile->column_modes; ++i) {
    /* A batch's columns begin in different rows. */
    if (!(tile->in_m >> tile->column[i] & 1) && access->in_align < 4) return 0;
  }
  if (access->out_align >= 4) return 1;
  if (tile->column_modes > 1) return 0;
  const int64_t stride = c->mode[tile->column[0]].out_stride * c->elem_bytes;
  return stride % 4 == 0 ? 1 : stride % 2 == 0 ? 2 : 4;
}

cutt_gpu_spread cutt_gpu_spread_loads(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_access *access,
                                      uint32_t threads) {
  const uint32_t accesses = cutt_gpu_accesses((uint32_t)(tile->row_length * c->elem_bytes), access->load);
  bool periodic;
  return access->copies ? spread_copies(threads, accesses, (uint32_t)tile->rows)
                        : cutt_gpu_spread_runs(threads, accesses, (uint32_t)tile->rows, 1, &periodic);
}

cutt_gpu_spread cutt_gpu_spread_stores(const cutt_canonical *c, const cutt_gpu_tile *tile,
                                       const cutt_gpu_access *access, uint32_t threads, bool *alike) {
  const bool anywhere = cutt_gpu_stores_anywhere(access);
  *alike = false;
  if (access->copies) return cutt_gpu_spread_loads(c, tile, access, threads);
  if (access->lines) return (cutt_gpu_spread){CUTT_GPU_WARP, threads / CUTT_GPU_WARP};
  const uint32_t accesses =
      cutt_gpu_accesses((uint32_t)(tile->column_length * c->elem_bytes), anywhere ? 0 : access->store);
  const uint32_t period = anywhere ? column_period(c, tile, access) : 1;
  bool periodic;
  const cutt_gpu_spread at =
      cutt_gpu_spread_runs(threads, accesses, (uint32_t)tile->columns, period > 0 ? period : 1, &periodic);
  *alike = anywhere && periodic && period > 0;
  return at;
}
