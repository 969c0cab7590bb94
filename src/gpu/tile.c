/* The geometry of a candidate (tile.h). */
#include "gpu/tile.h"

#include <stddef.h>

#include "gpu/kernels/args.h"

const char *const cutt_gpu_param_name[CUTT_PARAMS] = {"stages", "block_tiles", "direct", "batch", "flat", NULL};

static const int64_t most_tiles = INT64_C(0x7fffffff), most_volume = INT64_C(1) << 18;

static bool refuse(const char **why, const char *text) {
  *why = text;
  return false;
}

cutt_method cutt_gpu_method(const cutt_canonical *canonical, const cutt_candidate *candidate) {
  if (candidate->param[CUTT_GPU_PARAM_DIRECT]) return canonical->rank <= 1 ? CUTT_METHOD_COPY : CUTT_METHOD_TILED_COPY;
  if (candidate->m <= 1 && candidate->k <= 1) {
    const bool shared = canonical->rank > 0 && candidate->m == 1 && candidate->k == 1 && canonical->out_order[0] == 0;
    return shared ? CUTT_METHOD_TILED_COPY : CUTT_METHOD_TILED;
  }
  return candidate->split_m > 0 || candidate->split_k > 0 ? CUTT_METHOD_PACKED_SPLIT : CUTT_METHOD_PACKED;
}

/* The chunk of a side's last mode, the one that it cuts, unless split is 0. */
static bool cut_last(const cutt_canonical *c, int last, int64_t split, int cut, cutt_gpu_tile *tile, const char **why) {
  if (split == 0) return true;
  if (last < 0) return refuse(why, "there is no mode to split");
  if (split < 1 || split >= c->mode[last].extent) return refuse(why, "a split is not between 1 and the mode's extent");
  tile->extent[last] = split;
  tile->cut[cut] = last;
  return true;
}

/* Covers the first `count` modes of M_m, the last one in chunks of `split` unless that is 0: each has to go on behind all of the
 * modes before it. */
static bool cover_rows(const cutt_canonical *c, int count, int64_t split, cutt_gpu_tile *tile, const char **why) {
  int64_t span = 1; /* of whole modes */
  for (int j = 0; j < count; ++j) {
    const cutt_mode *mode = &c->mode[j];
    const int64_t stride = magnitude(mode->in_stride);
    if (stride < span) return refuse(why, "the modes of M_m do not follow one another");
    if (stride > span) {
      if ((stride - span) * c->elem_bytes >= CUTT_GPU_PAGE) return refuse(why, "a gap in a row has a page");
      tile->row_gaps = true;
    }
    span += (mode->extent - 1) * stride; /* can't overflow: it is inside the tensor */
    tile->extent[j] = mode->extent;
    if (mode->in_stride < 0) tile->backwards |= UINT64_C(1) << j;
  }
  tile->in_m = (UINT64_C(1) << count) - 1;
  return cut_last(c, count - 1, split, 0, tile, why);
}

/* The same of M_k, which is a run up to its first gap. *set: all of its modes. */
static bool cover_columns(const cutt_canonical *c, int count, int64_t split, cutt_gpu_tile *tile, uint64_t *set,
                          const char **why) {
  int64_t stride = 1;
  *set = 0;
  for (int i = 0; i < count; ++i) {
    const int j = c->out_order[i];
    const cutt_mode *mode = &c->mode[j];
    if (mode->out_stride < stride) return refuse(why, "the modes of M_k do not follow one another");
    tile->extent[j] = mode->extent;
    *set |= UINT64_C(1) << j;
    if (tile->run_modes < i || mode->out_stride > stride) continue;
    tile->run[tile->run_modes++] = j;
    tile->in_k = *set;
    stride *= mode->extent; /* can't overflow: the span was checked */
  }
  return cut_last(c, count > 0 ? c->out_order[count - 1] : -1, split, 1, tile, why);
}

/* The batch: modes outside of M_mk in output order, as long as `positions` lasts; the last one may be cut, into chunks as even as
 * possible. */
