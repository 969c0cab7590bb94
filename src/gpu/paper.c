/* Candidates in the paper's terms (paper.h). The paper's kernels move one element per thread, in tiles of L x L or
 * through a buffer of vol(M_mk) elements, one at a time. Ours do more at once, and are modelled as if they did not. An
 * iteration is what a block of the paper's does between barriers:
 *
 *   Tiled                an L x L tile within the chunks of M_m and M_k that our tile has
 *   Copy, TiledCopy      the same of our rows, each cut into rows of L elements, with nothing in shared memory
 *   Packed, PackedSplit  all of our tile
 *
 * N_iter: N_warp is of one block, and MWP of an SM, so that cycles_mem is the time in which an SM serves one iteration,
 * whatever else is resident there. So N_iter is all iterations divided by the SMs, and a memory-bound candidate takes its
 * bytes over the bandwidth. (Divided by the resident blocks too, it would be that many times faster than memory is.)
 *
 * LD_tran, ST_tran, CL_full and CL_part are counted for ten random tiles, as in the paper, but by some of the warps of
 * each: so planning stays cheap for large tiles. */
#include "gpu/paper.h"

#include <math.h>

#include "gpu/cost.h"

enum {
  WARP = CUTT_MWP_L,
  SAMPLES = 10,       /* tiles */
  SAMPLED_WARPS = 60, /* of all of them, on each side */
  SHARED_WARPS = 64,  /* whose bank conflicts are counted */
  MODES = 20,         /* of a tile that have more than one place: 2^18 elements at most (tile.c) */
  /* The paper's: a memory transaction (CUTT_MWP_TRAN_SIZE), and the "L2 lines" of 32 bytes of CL_full and CL_part. */
  LINE_LOG2 = 7,
  SECTOR_LOG2 = 5
};

/* ------------------------------------------------------------------------------------------------- places of a tile */

/* The modes of a tile in the order in which its elements are numbered (k in Eq. 4 to 6), fastest first. */
typedef struct walk {
  int modes;
  uint32_t extent[MODES];
  uint64_t step[MODES]; /* from a place to the next, modulo 2^64: bytes in global, elements in shared memory */
} walk;

/* A mode that goes on where the last one ends is one with it. */
static void append(walk *w, uint32_t extent, uint64_t step) {
  if (extent < 2) return;
  if (w->modes > 0 && w->step[w->modes - 1] * w->extent[w->modes - 1] == step) {
    w->extent[w->modes - 1] *= extent;
    return;
  }
  w->extent[w->modes] = extent;
  w->step[w->modes++] = step;
}

static void finish(walk *w, uint64_t step) {
  if (w->modes > 0) return;
  w->modes = 1;
  w->extent[0] = 1;
  w->step[0] = step;
}

/* An element of a tile: where it is, and its digits. */
typedef struct place {
  uint64_t at;
  uint32_t digit[MODES];
} place;

/* At element `from`, when element 0 is at `base`. */
static void start(const walk *w, uint32_t from, uint64_t base, place *p) {
  p->at = base;
  for (int i = 0; i < w->modes; ++i) {
    p->digit[i] = from % w->extent[i];
    p->at += p->digit[i] * w->step[i];
    from /= w->extent[i];
  }
}

/* From any digit of the fastest mode to its digit 0 with the next digits counted up. */
static void carry(const walk *w, place *p) {
  p->at -= p->digit[0] * w->step[0];
  p->digit[0] = 0;
  for (int i = 1; i < w->modes; ++i) {
    p->at += w->step[i];
    if (++p->digit[i] < w->extent[i]) return;
    p->at -= w->extent[i] * w->step[i];
    p->digit[i] = 0;
  }
}

/* --------------------------------------------------------------------------------------------------- global memory */

/* Bytes that a warp accesses: [begin, end). */
typedef struct span {
  uint64_t begin, end;
} span;

