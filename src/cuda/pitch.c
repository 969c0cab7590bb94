/* The pitch of rows in shared memory.
 *
 * A warp stores places of a column one after the other, and finds them in shared memory wherever the tile's rows put
 * them: there, 32 banks of 4 bytes serve one word each at a time. In a plain transpose neighbouring places are rows
 * apart, and a pitch of an odd number of words (of 8 or 16 bytes, for pieces of that size) is all that is needed. With
 * modes that are in M_m and in M_k the pattern is any sum of digits, so some pitches are tried on one warp's access of
 * each kind, and the best is taken; the smallest of several. Wide loads need a pitch that is a multiple of them, which
 * leaves conflicts between rows; so loads are no wider than a piece, unless columns run along the rows anyway. */
#include "cuda/pitch.h"

enum { LANES = 32, BANKS = 32, TRIES = 32 };

/* Lanes of a warp whose accesses of so many bytes the banks serve at once. */
static int group_of(uint32_t bytes) { return bytes == 16 ? 8 : bytes == 8 ? 16 : LANES; }

/* The lanes of a warp, each accessing `bytes` at an address (a multiple of 4 but for narrow pieces): how many times do
 * the banks have to be asked? Accesses of 8 and 16 bytes go by halves and quarters of a warp. */
static int wavefronts(const uint32_t *address, int lanes, uint32_t bytes) {
  const int group = group_of(bytes);
  const uint32_t words = bytes > 4 ? bytes / 4 : 1;
  int total = 0;
  for (int first = 0; first < lanes; first += group) {
    const int end = first + group < lanes ? first + group : lanes;
    uint32_t seen[LANES];
    int count[BANKS] = {0}, worst = 0, distinct = 0;
    for (int i = first; i < end; ++i) {
      /* One word stands for all of a wide piece: pieces are aligned, and so fall into the same banks or none. */
      const uint32_t word = address[i] / 4 / words;
      bool known = false;
      for (int d = distinct - 1; d >= 0 && !known; --d) known = seen[d] == word;
      if (known) continue;
      seen[distinct++] = word;
      const int n = ++count[word % (BANKS / words)];
      if (n > worst) worst = n;
    }
    total += worst;
  }
  return total;
}

/* One warp's places in the first columns: as row and offset in it, so that a pitch is quickly tried. */
typedef struct pattern {
  uint32_t row[LANES], offset[LANES]; /* of the first `lanes` */
  int lanes;
} pattern;

/* Digits of `index` over a list of modes: rows pass by `row`, bytes within a row by `offset`. */
static uint32_t add_digits(const cutt_canonical *c, const cutt_cuda_tile *tile, const uint32_t *weight, const int *list,
                           int count, uint32_t index, uint32_t *row, uint32_t *offset) {
  for (int i = 0; i < count && index > 0; ++i) {
    const int j = list[i];
    const uint32_t extent = (uint32_t)tile->extent[j], digit = index % extent;
    index /= extent;
    if (tile->in_m >> j & 1) {
      *offset += digit * (uint32_t)(c->mode[j].in_stride * c->elem_bytes);
    } else {
      *row += digit * weight[j];
    }
  }
  return index;
}

/* `turn0`: which of a store's pieces it is. */
static void stored_pattern(const cutt_canonical *c, const cutt_cuda_tile *tile, uint32_t piece, uint32_t store,
                           uint32_t turn0, pattern *p) {
  uint32_t weight[CUTT_MAX_RANK], product = 1;
  for (int i = 0; i < tile->row_modes; ++i) {
    weight[tile->row[i]] = product;
    product *= (uint32_t)tile->extent[tile->row[i]];
  }
  const uint32_t parts = (uint32_t)c->elem_bytes / piece, run = (uint32_t)tile->column_length * parts;
  /* Several pieces are stored as one, each lane beginning with another of them (tile.cu). */
  const uint32_t step = store / piece, units = run / step > 0 ? run / step : 1;
  const uint64_t total = (uint64_t)units * (uint64_t)tile->columns;
  p->lanes = total < LANES ? (int)total : LANES;
  for (int lane = 0; lane < p->lanes; ++lane) {
    const uint32_t column = (uint32_t)lane / units, unit = (uint32_t)lane % units;
    const uint32_t turn = unit / ((uint32_t)group_of(piece) / step), at = unit * step + (turn0 + turn) % step;
    p->row[lane] = 0;
    p->offset[lane] = at % parts * piece;
    add_digits(c, tile, weight, tile->run, tile->run_modes, at / parts, &p->row[lane], &p->offset[lane]);
    add_digits(c, tile, weight, tile->column, tile->column_modes, column, &p->row[lane], &p->offset[lane]);
  }
}

