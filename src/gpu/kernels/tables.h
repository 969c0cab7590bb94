/* What all kernels do before they move anything: where each tile of the block lies, and the tables of a tile's places.
 *
 * Major positions (Eq. 2 and 3): the paper's Algorithm 1 spreads the sum over the modes across a warp and adds the terms
 * by shuffles, once per tile. Here a block works on many tiles, and each of its first threads sums up all terms of one of
 * them: as many steps as there are modes, for up to 32 tiles at once, without a shuffle.
 * Minor positions (Eq. 4 to 6): each is the sum of a term of the row (for the output: of the column) and a term within it.
 * So three tables, of rows, of columns and of the places within a column, hold all positions, and they are as long as
 * the tile's sides together, not as its volume. The block computes them, one division by a constant per mode and entry. */
#ifndef CUTT_GPU_KERNELS_TABLES_H
#define CUTT_GPU_KERNELS_TABLES_H

#include "args.h"
#include "device.h" /* the runtime's: src/runtime/cuda/kernels */
#include "divide.h"
#include "early.h"

/* Each source is compiled twice: with CUTT_BATCHED for the kernels that do many executions, whose names end in _batched and
 * which have one more parameter. PAIRS: its address, or NULL. */
#ifdef CUTT_BATCHED
#define PAIRED true
#define PAIRS (&pairs)
#define PAIRS_PARAMETER , CONSTANT(cutt_pairs) pairs
#define KERNEL_NAME(name) cutt_##name##_batched
#else
#define PAIRED false
#define PAIRS ((const cutt_pairs *)0)
#define PAIRS_PARAMETER
#define KERNEL_NAME(name) cutt_##name
#endif
#define NAMED_KERNEL(name, threads, blocks) KERNEL(name, threads, blocks) /* with the name expanded */

typedef struct tile_now {
  int64_t in, out; /* bytes from the kernel's in and out to the tile's first element */
  uint32_t row_bytes, rows, run, columns;
  uint32_t columns_at; /* their table */
} tile_now;

typedef struct place {
  int64_t global;
  uint32_t shared, phase;
} place;

DEVICE uint32_t count_of(cutt_count count, uint32_t extent1, uint32_t extent2) {
  return count.each * (count.cut == 0 ? 1u : count.cut == 1 ? extent1 : extent2);
}

DEVICE word2 split_words(int64_t v) {
  const word2 w = {(uint32_t)(uint64_t)v, (uint32_t)((uint64_t)v >> 32)};
  return w;
}

DEVICE int64_t join_words(uint32_t low, uint32_t high) { return (int64_t)((uint64_t)high << 32 | low); }

/* Writes the description of a tile to shared memory. What its digits leave of its number is that of its pair. The last word holds
 * both how many columns there are, in 16 bits, and at which entry their table begins: shared memory has no room for more. */
DEVICE void describe_tile(const cutt_kernel_args *args, const cutt_pairs *pairs, uint32_t tile, uint32_t at) {
  int64_t in = 0, out = 0;
  uint32_t rest = tile, extent1 = args->cut[0].chunk, extent2 = args->cut[1].chunk;
  UNROLL(1)
  for (uint32_t i = 0; i < args->grid_modes; ++i) {
    const uint32_t quotient = divide(rest, args->grid[i].extent);
    const uint32_t digit = rest - quotient * args->grid[i].extent.by;
    const bool last = digit + 1 == args->grid[i].extent.by;
    rest = quotient;
    in += digit * args->grid[i].in;
    out += digit * args->grid[i].out;
    if (last && i == args->cut[0].digit) extent1 = args->cut[0].last;
    if (last && i == args->cut[1].digit) extent2 = args->cut[1].last;
  }
  if (PAIRED) {
    in += (int64_t)((uint64_t)pairs->at[rest].in << pairs->in_log2);
    out += (int64_t)((uint64_t)pairs->at[rest].out << pairs->out_log2);
  }
  const word2 in_words = split_words(in), out_words = split_words(out);
  const word4 offsets = {in_words.x, in_words.y, out_words.x, out_words.y};
  const cutt_count inner = {1, args->inner.cut};
  const uint32_t inner_extent = count_of(inner, extent1, extent2);
  const bool is_short = inner_extent < count_of(inner, args->cut[0].chunk, args->cut[1].chunk);
  const uint32_t columns = count_of(args->columns, extent1, extent2) * inner_extent;
  const uint32_t columns_at = args->columns_at + (is_short ? args->table_columns * CUTT_COLUMN_ENTRY : 0);
  const word4 counts = {count_of(args->row_bytes, extent1, extent2) - args->row_gap,
                        count_of(args->rows, extent1, extent2), count_of(args->run, extent1, extent2),
                        columns | columns_at / CUTT_COLUMN_ENTRY << 16};
  shared_store16(at, offsets);
  shared_store16(at + 16, counts);
}