/* Keeps the list in ascending order, in which spans nearly always come, and joins those that touch. */
static int add_span(span *list, int count, uint64_t begin, uint64_t bytes) {
  if (count > 0 && list[count - 1].end == begin) {
    list[count - 1].end = begin + bytes;
    return count;
  }
  int i = count;
  for (; i > 0 && list[i - 1].begin > begin; --i) list[i] = list[i - 1];
  list[i] = (span){begin, begin + bytes};
  return count + 1;
}

static int spans_of(const walk *w, uint64_t base, uint64_t elem_bytes, uint32_t from, uint32_t count, span *list) {
  place p;
  int spans = 0;
  start(w, from, base, &p);
  for (;;) {
    uint32_t n = w->extent[0] - p.digit[0];
    if (n > count) n = count;
    if (w->step[0] == elem_bytes) {
      spans = add_span(list, spans, p.at, n * elem_bytes);
    } else {
      for (uint32_t i = 0; i < n; ++i) spans = add_span(list, spans, p.at + i * w->step[0], elem_bytes);
    }
    count -= n;
    if (count == 0) return spans;
    carry(w, &p);
  }
}

/* Aligned blocks of 2^log2 bytes that the spans touch, each counted once; *full: that they fill. Spans of a store do not
 * overlap, but two that follow each other may have come in the other order: they count as one. */
static double blocks_of(const span *list, int count, int log2, double *full) {
  uint64_t blocks = 0, filled = 0, last = 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t begin = list[i].begin;
    uint64_t end = list[i].end;
    while (i + 1 < count && list[i + 1].begin <= end) {
      ++i;
      if (list[i].end > end) end = list[i].end;
    }
    const uint64_t first_full = (begin + (UINT64_C(1) << log2) - 1) >> log2, end_full = end >> log2;
    if (end_full > first_full) filled += end_full - first_full;
    const uint64_t first = begin >> log2, beyond = ((end - 1) >> log2) + 1;
    const uint64_t unseen = first > last ? first : last;
    if (beyond > unseen) blocks += beyond - unseen;
    if (beyond > last) last = beyond;
  }
  *full = (double)filled;
  return (double)blocks;
}

/* One side of a tile: its walk, and how warps share it. A warp takes 32 elements; in Packed across the ends of rows (or
 * columns), else within one. */
typedef struct side {
  walk places;
  uint32_t volume, run; /* elements; what warps do not go beyond */
  uint64_t base;
} side;

