/* The pitch of rows in shared memory.
 *
 * The lanes of a warp take neighbouring elements of a column, and these lie in shared memory wherever the tile's rows put
 * them. The 32 banks of 4 bytes serve one word each at a time. In a plain transpose neighbouring elements are rows apart,
 * and it is enough that the pitch is an odd number of words (of 8 or 16 bytes, for loads of that size). With modes that are
 * in M_m and in M_k the pattern is any sum of digits: so some pitches are tried on one warp's access of each kind, and the
 * smallest of the best is taken. Wide loads from global memory need a pitch that is a multiple of them, which leaves
 * conflicts between rows; so they are no wider than a load from shared memory, unless columns run along the rows anyway. */
#include "gpu/pitch.h"

#include <string.h>

enum { LANES = CUTT_GPU_WARP, BANKS = CUTT_GPU_BANKS, MOST_GATHERED = 4 };

/* Lanes of a warp whose accesses of so many bytes the banks serve at once. */
static int group_of(uint32_t bytes) { return bytes == 16 ? 8 : bytes == 8 ? 16 : LANES; }

/* The wavefronts of one access of a warp, `bytes` at the address of each lane (a multiple of these, or of 4). Accesses of 8
 * and 16 bytes go by halves and quarters of a warp. Where there are more than `most`, it does not matter how many. */
static int wavefronts(const uint32_t *address, int lanes, uint32_t bytes, int most) {
  const int group = group_of(bytes);
  /* The first word stands for all of a wide access: these are aligned, so two of them meet in all of their banks or in none. */
  const uint32_t shift = bytes == 16 ? 4 : bytes == 8 ? 3 : 2;
  const uint32_t mask = ((uint32_t)(CUTT_GPU_BANK_BYTES * BANKS) >> shift) - 1;
  int total = 0;
  for (int first = 0; first < lanes && total <= most; first += group) {
    const int end = first + group < lanes ? first + group : lanes;
    uint32_t used = 0; /* banks */
    bool meet = false;
    for (int i = first; i < end && !meet; ++i) {
      const uint32_t bank = UINT32_C(1) << (address[i] >> shift & mask);
      meet = (used & bank) != 0;
      used |= bank;
    }
    if (!meet) {
      ++total;
      continue;
    }
    /* Of each bank, a list of the lanes that want different words there. */
    int16_t last[BANKS], before[LANES];
    unsigned char count[BANKS] = {0};
    int worst = 0;
    memset(last, -1, sizeof last);
    for (int i = first; i < end && total + worst <= most; ++i) {
      const uint32_t word = address[i] >> shift, bank = word & mask;
      int other = last[bank];
      while (other >= 0 && address[other] >> shift != word) other = before[other];
      if (other >= 0) continue;
      before[i] = last[bank];
      last[bank] = (int16_t)i;
      if (++count[bank] > worst) worst = count[bank];
    }
    total += worst;
  }
  return total;
}

/* What the lanes of a warp access in the first columns, as row and offset in it, so that a pitch is quickly tried. */
typedef struct pattern {
  uint32_t row[LANES], offset[LANES]; /* of the first `lanes` */
  int lanes;
} pattern;

/* Where a position of a list of modes lies: so many rows and bytes from the first. */
typedef struct place {
  uint32_t row, offset;
} place;

/* Walks the first `count` positions of a list, the first of its modes fastest. `weight`: rows per step of a mode. */
static void walk(const cutt_canonical *c, const cutt_gpu_tile *tile, const uint32_t *weight, const int *list, int modes,
                 int count, place *p) {
  uint32_t digit[CUTT_GPU_TILE_MODES] = {0};
  p[0] = (place){0, 0};
  for (int n = 1; n < count; ++n) {
    p[n] = p[n - 1];
    for (int i = 0; i < modes; ++i) {
      const int j = list[i];
      const bool row = !(tile->in_m >> j & 1);
      uint32_t *const at = row ? &p[n].row : &p[n].offset;
      const uint32_t step = row ? weight[j] : (uint32_t)(c->mode[j].in_stride * c->elem_bytes);
      if (++digit[i] < (uint32_t)tile->extent[j]) {
        *at += step;
        break;
      }
      digit[i] = 0;
      *at -= step * (uint32_t)(tile->extent[j] - 1);
    }
  }
}

/* A warp's loads from shared memory of the first columns, `store` bytes for each lane. Each lane gathers these by several
 * loads: there is a pattern for each. */
