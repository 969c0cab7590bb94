/* Sums of digits modulo the banks (banks.h). The addresses that a group of lanes accesses at once are sums of digits, one
 * per mode, each digit times its mode's step. The set of banks that they fall into is a word of 32 bits: a mode adds copies
 * of the set of the modes before it, each rotated by a further step, in log2(extent) doublings. If there are as many banks
 * as lanes, there is no conflict; if there are fewer, several wavefronts are needed. */
#include "gpu/banks.h"

#include "base/number.h"
#include "gpu/pitch.h"

enum { BANKS = CUTT_GPU_BANKS, LEVELS = 12, TRIES = 16 };
enum { ROW = BANKS * CUTT_GPU_BANK_BYTES }; /* bytes that the banks serve at once */

/* Groups of lanes that do not begin where the first one does, or are not full, have a little fewer conflicts. */
static const double often = 0.94;

/* A digit of a lane's number: its values, so many rows and bytes apart in shared memory; and behind the last of them, `rest`
 * values of the digit before. */
typedef struct level {
  uint32_t size, rows, bytes, rest;
} level;

typedef struct pattern {
  level level[LEVELS];
  int count;
} pattern;

static uint32_t rotate(uint32_t set, uint32_t by) {
  by %= BANKS;
  return by > 0 ? set << by | set >> (BANKS - by) : set;
}

/* The union of `set` rotated 0, 1, ..., size - 1 times by `by`. */
static uint32_t repeat(uint32_t set, uint32_t size, uint32_t by) {
  uint32_t all = set, reached = 1;
  if (size > BANKS) size = BANKS; /* further rotations add nothing */
  for (; reached * 2 <= size; reached *= 2) all |= rotate(all, reached * by);
  if (reached < size) all |= rotate(all, (size - reached) * by);
  return all;
}

/* Do the lanes that are served together, or the one behind them, go from row to row? */
static bool spans_rows(const pattern *p, uint32_t banks) {
  uint32_t lanes = 1;
  for (int i = 0; i < p->count; ++i) {
    if (p->level[i].rows > 0) return true;
    if (lanes >= banks) return false;
    lanes *= p->level[i].size;
  }
  return false;
}

/* Wavefronts of accesses of `bytes` bytes (4, 8 or 16) by as many lanes as are served together, from the first of the
 * pattern on. *regular: lanes until a digit begins that does not continue the one before; 0: there is none. */
static uint32_t wavefronts(const pattern *p, uint32_t pitch, uint32_t bytes, uint32_t *regular) {
  /* Taken to be as wide as an access; a set of fewer than 32 is repeated in the word. */
  const uint32_t banks = ROW / bytes;
  uint32_t full[LEVELS + 1], lanes[LEVELS + 1], words[LEVELS + 1], step[LEVELS];
  full[0] = banks == 32 ? 1 : banks == 16 ? 0x10001u : 0x01010101u;
  lanes[0] = words[0] = 1;
  int levels = 0;
  for (; levels < p->count && lanes[levels] < banks; ++levels) {
    const level *l = &p->level[levels];
    step[levels] = (l->rows * pitch + l->bytes + bytes / 2) / bytes;
    full[levels + 1] = repeat(full[levels], l->size, step[levels]);
    lanes[levels + 1] = lanes[levels] * l->size;
    words[levels + 1] = l->rows + l->bytes > 0 ? words[levels] * l->size : words[levels];
    if (l->rest > 0 && levels > 0) {
      full[levels + 1] |= rotate(repeat(full[levels - 1], l->rest, step[levels - 1]), l->size * step[levels]);
      lanes[levels + 1] += lanes[levels - 1] * l->rest;
      words[levels + 1] += words[levels - 1] * l->rest;
    }
  }
  *regular = 0;
  if (levels < p->count && levels > 0) {
    const level *next = &p->level[levels];
    const uint32_t on = (next->rows * pitch + next->bytes + bytes / 2) / bytes;
    if ((on - p->level[levels - 1].size * step[levels - 1]) % banks != 0) *regular = lanes[levels];
  }
  uint32_t set = full[levels], wanted = words[levels], left = banks;
  if (lanes[levels] > banks) { /* only the first of them */
    uint32_t at = 0;
    set = wanted = 0;
    for (int i = levels - 1; i >= 0 && left > 0; --i) {
      const uint32_t times = left / lanes[i];
      if (times == 0) continue;
      set |= rotate(repeat(full[i], times, step[i]), at);
      wanted += p->level[i].rows + p->level[i].bytes > 0 ? words[i] * times : words[i];
      at += times * step[i];
      left -= times * lanes[i];
    }
  }
  const uint32_t hit = (uint32_t)__builtin_popcount(set) / (BANKS / banks); /* NOLINT(clang-analyzer-core*): <= BANKS */
  if (hit == 0 || hit >= wanted) return 1;
  const uint32_t least = (wanted + hit - 1) / hit;
  return least > 2 ? least : 2;
}

