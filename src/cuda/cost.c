/* The cost of a candidate, relative to a copy of the same bytes. What a permutation loses against a copy was measured, by
 * every candidate of random problems on one device, and fitted as a sum of named losses, each a closed form of extents,
 * alignment and the tile: no element is visited. Losses are shares of the copy's time:
 *
 *   partial sectors  written: L2 has to put their parts together. Read, they cost little: the next tile has them from L2
 *   partial lines    of 128 bytes, on both sides: what memory is asked for in one go
 *   accesses         narrow loads and stores are more instructions per byte
 *   latency          a tile's first byte waits for its loads; many tiles in flight on an SM hide it
 *   few warps        too few to keep an SM's pipes busy
 *   pressure         tiles in flight are in L2 too
 *   conflicts        of the banks of shared memory, where the pitch can't prevent them
 *   padding          tiles at an edge are smaller, and cost nearly as much as whole ones */
#include "cuda/cost.h"

#include <math.h>

#include "cuda/kernels/args.h"
#include "cuda/launch.h"

enum { SECTOR = 32, LINE = 128, WARP = 32 };

/* Fitted on an H200: docs/performance.md. */
static const double copy_share = 0.88;          /* of the memory's bandwidth that a copy reaches */
static const double launch_seconds = 2.2e-6;    /* an empty kernel, from start to end */
static const double start_seconds = 1.2e-6;     /* a block's tables, and its first tile's latency */
static const double sm_share = 1.0 / 50;        /* of the copy's bandwidth that one SM can reach alone */
static const double floor_loss = 0.85;          /* what is left when nothing of the below is lost */
static const double copy_floor = 0.97;          /* the same for runs that are copied */
static const double written_sector_loss = 0.97; /* per partial sector over all sectors of the output */
static const double read_line_loss = 0.114, written_line_loss = 0.035;
static const double load_loss = 0.33, store_loss = 0.22, copy_loss = 0.5; /* bytes: over those of an access */
static const double run_loss = 180;          /* bytes: over those of a run that is copied */
static const double large_block_loss = 0.04; /* blocks of more than 256 threads wait for each other longer */
static const double latency_loss = 1890, turn_loss = 2860; /* bytes: over those in flight, and in tiles, on an SM */
static const double warp_loss = 1.6;                       /* warps: over those on an SM */
static const double flight_seconds = 1.35e-6;              /* of an SM's share of memory's bandwidth */
static const double flight_least = 32 * 1024;
static const double conflict_loss = 0.025; /* per access of a bank again */
static const double padding_loss = 0.37;
static const double pressure_loss = 0.113; /* of L2 that tiles in flight take */

/* Units of `grain` bytes that a run touches in the mean over those that it fills, less 1, when runs begin at multiples of
 * `align` bytes. */
static double partial(double bytes, double align, double grain) {
  if (align >= grain) return ceil(bytes / grain) * grain / bytes - 1;
  return (grain - align) / bytes;
}

/* The power of two, up to a line, that divides where runs of one side begin, in bytes. */
static double run_alignment(const cutt_canonical *c, const cutt_cuda_tile *tile, bool input) {
  return (double)cutt_cuda_power(cutt_cuda_tile_steps(c, tile, input) | LINE);
}

/* Columns that go along the rows in steps meet the same banks again, and no pitch helps: how often, less 1. Columns that
 * go from row to row do not, since the pitch is chosen for that. */
static double bank_conflicts(const cutt_canonical *c, const cutt_cuda_tile *tile) {
  if (tile->run_modes == 0 || !(tile->in_m >> tile->run[0] & 1)) return 0;
  const int j = tile->run[0], banks = 128 / (c->elem_bytes > 4 ? c->elem_bytes : 4);
  int64_t step = c->mode[j].in_stride, ways = 1;
  if (c->elem_bytes < 4) step = step * c->elem_bytes / 4;
  while (ways < banks && ways * 2 <= tile->extent[j] && step % (ways * 2) == 0) ways *= 2;
  return (double)(ways - 1);
}

void cutt_cuda_count(const cutt_canonical *c, const cutt_cuda_tile *tile, bool direct, cutt_cuda_counts *n) {
  const double w = c->elem_bytes;
  n->row_bytes = (double)tile->row_length * w;
  n->column_bytes = (double)tile->column_length * w;
  n->in_align = run_alignment(c, tile, true);
  n->out_align = run_alignment(c, tile, false);
  n->tile_bytes = (double)tile->volume * w;
  double padded = 1, whole = 1;
  for (int j = 0; j < c->rank; ++j) {
    padded *= (double)(cutt_cuda_chunks(c->mode[j].extent, tile->extent[j]) * tile->extent[j]);
    whole *= (double)c->mode[j].extent;
  }
  n->padding = padded / whole - 1;
  n->conflicts = direct ? 0 : bank_conflicts(c, tile);
  const double pieces = direct ? 0 : n->column_bytes / fmin(w, fmax(1, n->out_align));
  n->table_bytes = (double)(tile->rows * CUTT_ROW_ENTRY + tile->columns * CUTT_COLUMN_ENTRY) + pieces * CUTT_RUN_ENTRY +
                   CUTT_BLOCK_TILES * CUTT_TILE_ENTRY + 256;
  n->shared_bytes = direct ? 0 : (double)tile->rows * (n->row_bytes + fmax(w, 8));
}

