/* The geometry of a candidate on a GPU: which modes a tile covers, how far, and what that makes of its rows and columns.
 *
 * A tile is the paper's M_mk = M_m u M_k, and for short runs also some positions of other modes (a batch). It is
 * read as rows, which are runs of the input over M_m, and written as columns, which are runs of the output over M_k:
 *
 *   row      a run of M_m; there are as many as positions of the tile's other modes. Where M_m goes on over gaps, it is the stretch
 *            of memory from the first to the last element, and what is read from the gaps is not used. Modes of M_m whose stride is
 *            negative change nothing in that: their elements are taken from the row's end (`backwards`). Modes of stride 0
 *            outside of M_m make no rows, only columns: all of their positions have the same ones (`repeated`)
 *   column   a run of M_k, up to its first gap; likewise. The modes of M_k behind that gap are beside: they are counted first
 *            among the columns, so that columns that a warp writes at once are neighbours in memory, which share sectors
 *   cut      a mode of which a tile covers a chunk: the last of M_m, the last of M_k, or the last of the batch. Each of
 *            the four counts (row length, rows, column length, columns) depends on one cut at most, and the cut mode is
 *            the slowest in it, so that a tile at the edge reads the same tables less far. Only columns may depend on a cut
 *            beside that has faster modes behind it (`inner`): there is a second table of columns, for tiles at its edge. */
#ifndef CUTT_GPU_TILE_H
#define CUTT_GPU_TILE_H

#include "base/number.h"
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

enum {
  CUTT_GPU_TILE_MODES = 24, /* most modes of a tile */
  /* Bytes of the smallest page that memory has: a gap of as much, over which no row goes, may have one that is none. */
  CUTT_GPU_PAGE = 4096
};

typedef struct cutt_gpu_tile {
  uint64_t in_m, in_k;             /* sets of modes: of M_m, of M_k up to its first gap */
  int64_t extent[CUTT_MAX_RANK];   /* of each mode inside a tile: whole, a chunk, or 1 outside of it */
  int row[CUTT_GPU_TILE_MODES];    /* modes that rows are counted over, fastest first */
  int column[CUTT_GPU_TILE_MODES]; /* modes that columns are counted over */
  int run[CUTT_GPU_TILE_MODES];    /* M_k up to its first gap, in output order */
  int row_modes, column_modes, run_modes;
  int beside;         /* so many of column[] are of M_k behind its first gap */
  bool row_gaps;      /* rows have gaps */
  uint64_t backwards; /* of M_m: those of negative stride */
  uint64_t repeated;  /* those of stride 0; none where runs are copied, or without tables, as each row is read then */
  int cut[2];         /* the modes that are cut; -1: none */
  int inner;          /* the number of the cut beside that has slower modes behind it among the columns; -1: none */
  int64_t row_length, rows; /* of a row, gaps included, in elements; rows */
  int64_t column_length, columns;
  int64_t short_columns; /* entries of the second table of columns; 0: there is none */
  int64_t volume;        /* column_length * columns: what is written */
  int64_t repeats;       /* times that what is read is written */
  int64_t tiles;
  /* The bitwise or of all strides, in bytes, by which the beginnings of rows differ, and of columns: a power of two that divides it
   * divides the address of each. */
  uint64_t row_steps, column_steps;
} cutt_gpu_tile;

/* Derives the geometry; false with *why if the candidate does not fit the problem. */
bool cutt_gpu_tile_derive(const cutt_canonical *canonical, const cutt_candidate *candidate, cutt_gpu_tile *tile,
                          const char **why);

/* The elements that a row spans where the mode that M_m cuts has another extent; as for a whole tile where M_m cuts none. */
static inline int64_t cutt_gpu_row_span(const cutt_canonical *c, const cutt_gpu_tile *tile, int64_t extent) {
  const int j = tile->cut[0];
  if (j < 0 || !(tile->in_m >> j & 1)) return tile->row_length;
  return tile->row_length - (tile->extent[j] - extent) * magnitude(c->mode[j].in_stride);
}

/* Bytes from the beginning of a whole row to position 0 of these modes of it: those that are backwards begin at its end. And from the
 * user's pointer to where the first row begins in memory, if it is whole. */
int64_t cutt_gpu_first_in_row(const cutt_canonical *canonical, const cutt_gpu_tile *tile, uint64_t modes);
static inline int64_t cutt_gpu_row_start(const cutt_canonical *c, const cutt_gpu_tile *tile) {
  return c->in_start - cutt_gpu_first_in_row(c, tile, tile->in_m);
}

/* Bytes to the first element of each side from the lowest byte of the tensor, whose address is what buffers are aligned to: where strides are
 * negative, the user's pointer is not that. */
static inline uint64_t cutt_gpu_in_start(const cutt_canonical *c) { return (uint64_t)(c->in_start - c->in_low); }
static inline uint64_t cutt_gpu_out_start(const cutt_canonical *c) { return (uint64_t)(c->out_start - c->out_low); }

/* The modes outside of M_m that make rows. */
static inline uint64_t cutt_gpu_row_set(const cutt_gpu_tile *tile) { return ~(tile->in_m | tile->repeated); }

/* Does M_m, or M_k, go on over gaps? */
static inline bool cutt_gpu_has_gaps(const cutt_gpu_tile *tile) { return tile->row_gaps || tile->beside > 0; }

/* The output's first mode; of a problem of rank 1 or more. Is it the input's first one, too? */
static inline const cutt_mode *cutt_gpu_run_mode(const cutt_canonical *c) { return &c->mode[c->out_order[0]]; }
static inline bool cutt_gpu_same_first(const cutt_canonical *c) {
  return c->rank > 0 && c->out_order[0] == 0 && c->mode[0].in_stride != 0;
}

/* Do both sides have runs of the same mode, without gaps and forwards? */
static inline bool cutt_gpu_plain_runs(const cutt_canonical *c) {
  return c->rank == 0 || (c->out_order[0] == 0 && c->mode[0].in_stride == 1 && c->mode[0].out_stride == 1);
}

/* Do runs go straight from global to global memory where buffers ask for tables? What computes, or has gaps, goes through shared memory then. */
static inline bool cutt_gpu_copies_runs(const cutt_canonical *c, bool direct) {
  return direct && !c->scale.active && cutt_gpu_plain_runs(c);
}

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
  return extent % chunk != 0 ? extent % chunk : chunk; /* NOLINT(clang-analyzer-core.DivideZero): 1 at least */
}

#endif