static void add(pattern *p, uint32_t size, uint32_t rows, uint32_t bytes) {
  if (size <= 1 || p->count == LEVELS) return;
  if (p->count > 0) { /* a digit that continues the last one becomes one with it */
    level *last = &p->level[p->count - 1];
    if (last->rest == 0 && last->rows * last->size == rows && last->bytes * last->size == bytes) {
      last->size *= size;
      return;
    }
  }
  p->level[p->count++] = (level){size, rows, bytes, 0};
}

static void add_modes(const cutt_canonical *c, const cutt_gpu_tile *tile, const int *list, int count, pattern *p) {
  for (int i = 0; i < count; ++i) {
    const int j = list[i];
    const uint32_t extent = (uint32_t)tile->extent[j];
    if (tile->repeated >> j & 1) {
      add(p, extent, 0, 0);
      continue;
    }
    if (!(tile->in_m >> j & 1)) {
      uint32_t weight = 1; /* rows from one value of the digit to the next */
      for (int k = 0; tile->row[k] != j; ++k) weight *= (uint32_t)tile->extent[tile->row[k]];
      add(p, extent, weight, 0);
      continue;
    }
    const uint32_t step = (uint32_t)(magnitude(c->mode[j].in_stride) * c->elem_bytes);
    if (step < 4) { /* several of them are in one word */
      add(p, 4 / step, 0, 0);
      add(p, (extent * step + 3) / 4, 0, 4);
    } else {
      add(p, extent, 0, step);
    }
  }
}

/* What lanes load first of a run, of which each lane gathers `gathered` neighbours (a power of two): of each digit every
 * `gathered`-th value, as far as its size allows. After each `alike` lanes, the next ones begin with another of their loads
 * (struct gather in tile.cu), one place further on. */
static pattern thin_out(const pattern *run, uint32_t gathered, uint32_t alike) {
  pattern p = {.count = 0};
  const level first = run->level[0];
  uint32_t lanes = 1;
  bool rotated = false;
  for (int i = 0; i < run->count; ++i) {
    level l = run->level[i];
    const uint32_t power = l.size & (~l.size + 1), each = i + 1 == run->count ? gathered : smaller(power, gathered);
    l.size = l.size > each ? l.size / each : 1;
    l.rows *= each;
    l.bytes *= each;
    gathered /= each;
    const uint32_t before = alike / lanes; /* of this digit's values, until the next ones begin further on */
    if (!rotated && before > 0 && lanes * l.size > alike && p.count + 1 < LEVELS) {
      rotated = true;
      add(&p, before, l.rows, l.bytes);
      p.level[p.count++] = (level){l.size / before, l.rows * before + first.rows, l.bytes * before + first.bytes,
                                   before > 1 ? l.size % before : 0};
    } else {
      add(&p, l.size, l.rows, l.bytes);
    }
    lanes *= l.size;
  }
  return p;
}