static bool add_batch(const cutt_canonical *c, uint64_t covered, int64_t positions, cutt_gpu_tile *tile,
                      const char **why) {
  if (positions > 1 && (tile->cut[0] >= 0 || tile->cut[1] >= 0)) return refuse(why, "a batch with a split");
  for (int i = 0; i < c->rank && positions > 1; ++i) {
    const int j = c->out_order[i];
    if (covered >> j & 1) continue;
    if (tile->row_modes == CUTT_GPU_TILE_MODES || tile->column_modes == CUTT_GPU_TILE_MODES)
      return refuse(why, "a tile of too many modes");
    const int64_t extent = c->mode[j].extent;
    if (extent > positions) tile->cut[0] = j;
    tile->extent[j] = cutt_gpu_chunks(extent, cutt_gpu_chunks(extent, positions));
    if (!(tile->repeated >> j & 1)) tile->row[tile->row_modes++] = j;
    tile->column[tile->column_modes++] = j;
    positions /= tile->extent[j];
  }
  return true;
}

/* Columns of a tile that has the last chunk of the inner cut; 0: all of its chunks are alike. */
static int64_t short_columns(const cutt_canonical *c, const cutt_gpu_tile *tile) {
  const int j = tile->cut[tile->inner];
  const int64_t chunk = tile->extent[j], last = cutt_gpu_last_chunk(c->mode[j].extent, chunk);
  return last < chunk ? tile->columns / chunk * last : 0;
}

/* From one position of a mode to the next, in bytes: inside of the tensor, so that nothing overflows. */
static uint64_t step_of(int64_t stride, int64_t positions, int64_t elem_bytes) {
  return (uint64_t)(stride * positions * elem_bytes);
}

int64_t cutt_gpu_first_in_row(const cutt_canonical *c, const cutt_gpu_tile *tile, uint64_t modes) {
  const uint64_t set = tile->backwards & modes;
  int64_t first = 0;
  for (int j = 0; set >> j > 0; ++j) {
    if (set >> j & 1) first -= (tile->extent[j] - 1) * c->mode[j].in_stride * c->elem_bytes;
  }
  return first;
}

/* How far rows with the last chunk of a mode begin behind those with a whole one, if they are backwards: they end together. */
static uint64_t later_by(const cutt_canonical *c, const cutt_gpu_tile *tile, int j) {
  const int64_t chunk = tile->extent[j], extent = c->mode[j].extent;
  if (!(tile->backwards >> j & 1)) return 0;
  return step_of(c->mode[j].in_stride, chunk - cutt_gpu_last_chunk(extent, chunk), c->elem_bytes);
}