DEVICE tile_now read_tile(uint32_t at) {
  const word4 offsets = shared_load16(at), counts = shared_load16(at + 16);
  tile_now now;
  now.in = join_words(offsets.x, offsets.y);
  now.out = join_words(offsets.z, offsets.w);
  now.row_bytes = counts.x;
  now.rows = counts.y;
  now.run = counts.z;
  now.columns = counts.w & 0xffff;
  now.columns_at = (counts.w >> 16) * CUTT_COLUMN_ENTRY;
  return now;
}

/* Entry `index` of the list of `count` modes from `first` on; in shared memory, the first of them is at `shared`. */
DEVICE place place_of(const cutt_kernel_args *args, uint32_t first, uint32_t count, uint32_t index, uint32_t shared) {
  place p = {0, shared, 0};
  UNROLL(1)
  for (uint32_t i = first; i < first + count; ++i) {
    const uint32_t quotient = divide(index, args->mode[i].extent);
    const uint32_t digit = index - quotient * args->mode[i].extent.by;
    index = quotient;
    p.global += digit * args->mode[i].global;
    p.shared += digit * args->mode[i].shared;
    p.phase += digit * args->mode[i].phase;
  }
  return p;
}

/* Describes the block's tiles and fills the tables; a barrier has to follow. Returns the number of tiles; if it is 0, the
 * tables are not filled. phased: the two low bits of an entry of the run's table are what the place adds to its row's phase.
 *
 * A group of `tile_step` blocks, which run at the same time, shares a range of tiles, the i-th block taking every
 * tile_step-th from the i-th on. So the tiles in work at any time are neighbours: sectors that two of them share meet in
 * L2, and long ranges of memory are accessed. The last tile is done first: what wrote the input wrote its end last, which may
 * still be in L2, and what reads the output will begin with what was written last. */
DEVICE uint32_t fill_tables(const cutt_kernel_args *args, const cutt_pairs *pairs, bool phased) {
  const uint32_t thread = thread_index(), threads = thread_count();
  const uint32_t step = args->tile_step, group = block_index() / step;
  const uint32_t first = group * step * args->block_tiles + (block_index() - group * step);
  if (first >= args->tiles) return 0;
  uint32_t tiles = (args->tiles - first + step - 1) / step;
  if (tiles > args->block_tiles) tiles = args->block_tiles;
  if (thread < tiles) describe_tile(args, pairs, args->tiles - 1 - (first + thread * step), thread * CUTT_TILE_ENTRY);
  UNROLL(1)
  for (uint32_t i = thread; i < args->table_rows; i += threads) {
    const place p = place_of(args, 0, args->row_modes, i, 0);
    shared_store8(args->rows_at + i * CUTT_ROW_ENTRY, split_words(p.global));
  }
  UNROLL(1)
  for (uint32_t i = thread; i < args->table_run; i += threads) {
    const place p = place_of(args, args->row_modes, args->run_modes, i, args->run_first);
    shared_store4(args->run_at + i * CUTT_RUN_ENTRY, phased ? p.shared << 2 | (p.phase & 3) : p.shared);
  }
  UNROLL(1)
  for (uint32_t i = thread; i < args->table_columns + args->inner.columns; i += threads) {
    const bool second = i >= args->table_columns;
    const uint32_t list = args->row_modes + args->run_modes + (second ? args->column_modes : 0);
    const uint32_t entry = second ? i - args->table_columns : i;
    const place p = place_of(args, list, args->column_modes, entry, args->column_first);
    const word2 global = split_words(p.global);
    const word4 words = {global.x, global.y, p.shared, p.phase};
    shared_store16(args->columns_at + i * CUTT_COLUMN_ENTRY, words);
  }
  return tiles;
}

/* A thread's share of a tile's rows (or columns): access number `along` of the rows `across`, `across` + `across_step` and
 * so on, and then the same of access `along` + `along_step`. So what depends on the place in the row is worked out once
 * for many rows. Threads that are left over get a row that no tile has. */
typedef struct share {
  uint32_t along, across, along_step, across_step;
} share;

DEVICE share share_of(uint32_t along_step, uint32_t across_step) {
  share s;
  s.across = thread_index() / along_step;
  s.along = thread_index() - s.across * along_step;
  s.along_step = along_step;
  s.across_step = across_step;
  if (s.across >= across_step) s.across = 0x40000000u;
  return s;
}

#endif