/* A column's loads of `bytes` bytes, `gathered` of which are stored as one, and then those of the next columns. */
static pattern of_columns(const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t bytes, uint32_t gathered) {
  const uint32_t w = (uint32_t)c->elem_bytes;
  pattern p = {.count = 0};
  if (bytes < w) add(&p, w / bytes, 0, bytes);
  add_modes(c, tile, tile->run, tile->run_modes, &p);
  if (gathered > 1 && p.count > 0) p = thin_out(&p, gathered, bytes > 4 ? 8 : 32 / gathered);
  add_modes(c, tile, tile->column, tile->column_modes, &p);
  return p;
}

/* Of groups of lanes that go through runs of so many accesses: the share of groups that have the end of one and the
 * beginning of the next. */
static double crossing(uint32_t accesses, uint32_t group) {
  const uint32_t power = accesses & (~accesses + 1);
  return accesses < group ? 1 : (1 - (double)(power < group ? power : group) / group) * group / accesses;
}

/* Do lanes of one warp take several runs? */
static bool mixes(cutt_gpu_spread at) { return at.along % 32 != 0 && at.across > 1; }

/* Lanes whose accesses of so many bytes are served at once. */
static uint32_t served(uint32_t bytes) { return ROW / (bytes > 4 ? bytes : 4); }

cutt_gpu_banks cutt_gpu_banks_expect(const cutt_canonical *c, const cutt_gpu_tile *tile, uint32_t threads,
                                     cutt_gpu_access *access) {
  const uint32_t row_bytes = (uint32_t)(tile->row_length * c->elem_bytes);
  const uint32_t column_bytes = (uint32_t)(tile->column_length * c->elem_bytes);
  access->load = cutt_gpu_pitch_load(c, tile, access->shared_load, access->load);
  const uint32_t load = access->load > 4 ? access->load : 4, row_group = served(load);
  const uint32_t row_loads = cutt_gpu_accesses(row_bytes, access->load);
  cutt_gpu_banks best = {.loads = cutt_gpu_spread_loads(c, tile, access, threads)};
  for (;;) {
    const uint32_t bank = access->shared_load > 4 ? access->shared_load : 4, step = load > bank ? load : bank;
    const uint32_t gathered = access->store / access->shared_load, group = served(bank);
    const uint32_t column_stores = column_bytes / access->store;
    bool alike;
    best.stores = cutt_gpu_spread_stores(c, tile, access, threads, &alike);
    const pattern p = of_columns(c, tile, access->shared_load, gathered);
    const uint32_t least = access->load > 0 ? (row_bytes + step - 1) / step * step : ((row_bytes + 6) / 4 | 1) * 4;
    const double across = mixes(best.loads) ? crossing(row_loads, row_group) : 0;
    const double first_across = row_loads >= 32 ? 0 : across;
    best.rows = best.columns = 1;
    double best_cost = 1e9;
    bool conflicts = false;
    /* Where neither loads nor stores go from row to row, one pitch is like another. */
    const bool alike_all = first_across == 0 && !spans_rows(&p, ROW / bank);
    const uint32_t tries = access->load == 0 || tile->rows == 1 || alike_all ? 1 : smaller(ROW / step, TRIES);
    for (uint32_t i = 0; i < tries; ++i) {
      const uint32_t pitch = least + i * step, gap = pitch - row_loads * load;
      if (i > 0 && pitch > least + 16 && pitch > least + least / 4) break;
      uint32_t regular;
      const double first = wavefronts(&p, pitch, bank, &regular);
      const double written = gap % ROW == 0 ? 1 : 1 + first_across;
      const uint32_t stores = 32 / group, loads = 32 / row_group;
      const double cost = first * gathered * stores + written * loads;
      if (cost >= best_cost) continue;
      best_cost = cost;
      conflicts = first > 1.25;
      best.rows = gap % ROW == 0 ? 1 : 1 + across;
      best.columns = first < 2 ? first : first * often;
      if (first < 2 && regular >= group && (regular < column_stores || mixes(best.stores))) {
        best.columns += often * crossing(regular, group);
      }
      if (first <= 1 && written <= 1) break;
    }
    if (!conflicts || gathered == 1 || access->shared_load < 4) return best;
    cutt_gpu_access_narrow(access);
  }
}