int cutt_cuda_occupancy(const cutt_cuda_device *d, bool copies, int threads, double shared_bytes) {
  if (shared_bytes > d->block_shared) return 0;
  /* What the kernels are compiled for bounds their registers, and an SM has as many on every device of today. */
  const int by_registers =
      copies ? CUTT_COPY_BLOCKS * CUTT_COPY_THREADS / threads : CUTT_BLOCKS * CUTT_BLOCK_THREADS / threads;
  const double by_shared = floor(d->sm_shared / (shared_bytes + d->reserved_shared));
  const int by_threads = d->sm_threads / threads;
  return (int)fmin(fmin(d->sm_blocks, by_threads), fmin(by_registers, by_shared));
}

/* Instructions of a store, over those of one that stores pieces as they are. */
static double store_work(double w, double align) {
  return w >= 4 ? 1 : w >= 2 ? (align >= 4 ? 1.5 : 2.5) : align >= 4 ? 2 : 4;
}

/* Bytes that the threads of a block load before they store: as launch.c spreads them, and copy.cu batches loads. */
static double copied_at_once(const cutt_cuda_counts *n, int threads) {
  const double unit = fmin(16, fmin(n->in_align, n->out_align)), units = fmax(1, floor(n->row_bytes / unit));
  const double parts = ceil(units / threads), across = ceil(units / parts);
  const double lanes = n->tile_bytes > n->row_bytes ? across * floor(threads / across) : fmin(units, threads);
  return fmin(n->tile_bytes, lanes * unit * (unit >= 16 ? CUTT_COPY_LOADS_16 : CUTT_COPY_LOADS));
}

bool cutt_cuda_price(const cutt_cuda_device *d, const cutt_canonical *c, const cutt_cuda_tile *tile,
                     const cutt_cuda_counts *n, int stages, int threads, cutt_candidate *candidate) {
  const bool direct = candidate->param[CUTT_CUDA_PARAM_DIRECT] != 0;
  const double w = c->elem_bytes, tiles = (double)tile->tiles, bytes = (double)c->volume * w;
  const int resident = cutt_cuda_occupancy(d, direct, threads, n->table_bytes + stages * n->shared_bytes);
  if (resident < 1) return false;
  const double slots = (double)resident * d->sms;

  /* Some tiles for each block, so that its tables are worth it, as long as all SMs have blocks. Fewer where tiles share
   * sectors: blocks drift apart, and with them the times at which the two halves of a sector are wanted. */
  const double most_tiles = fmin(n->in_align, n->out_align) >= SECTOR ? 4 : 2;
  const double block_tiles = fmin(fmax(floor(tiles / slots), 1), most_tiles);
  const double blocks = ceil(tiles / block_tiles), on_sm = fmin(blocks, slots) / d->sms;

  double loss;
  const double sectors_out = partial(n->column_bytes, n->out_align, SECTOR);
  const double lines = read_line_loss * partial(n->row_bytes, n->in_align, LINE) +
                       written_line_loss * partial(n->column_bytes, n->out_align, LINE);
  if (direct) {
    const double unit = fmin(16, fmin(n->in_align, n->out_align));
    loss = copy_floor + copy_loss / fmax(unit, 1) + (tile->rows > 1 ? run_loss / n->row_bytes : 0) +
           latency_loss / (resident * n->tile_bytes);
  } else {
    const double load = fmax(4, fmin(n->in_align, fmax(w, 4)));
    const double store = w < 4 ? 4 : n->out_align >= 16 ? 16 : fmin(w, n->out_align);
    const double flying = stages > 1 ? stages - 0.5 : 0.5;
    loss = floor_loss + load_loss / load + store_loss * store_work(w, n->out_align) / fmax(store, 1) +
           latency_loss / (resident * n->tile_bytes * flying) + turn_loss / (resident * n->tile_bytes) +
           pressure_loss * slots * block_tiles * n->tile_bytes / fmax((double)d->l2_bytes, 1e6);
  }
  loss += written_sector_loss * sectors_out + lines + warp_loss * WARP / (resident * threads) +
          padding_loss * n->padding + conflict_loss * n->conflicts;

  /* Fewer bytes in flight than memory needs to be busy (Little's law): bandwidth is lost in proportion. */
  const double in_flight = resident * (direct ? copied_at_once(n, threads) : stages * n->tile_bytes);
  const double needed = fmax(flight_least, d->memory_bandwidth / d->sms * flight_seconds);
  if (d->major >= 8 && in_flight < needed) loss += 1 - in_flight / needed;
  if (threads > 256) loss += large_block_loss;
  const double copy = (d->memory_bandwidth > 0 ? d->memory_bandwidth : 1e12) * copy_share;
  const double speed = fmin(copy, copy * sm_share * fmin(d->sms, on_sm * d->sms));
  const double traffic = bytes * (c->scale.active && c->scale.reads_out ? 3 : 2);
  candidate->threads = threads;
  candidate->param[CUTT_CUDA_PARAM_STAGES] = stages;
  candidate->param[CUTT_CUDA_PARAM_BLOCK_TILES] = (int64_t)block_tiles;
  candidate->seconds = launch_seconds + start_seconds * (1 + 0.3 * n->tile_bytes / 16384) + loss * traffic / speed;
  return true;
}
