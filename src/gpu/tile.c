/* The geometry of a candidate (tile.h). */
#include "gpu/tile.h"

#include <stddef.h>

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

/* Covers the first `count` modes of one side, which have to be contiguous there, the last one in chunks of `split`
 * unless that is 0. */
static bool cover(const cutt_canonical *c, const int *order, int count, int64_t split, bool input, cutt_gpu_tile *tile,
                  uint64_t *set, const char **why) {
  int64_t stride = 1;
  for (int i = 0; i < count; ++i) {
    const int j = order ? order[i] : i;
    const cutt_mode *mode = &c->mode[j];
    if ((input ? mode->in_stride : mode->out_stride) != stride) return refuse(why, "its modes are not contiguous");
    stride *= mode->extent; /* can't overflow: the span was checked */
    *set |= UINT64_C(1) << j;
    tile->extent[j] = mode->extent;
  }
  if (split == 0) return true;
  if (count == 0) return refuse(why, "there is no mode to split");
  const int last = order ? order[count - 1] : count - 1;
  if (split < 1 || split >= c->mode[last].extent) return refuse(why, "a split is not between 1 and the mode's extent");
  tile->extent[last] = split;
  tile->cut[input ? 0 : 1] = last;
  return true;
}

/* The batch: modes outside of M_mk in output order, as long as `positions` lasts; the last one may be cut, into chunks as even as
 * possible. */
static bool add_batch(const cutt_canonical *c, int64_t positions, cutt_gpu_tile *tile, const char **why) {
  if (positions > 1 && (tile->cut[0] >= 0 || tile->cut[1] >= 0)) return refuse(why, "a batch with a split");
  for (int i = 0; i < c->rank && positions > 1; ++i) {
    const int j = c->out_order[i];
    if ((tile->in_m | tile->in_k) >> j & 1) continue;
    if (tile->row_modes == CUTT_GPU_TILE_MODES) return refuse(why, "a tile of too many modes");
    const int64_t extent = c->mode[j].extent;
    if (extent > positions) tile->cut[0] = j;
    tile->extent[j] = cutt_gpu_chunks(extent, cutt_gpu_chunks(extent, positions));
    tile->row[tile->row_modes++] = j;
    tile->column[tile->column_modes++] = j;
    positions /= tile->extent[j];
  }
  return true;
}

/* From one position of a mode to the next, in bytes: inside of the tensor, so that nothing overflows. */
static uint64_t step_of(int64_t stride, int64_t positions, int64_t elem_bytes) {
  return (uint64_t)(stride * positions * elem_bytes);
}

bool cutt_gpu_tile_derive(const cutt_canonical *c, const cutt_candidate *candidate, cutt_gpu_tile *tile,
                          const char **why) {
  const int m = candidate->m, k = candidate->k;
  const int64_t batch = candidate->param[CUTT_GPU_PARAM_BATCH];
  if (m < 0 || m > c->rank || k < 0 || k > c->rank) return refuse(why, "m or k is not between 0 and the rank");
  if (m > CUTT_GPU_TILE_MODES || k > CUTT_GPU_TILE_MODES) return refuse(why, "a tile of too many modes");
  if (candidate->split_m < 0 || candidate->split_k < 0 || batch < 0) return refuse(why, "a negative size");
  tile->in_m = tile->in_k = 0;
  tile->cut[0] = tile->cut[1] = -1;
  tile->row_modes = tile->column_modes = tile->run_modes = 0;
  for (int i = 0; i < c->rank; ++i) tile->extent[i] = 1;
  if (!cover(c, NULL, m, candidate->split_m, true, tile, &tile->in_m, why)) return false;
  const int cut_m = tile->cut[0];
  if (!cover(c, c->out_order, k, candidate->split_k, false, tile, &tile->in_k, why)) return false;
  const int cut_k = tile->cut[1];
  /* A run that goes on after a mode has to have all of it. */
  const uint64_t both = tile->in_m & tile->in_k;
  if (cut_m >= 0 && (both >> cut_m & 1) && (cut_k != cut_m || candidate->split_m != candidate->split_k)) {
    return refuse(why, "M_k goes on behind the mode that M_m splits");
  }
  if (cut_k >= 0 && (both >> cut_k & 1) && cut_k != cut_m)
    return refuse(why, "M_m goes on behind the mode that M_k splits");
  if (cut_k == cut_m) tile->cut[1] = -1;

  for (int i = 0; i < k; ++i) {
    const int j = c->out_order[i];
    tile->run[tile->run_modes++] = j;
    if (!(tile->in_m & UINT64_C(1) << j)) tile->row[tile->row_modes++] = j; /* NOLINT(clang-analyzer-core*): j >= 0 */
  }
  for (int j = 0; j < m; ++j) {
    if (!(tile->in_k >> j & 1)) tile->column[tile->column_modes++] = j;
  }
  if (!add_batch(c, batch, tile, why)) return false;

  tile->row_length = tile->column_length = tile->rows = tile->columns = tile->tiles = 1;
  tile->row_steps = tile->column_steps = 0;
  for (int j = 0; j < c->rank; ++j) {
    const bool row = tile->in_m >> j & 1, column = tile->in_k >> j & 1;
    const int64_t extent = tile->extent[j];
    int64_t *const by_row = row ? &tile->row_length : &tile->rows;
    int64_t *const by_column = column ? &tile->column_length : &tile->columns;
    /* Each factor is bounded first, so that no product overflows. */
    if (extent > most_volume) return refuse(why, "a tile of too many elements");
    *by_row *= extent;
    *by_column *= extent;
    if (*by_row > most_volume || *by_column > most_volume) return refuse(why, "a tile of too many elements");
    const int64_t count = cutt_gpu_chunks(c->mode[j].extent, extent);
    if (!row || count > 1) tile->row_steps |= step_of(c->mode[j].in_stride, row ? extent : 1, c->elem_bytes);
    if (!column || count > 1) tile->column_steps |= step_of(c->mode[j].out_stride, column ? extent : 1, c->elem_bytes);
    if (count > most_tiles) return refuse(why, "more than 2147483647 tiles");
    tile->tiles *= count;
    if (tile->tiles > most_tiles) return refuse(why, "more than 2147483647 tiles");
  }
  tile->volume = tile->row_length * tile->rows;
  if (tile->volume > most_volume) return refuse(why, "a tile of too many elements");
  return true;
}