/* splitmix64 */
static uint64_t draw(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Adds the requests of all warps, and their transactions and L2 lines, estimated from those of `warps` warps. */
static void count_side(const side *s, uint64_t elem_bytes, uint32_t warps, uint64_t *random, double *requests,
                       double *transactions, double *full, double *partial) {
  const uint32_t per_run = (s->run + WARP - 1) / WARP, all = s->volume / s->run * per_run;
  const uint32_t sampled = all < warps ? all : warps;
  const uint32_t shift = sampled < all ? (uint32_t)(draw(random) % all) : 0;
  double lines = 0, sectors = 0, filled = 0;
  for (uint32_t i = 0; i < sampled; ++i) {
    const uint32_t warp = (uint32_t)(((uint64_t)i * all / sampled + shift) % all);
    const uint32_t within = warp % per_run * WARP, left = s->run - within;
    span list[WARP];
    const int spans =
        spans_of(&s->places, s->base, elem_bytes, warp / per_run * s->run + within, left < WARP ? left : WARP, list);
    double unused, of_warp;
    lines += blocks_of(list, spans, LINE_LOG2, &unused);
    sectors += blocks_of(list, spans, SECTOR_LOG2, &of_warp);
    filled += of_warp;
  }
  const double each = (double)all / sampled;
  *requests += all;
  *transactions += lines * each;
  *full += filled * each;
  *partial += (sectors - filled) * each;
}

/* Counts tile `number`: with the extents that it has there, from where it begins. */
static void count_tile(const cutt_canonical *c, const cutt_gpu_tile *tile, bool packed, int64_t number, uint32_t warps,
                       uint64_t *random, cutt_mwp_counts *n) {
  enum { BIAS = 1 << 30 }; /* so that what lies before the first element is not negative */
  const uint64_t w = (uint64_t)c->elem_bytes;
  uint32_t extent[CUTT_MAX_RANK];
  side in = {.volume = 1, .run = 1}, out = {.volume = 1, .run = 1};
  in.base = ((uint64_t)BIAS << 32) + (uint64_t)c->in_start;
  out.base = ((uint64_t)BIAS << 32) + (uint64_t)c->out_start;
  for (int j = 0; j < c->rank; ++j) {
    const int64_t chunk = tile->extent[j];
    extent[j] = (uint32_t)chunk;
    if (chunk == c->mode[j].extent) continue;
    const int64_t chunks = cutt_gpu_chunks(c->mode[j].extent, chunk), at = number % chunks;
    number /= chunks;
    in.base += (uint64_t)(at * chunk * c->mode[j].in_stride) * w;
    out.base += (uint64_t)(at * chunk * c->mode[j].out_stride) * w;
    if (at == chunks - 1) extent[j] = (uint32_t)cutt_gpu_last_chunk(c->mode[j].extent, chunk);
  }
  for (int i = 0; i < c->rank; ++i) {
    const int j = c->out_order[i];
    append(&in.places, extent[i], (uint64_t)c->mode[i].in_stride * w);
    append(&out.places, extent[j], (uint64_t)c->mode[j].out_stride * w);
    in.volume *= extent[i];
    if (tile->in_m >> i & 1) in.run *= extent[i];
    if (tile->in_k >> i & 1) out.run *= extent[i];
  }
  out.volume = in.volume;
  if (packed) in.run = out.run = in.volume;
  finish(&in.places, w);
  finish(&out.places, w);
  double unused_full = 0, unused_partial = 0;
  count_side(&in, w, warps, random, &n->ld_req, &n->ld_tran, &unused_full, &unused_partial);
  count_side(&out, w, warps, random, &n->st_req, &n->st_tran, &n->cl_full, &n->cl_part);
}

static void count_memory(const cutt_canonical *c, const cutt_gpu_tile *tile, bool packed, cutt_mwp_counts *n) {
  uint64_t random = 1; /* a candidate's predicted time never changes */
  *n = (cutt_mwp_counts){.ld_req = 0};
  const int64_t samples = tile->tiles < SAMPLES ? tile->tiles : SAMPLES;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t number = tile->tiles > SAMPLES ? (int64_t)(draw(&random) % (uint64_t)tile->tiles) : i;
    count_tile(c, tile, packed, number, (uint32_t)(SAMPLED_WARPS / samples), &random, n);
  }
}

/* --------------------------------------------------------------------------------------------------- shared memory */

/* Wavefronts of a warp's access over those without conflicts. An element of more than a bank's 4 bytes takes several banks,
 * and a warp is served in as many rounds. */
static double conflicts_of(const uint32_t *position, uint32_t lanes, uint32_t elem_bytes) {
  const uint32_t word = elem_bytes > 4 ? elem_bytes : 4, banks = CUTT_GPU_BANKS * CUTT_GPU_BANK_BYTES / word;
  double most_of_all = 0;
  uint32_t rounds = 0;
  for (uint32_t first = 0; first < lanes; first += banks, ++rounds) {
    uint32_t words[WARP], count[WARP] = {0}, most = 0;
    const uint32_t end = first + banks < lanes ? first + banks : lanes;
    for (uint32_t i = first; i < end; ++i) {
      words[i] = (uint32_t)((uint64_t)position[i] * elem_bytes / word);
      bool seen = false; /* lanes that read the same word share it */
      for (uint32_t j = first; elem_bytes < 4 && j < i && !seen; ++j) seen = words[j] == words[i];
      if (seen) continue;
      const uint32_t times = ++count[words[i] % banks];
      if (times > most) most = times;
    }
    most_of_all += most;
  }
  return most_of_all / rounds;
}