bool cutt_gpu_tile_derive(const cutt_canonical *c, const cutt_candidate *candidate, cutt_gpu_tile *tile,
                          const char **why) {
  const int m = candidate->m, k = candidate->k;
  const int64_t batch = candidate->param[CUTT_GPU_PARAM_BATCH];
  const bool flat = candidate->param[CUTT_GPU_PARAM_DIRECT] || candidate->param[CUTT_GPU_PARAM_FLAT];
  if (m < 0 || m > c->rank || k < 0 || k > c->rank) return refuse(why, "m or k is not between 0 and the rank");
  if (m > CUTT_GPU_TILE_MODES || k > CUTT_GPU_TILE_MODES) return refuse(why, "a tile of too many modes");
  if (candidate->split_m < 0 || candidate->split_k < 0 || batch < 0) return refuse(why, "a negative size");
  tile->in_m = tile->in_k = 0;
  tile->cut[0] = tile->cut[1] = tile->inner = -1;
  tile->row_modes = tile->column_modes = tile->run_modes = tile->beside = 0;
  tile->row_gaps = false;
  tile->backwards = tile->repeated = 0;
  for (int i = 0; i < c->rank; ++i) {
    tile->extent[i] = 1;
    if (c->mode[i].in_stride == 0 && !flat) tile->repeated |= UINT64_C(1) << i;
  }
  uint64_t in_k;
  if (!cover_rows(c, m, candidate->split_m, tile, why)) return false;
  const int cut_m = tile->cut[0];
  if (!cover_columns(c, k, candidate->split_k, tile, &in_k, why)) return false;
  const int cut_k = tile->cut[1];
  /* A run that goes on after a mode has to have all of it. */
  const uint64_t both = tile->in_m & in_k;
  if (cut_m >= 0 && (both >> cut_m & 1) && (cut_k != cut_m || candidate->split_m != candidate->split_k)) {
    return refuse(why, "M_k goes on behind the mode that M_m splits");
  }
  if (cut_k >= 0 && (both >> cut_k & 1) && cut_k != cut_m)
    return refuse(why, "M_m goes on behind the mode that M_k splits");
  if (cut_k == cut_m) tile->cut[1] = -1;

  for (int i = 0; i < k; ++i) {
    const int j = c->out_order[i];
    if (cutt_gpu_row_set(tile) >> j & 1) tile->row[tile->row_modes++] = j; /* NOLINT(clang-analyzer-core*): j >= 0 */
    if (i >= tile->run_modes) tile->column[tile->beside++] = j;
  }
  tile->column_modes = tile->beside;
  for (int j = 0; j < m; ++j) {
    if (in_k >> j & 1) continue;
    if (tile->column_modes == CUTT_GPU_TILE_MODES) return refuse(why, "a tile of too many modes");
    tile->column[tile->column_modes++] = j;
  }
  for (int i = 0; i < 2 && tile->beside > 0 && tile->column_modes > tile->beside; ++i) {
    if (tile->cut[i] == tile->column[tile->beside - 1]) tile->inner = i;
  }
  if (!add_batch(c, tile->in_m | in_k, batch, tile, why)) return false;

  tile->row_length = tile->column_length = tile->rows = tile->columns = tile->tiles = 1;
  tile->row_steps = tile->column_steps = 0;
  tile->repeats = 1;
  int64_t row_elements = 1;
  for (int j = 0; j < c->rank; ++j) {
    const bool row = tile->in_m >> j & 1, column = tile->in_k >> j & 1;
    const int64_t extent = tile->extent[j];
    int64_t *const by_row = row ? &row_elements : tile->repeated >> j & 1 ? &tile->repeats : &tile->rows;
    int64_t *const by_column = column ? &tile->column_length : &tile->columns;
    /* Each factor is bounded first, so that no product overflows. */
    if (extent > most_volume) return refuse(why, "a tile of too many elements");
    *by_row *= extent;
    *by_column *= extent;
    if (row) tile->row_length += (extent - 1) * magnitude(c->mode[j].in_stride); /* inside of the tensor */
    if (*by_row > most_volume || *by_column > most_volume || tile->row_length > most_volume)
      return refuse(why, "a tile of too many elements");
    const int64_t count = cutt_gpu_chunks(c->mode[j].extent, extent);
    if (!row || count > 1) tile->row_steps |= step_of(c->mode[j].in_stride, row ? extent : 1, c->elem_bytes);
    tile->row_steps |= later_by(c, tile, j);
    if (!column || count > 1) tile->column_steps |= step_of(c->mode[j].out_stride, column ? extent : 1, c->elem_bytes);
    if (count > most_tiles) return refuse(why, "more than 2147483647 tiles");
    tile->tiles *= count;
    if (tile->tiles > most_tiles) return refuse(why, "more than 2147483647 tiles");
  }
  tile->volume = tile->column_length * tile->columns; /* of up to 2^18 each */
  if (tile->volume > most_volume) return refuse(why, "a tile of too many elements");
  tile->short_columns = tile->inner >= 0 ? short_columns(c, tile) : 0;
  const int columns = tile->short_columns > 0 ? 2 * tile->column_modes : tile->column_modes;
  if (tile->row_modes + columns + tile->run_modes + 1 > CUTT_TABLE_MODES)
    return refuse(why, "a tile of too many modes");
  return true;
}