static void loaded_pattern(const cutt_cuda_tile *tile, uint32_t row_bytes, uint32_t load, pattern *p) {
  const uint32_t units = row_bytes / load > 0 ? row_bytes / load : 1;
  const uint64_t total = (uint64_t)units * (uint64_t)tile->rows;
  p->lanes = total < LANES ? (int)total : LANES;
  for (int lane = 0; lane < p->lanes; ++lane) {
    p->row[lane] = (uint32_t)lane / units;
    p->offset[lane] = (uint32_t)lane % units * load;
  }
}

static int pattern_wavefronts(const pattern *p, uint32_t pitch, uint32_t bytes) {
  uint32_t address[LANES];
  for (int i = 0; i < p->lanes; ++i) {
    address[i] = p->row[i] * pitch + p->offset[i]; /* NOLINT(clang-analyzer-core*): set up to lanes */
  }
  return wavefronts(address, p->lanes, bytes);
}

static int least_wavefronts(const pattern *p, uint32_t bytes) {
  const int group = group_of(bytes);
  return (p->lanes + group - 1) / group; /* NOLINT(clang-analyzer-core*): stored_pattern has set it */
}

cutt_cuda_pitch cutt_cuda_pitch_choose(const cutt_canonical *c, const cutt_cuda_tile *tile, uint32_t piece,
                                       uint32_t store, uint32_t load) {
  const uint32_t row_bytes = (uint32_t)(tile->row_length * c->elem_bytes);
  const uint32_t bank = piece > 4 ? piece : 4;
  if (load == 0) {
    /* In words, of which a row may touch one more than it has. */
    const uint32_t words = (row_bytes + 6) / 4;
    return (cutt_cuda_pitch){(words | 1) * 4, 0, false};
  }
  /* Columns along the rows: lanes read one row, and the pitch is of no matter. */
  const bool along = tile->run_modes == 0 || (tile->in_m >> tile->run[0] & 1);
  const uint32_t first_bytes = tile->run_modes > 0 ? (uint32_t)(tile->extent[tile->run[0]] * c->elem_bytes) : row_bytes;
  if (load > bank && !(along && first_bytes >= 128)) load = bank;
  const uint32_t unit = load > bank ? load : bank, step = unit;
  const uint32_t least = (row_bytes + unit - 1) / unit * unit;

  enum { MOST_PIECES = 4 };
  const uint32_t pieces = store / piece;
  pattern stored[MOST_PIECES], loaded;
  for (uint32_t i = 0; i < pieces; ++i) stored_pattern(c, tile, piece, store, i, &stored[i]);
  loaded_pattern(tile, row_bytes, load, &loaded);
  const int least_stored = least_wavefronts(&stored[0], piece) * (int)pieces;
  const int least_loaded = least_wavefronts(&loaded, load);
  cutt_cuda_pitch best = {least, load, false};
  int best_cost = 1 << 30;
  for (uint32_t i = 0; i < (tile->rows > 1 ? TRIES : 1); ++i) {
    const uint32_t pitch = least + i * step;
    if (i > 0 && pitch > least + 16 && pitch > least + least / 4) break; /* not for much of shared memory */
    int reads = 0;
    for (uint32_t j = 0; j < pieces; ++j) reads += pattern_wavefronts(&stored[j], pitch, piece);
    const int cost = reads + pattern_wavefronts(&loaded, pitch, load);
    if (cost >= best_cost) continue;
    best_cost = cost;
    best.bytes = pitch;
    best.conflicts = reads * 4 > least_stored * 5;
    if (cost == least_stored + least_loaded) break;
  }
  return best;
}