/* TPR_shmem: of reads in output order, at pSh(k, M_mk^O) of Eq. 6, from a buffer in input order without padding. */
static double shared_transactions(const cutt_canonical *c, const cutt_gpu_tile *tile) {
  uint32_t weight[CUTT_MAX_RANK], volume = 1;
  walk w = {.modes = 0};
  for (int j = 0; j < c->rank; ++j) {
    weight[j] = volume;
    volume *= (uint32_t)tile->extent[j];
  }
  for (int i = 0; i < c->rank; ++i) append(&w, (uint32_t)tile->extent[c->out_order[i]], weight[c->out_order[i]]);
  finish(&w, 1);
  const uint32_t all = (volume + WARP - 1) / WARP, sampled = all < SHARED_WARPS ? all : SHARED_WARPS;
  double sum = 0;
  for (uint32_t i = 0; i < sampled; ++i) {
    const uint32_t from = (uint32_t)((uint64_t)i * all / sampled) * WARP, left = volume - from;
    const uint32_t lanes = left < WARP ? left : WARP;
    uint32_t position[WARP];
    place p;
    start(&w, from, 0, &p);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      position[lane] = (uint32_t)p.at;
      p.at += w.step[0];
      if (++p.digit[0] == w.extent[0]) carry(&w, &p);
    }
    sum += conflicts_of(position, lanes, (uint32_t)c->elem_bytes);
  }
  return sum / sampled;
}

/* ----------------------------------------------------------------------------------------------------------- tiles */

/* One direction of our tiles: the length, in elements, of whole ones and of the one at the edge; how many there are of each. */
typedef struct direction {
  int64_t length[2];
  double count[2];
} direction;

static direction along(const cutt_canonical *c, const cutt_gpu_tile *tile, uint64_t set) {
  direction d = {{1, 1}, {1, 0}};
  for (int j = 0; j < c->rank; ++j) {
    if (set >> j & 1) d.length[0] *= tile->extent[j];
  }
  for (int i = 0; i < 2; ++i) {
    const int j = tile->cut[i];
    if (j < 0 || !(set >> j & 1)) continue;
    const int64_t whole = c->mode[j].extent / tile->extent[j];
    d.count[0] = (double)whole;
    d.count[1] = c->mode[j].extent % tile->extent[j] != 0;
    d.length[1] = d.length[0] / tile->extent[j] * cutt_gpu_last_chunk(c->mode[j].extent, tile->extent[j]);
  }
  return d;
}

/* The L x L tiles of width x height elements. */
static cutt_mwp_tiles tiles_of(int64_t width, int64_t height) {
  const int64_t across = width / WARP, down = height / WARP, h = width % WARP, v = height % WARP;
  return (cutt_mwp_tiles){.full = (double)(across * down),
                          .horz = h > 0 ? (double)down : 0,
                          .vert = v > 0 ? (double)across : 0,
                          .corn = h > 0 && v > 0 ? 1 : 0,
                          .h = (int)h,
                          .v = (int)v};
}

/* MLP of Tiled, TiledCopy and Copy, in the mean over all L x L tiles; returns how many those are. */
static double tiled_mlp(const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct, double r, double *mlp) {
  /* L x L tiles of rows by columns, in as many planes as a batch has; where M_m and M_k are the same, or one is empty, of a
   * row by all rows. */
  const bool planes = !direct && tile->in_m && tile->in_k && tile->in_m != tile->in_k;
  const direction m = along(c, tile, tile->in_m), k = along(c, tile, planes ? tile->in_k : ~tile->in_m);
  double each = (double)tile->tiles / ((m.count[0] + m.count[1]) * (k.count[0] + k.count[1]));
  if (planes) {
    each = 1;
    for (int j = 0; j < c->rank; ++j) each *= (tile->in_m | tile->in_k) >> j & 1 ? 1 : (double)c->mode[j].extent;
  }
  double all = 0, sum = 0;
  for (int i = 0; i < 4; ++i) {
    const double times = m.count[i & 1] * k.count[i >> 1] * each;
    if (times <= 0) continue;
    int64_t width = m.length[i & 1], height = k.length[i >> 1];
    if (direct && width > WARP) { /* rows of L elements */
      height *= (width + WARP - 1) / WARP;
      width = WARP;
    }
    const cutt_mwp_tiles t = tiles_of(width, height);
    const double count = (t.full + t.horz + t.vert + t.corn) * times;
    sum += (direct ? cutt_mwp_mlp_tiled_copy(&t, r) : cutt_mwp_mlp_tiled(&t, r)) * count;
    all += count;
  }
  *mlp = sum / all;
  return all;
}

