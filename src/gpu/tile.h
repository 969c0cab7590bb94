/* The geometry of a candidate on a GPU: which modes a tile covers, how far, and what that makes of its rows and columns.
 *
 * A tile is the paper's M_mk = M_m u M_k, and for short runs also some positions of other modes (a batch). It is
 * read as rows, which are runs of the input over M_m, and written as columns, which are runs of the output over M_k:
 *
 *   row      a run of M_m; there are as many as positions of the tile's other modes
 *   column   a run of M_k; likewise
 *   cut      a mode of which a tile covers a chunk: the last of M_m, the last of M_k, or the last of the batch. Each of
 *            the four counts (row length, rows, column length, columns) depends on one cut at most, and the cut mode is
 *            the slowest in it, so that a tile at the edge reads the same tables less far. */
#ifndef CUTT_GPU_TILE_H
#define CUTT_GPU_TILE_H

#include "model/device.h"
#include "model/method.h"

/* The warp (lanes) and the shared memory (banks, bytes of one) that the kernels are written for: their gathers (struct gather
 * in tile.cu) rotate for them, and the pitch is chosen for them. Devices that have others are refused by accept. */
enum { CUTT_GPU_WARP = 32, CUTT_GPU_BANKS = 32, CUTT_GPU_BANK_BYTES = 4 };

/* The fewest bytes that a device's memory moves: a power of two. */
static inline int cutt_gpu_sector(const cutt_device *device) {
  return device->sector_bytes > 0 ? device->sector_bytes : 32; /* as NVIDIA has it */
}

/* What a candidate's parameters are. candidate.threads is the threads of a block. */
typedef enum cutt_gpu_param {
  CUTT_GPU_PARAM_STAGES,      /* tiles of a block in shared memory at once */
  CUTT_GPU_PARAM_BLOCK_TILES, /* tiles that a block works through */
  CUTT_GPU_PARAM_DIRECT,      /* 1: runs go from global to global memory (Copy, TiledCopy) */
  CUTT_GPU_PARAM_BATCH,       /* positions of modes outside of M_m and M_k in a tile */
  CUTT_GPU_PARAM_FLAT,        /* 1: without tables, one tile a block (flat.h) */
} cutt_gpu_param;
extern const char *const cutt_gpu_param_name[CUTT_PARAMS];

enum { CUTT_GPU_TILE_MODES = 24 }; /* most modes of a tile */

typedef struct cutt_gpu_tile {
  uint64_t in_m, in_k;             /* sets of modes: of M_m, of M_k */
  int64_t extent[CUTT_MAX_RANK];   /* of each mode inside a tile: whole, a chunk, or 1 outside of it */
  int row[CUTT_GPU_TILE_MODES];    /* modes that rows are counted over, fastest first */
  int column[CUTT_GPU_TILE_MODES]; /* modes that columns are counted over */
  int run[CUTT_GPU_TILE_MODES];    /* M_k in output order */
  int row_modes, column_modes, run_modes;
  int cut[2];               /* the modes that are cut; -1: none */
  int64_t row_length, rows; /* elements of a row, rows */
  int64_t column_length, columns;
  int64_t volume; /* row_length * rows */
  int64_t tiles;
  /* The bitwise or of all strides, in bytes, by which the beginnings of rows differ, and of columns: a power of two that divides it
   * divides the address of each. */
  uint64_t row_steps, column_steps;
} cutt_gpu_tile;

/* Derives the geometry; false with *why if the candidate does not fit the problem. */
bool cutt_gpu_tile_derive(const cutt_canonical *canonical, const cutt_candidate *candidate, cutt_gpu_tile *tile,
                          const char **why);

/* The method's name for a candidate of these modes (the paper's classes). */
cutt_method cutt_gpu_method(const cutt_canonical *canonical, const cutt_candidate *candidate);

/* The largest power of two that divides bits, which are not 0. */
static inline uint64_t cutt_gpu_power(uint64_t bits) { return bits & (~bits + 1); }

/* Chunks of a mode, and the extent of the last of them. */
static inline int64_t cutt_gpu_chunks(int64_t extent, int64_t chunk) {
  if (chunk == extent) return 1; /* most often one of these two, and a division takes long */
  return chunk == 1 ? extent : extent / chunk + (extent % chunk != 0);
}
static inline int64_t cutt_gpu_last_chunk(int64_t extent, int64_t chunk) {
  return extent % chunk != 0 ? extent % chunk : chunk;
}

#endif