static void stored_patterns(const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t shared_load, uint32_t store,
                            pattern *patterns) {
  uint32_t weight[CUTT_MAX_RANK] = {0}, product = 1; /* 0: the same rows again */
  for (int i = 0; i < tile->row_modes; ++i) {
    weight[tile->row[i]] = product;
    product *= (uint32_t)tile->extent[tile->row[i]];
  }
  const uint32_t parts = (uint32_t)c->elem_bytes / shared_load, run = (uint32_t)tile->column_length * parts;
  /* Of the loads that are stored as one, groups of lanes begin with different ones (struct gather in tile.cu). */
  const uint32_t gathered = store / shared_load, stores = run / gathered > 0 ? run / gathered : 1,
                 lanes_alike = (uint32_t)group_of(shared_load) / gathered;
  const uint64_t total = (uint64_t)stores * (uint64_t)tile->columns;
  const int lanes = total < LANES ? (int)total : LANES;
  place places[LANES * MOST_GATHERED], columns[LANES]; /* of elements of a column, of columns */
  const uint32_t last = ((uint32_t)lanes < stores ? (uint32_t)lanes : stores) * gathered - 1;
  walk(c, tile, weight, tile->run, tile->run_modes, (int)(last / parts) + 1, places);
  walk(c, tile, weight, tile->column, tile->column_modes, (lanes - 1) / (int)stores + 1, columns);
  for (uint32_t first = 0; first < gathered; ++first) {
    pattern *const p = &patterns[first];
    p->lanes = lanes;
    uint32_t number = 0, column = 0; /* of a store in its column */
    for (int lane = 0; lane < lanes; ++lane) {
      const uint32_t at = number * gathered + (first + number / lanes_alike) % gathered;
      const place *const element = &places[at / parts];
      p->row[lane] = element->row + columns[column].row;
      p->offset[lane] = element->offset + columns[column].offset + at % parts * shared_load;
      if (++number == stores) {
        number = 0;
        ++column;
      }
    }
  }
}

static void loaded_pattern(const cutt_gpu_tile *tile, uint32_t row_bytes, uint32_t load, pattern *p) {
  const uint32_t loads = row_bytes / load > 0 ? row_bytes / load : 1;
  const uint64_t total = (uint64_t)loads * (uint64_t)tile->rows;
  p->lanes = total < LANES ? (int)total : LANES;
  for (int lane = 0; lane < p->lanes; ++lane) {
    p->row[lane] = (uint32_t)lane / loads;
    p->offset[lane] = (uint32_t)lane % loads * load;
  }
}

static int pattern_wavefronts(const pattern *p, uint32_t pitch, uint32_t bytes, int most) {
  uint32_t address[LANES];
  for (int i = 0; i < p->lanes; ++i) {
    address[i] = p->row[i] * pitch + p->offset[i]; /* NOLINT(clang-analyzer-core*): set up to lanes */
  }
  return wavefronts(address, p->lanes, bytes, most);
}

static int least_wavefronts(const pattern *p, uint32_t bytes) {
  const int group = group_of(bytes);
  return (p->lanes + group - 1) / group; /* NOLINT(clang-analyzer-core*): stored_patterns has set it */
}

/* Do the lanes go from row to row? */
static bool spans_rows(const pattern *p) {
  for (int i = 1; i < p->lanes; ++i) {
    if (p->row[i] != p->row[0]) return true; /* NOLINT(clang-analyzer-core*): set up to lanes */
  }
  return false;
}

uint32_t cutt_gpu_pitch_load(const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t shared_load, uint32_t load) {
  const uint32_t bank = shared_load > 4 ? shared_load : 4;
  if (load <= bank) return load;
  /* Columns along the rows: the lanes read one row, and the pitch does not matter. */
  const int64_t first = tile->run_modes > 0 ? tile->extent[tile->run[0]] : tile->row_length;
  const bool along = tile->run_modes == 0 || (tile->in_m >> tile->run[0] & 1);
  return along && first * c->elem_bytes >= CUTT_GPU_ALONG ? load : bank;
}

cutt_gpu_pitch cutt_gpu_pitch_choose(const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t shared_load,
                                     uint32_t store, uint32_t load) {
  const uint32_t row_bytes = (uint32_t)(tile->row_length * c->elem_bytes);
  const uint32_t bank = shared_load > 4 ? shared_load : 4;
  if (load == 0) {
    /* In words: a row that begins at any byte may touch one more than it fills. */
    const uint32_t words = (row_bytes + 6) / 4;
    return (cutt_gpu_pitch){(words | 1) * 4, 0, false};
  }
  load = cutt_gpu_pitch_load(c, tile, shared_load, load);
  const uint32_t step = load > bank ? load : bank;
  const uint32_t least = (row_bytes + step - 1) / step * step;

  const uint32_t gathered = store / shared_load;
  pattern stored[MOST_GATHERED], loaded;
  stored_patterns(c, tile, shared_load, store, stored);
  loaded_pattern(tile, row_bytes, load, &loaded);
  const int least_stored = least_wavefronts(&stored[0], shared_load) * (int)gathered;
  const int least_loaded = least_wavefronts(&loaded, load);
  cutt_gpu_pitch best = {least, load, false};
  int best_cost = 1 << 30;
  /* Pitches that differ by the width of all banks have the same conflicts. */
  bool spans = spans_rows(&loaded);
  for (uint32_t j = 0; j < gathered && !spans; ++j) spans = spans_rows(&stored[j]);
  const uint32_t tries = spans ? BANKS * 4 / step : 1;
  for (uint32_t i = 0; i < tries; ++i) {
    const uint32_t pitch = least + i * step;
    if (i > 0 && pitch > least + 16 && pitch > least + least / 4) break; /* too much of shared memory */
    int cost = pattern_wavefronts(&loaded, pitch, load, best_cost), reads = -cost;
    for (uint32_t j = 0; j < gathered && cost < best_cost; ++j) {
      cost += pattern_wavefronts(&stored[j], pitch, shared_load, best_cost - cost);
    }
    if (cost >= best_cost) continue;
    reads += cost;
    best_cost = cost;
    best.bytes = pitch;
    best.conflicts = reads * 4 > least_stored * 5;
    if (cost == least_stored + least_loaded) break;
  }
  return best;
}