/* --------------------------------------------------------------------------------------------------- predicted time */

void cutt_gpu_paper_kernel(const cutt_device *device, const cutt_canonical *c, const cutt_gpu_tile *tile,
                           const cutt_candidate *candidate, cutt_mwp_kernel *kernel) {
  const bool packed = candidate->method == CUTT_METHOD_PACKED || candidate->method == CUTT_METHOD_PACKED_SPLIT;
  const bool direct = candidate->param[CUTT_GPU_PARAM_DIRECT] != 0;
  const int threads = candidate->threads > WARP ? candidate->threads : WARP;
  const double r = threads / (double)WARP, w = c->elem_bytes;
  count_memory(c, tile, packed, &kernel->counts);
  double iterations, buffer; /* elements */
  if (packed) {
    kernel->mlp = cutt_mwp_mlp_packed(tile->volume, threads);
    kernel->tpr_shmem = shared_transactions(c, tile);
    iterations = (double)tile->tiles;
    buffer = (double)tile->volume;
  } else {
    iterations = tiled_mlp(c, tile, direct, r, &kernel->mlp);
    kernel->tpr_shmem = direct ? 0 : 1; /* no bank conflicts: rows are padded by one element */
    buffer = direct ? 0 : (double)(tile->rows * (tile->row_length + 1));
  }
  const double stages = fmax(1, (double)candidate->param[CUTT_GPU_PARAM_STAGES]);
  const double resident = cutt_gpu_occupancy(device, direct, threads, buffer * w * stages);
  const double sms = fmax(1, device->sms);
  kernel->warps = r;
  kernel->iterations = ceil(iterations / sms);
  kernel->warps_per_sm = r * fmax(1, fmin(resident, kernel->iterations)); /* no more blocks than iterations */
}

/* The device; where parameters of the paper's are unknown (0), with those of a known device like it. */
static cutt_device paper_device(const cutt_device *device) {
  cutt_device d = *device;
  const cutt_device *like = cutt_device_like(d.base.name, d.major);
  if (!(d.memory_latency > 0)) d.memory_latency = like->memory_latency;
  if (!(d.departure_delay > 0)) d.departure_delay = like->departure_delay;
  if (!(d.shared_latency > 0)) d.shared_latency = like->shared_latency;
  if (!(d.arithmetic > 0)) d.arithmetic = like->arithmetic;
  if (!(d.clock_hz > 0)) d.clock_hz = like->clock_hz;
  if (!(d.memory_bandwidth > 0)) d.memory_bandwidth = like->memory_bandwidth;
  if (d.sms < 1) d.sms = like->sms;
  return d;
}

double cutt_gpu_paper_seconds(const cutt_device *device, const cutt_canonical *c, const cutt_gpu_tile *tile,
                              const cutt_candidate *candidate) {
  const cutt_device known = paper_device(device);
  cutt_mwp_kernel kernel;
  cutt_mwp_terms terms;
  cutt_gpu_paper_kernel(&known, c, tile, candidate, &kernel);
  cutt_mwp_evaluate(&known, &kernel, &terms);
  return terms.cycles / known.clock_hz;
}
