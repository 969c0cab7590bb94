/* Counts and cost of a candidate on the CPU; what an event takes is in values.c.
 *
 * One thread's time is a sum of counts times nanoseconds, because on the machines measured moving cache lines and
 * computing hardly overlap once the fill buffers and the store buffer are full: a transpose at 45 GB/s in L1 and a copy
 * at 22 GB/s from memory make 15 GB/s together. The nanoseconds come from a least-squares fit over random problems
 * (docs/log.md: what else was tried) and differ by where the data is: L2, the last-level cache, or memory. */
#include "cpu/cost.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cpu/few.h"
#include "cpu/kernels/kernels.h"
#include "cpu/windows.h"

enum { LINE = CUTT_CPU_LINE };

/* The largest power of two, at most a cache line, that divides a number of bytes. */
static int64_t alignment_of(int64_t bytes) {
  const int64_t low = bytes & -bytes;
  return low == 0 || low > LINE ? LINE : low;
}

/* Is the gap between what `span` elements take and the mode's next position shorter than a line? To memory that is one
 * run. */
static bool goes_on(const cutt_canonical *c, const cutt_mode *mode, int64_t span) {
  return (cutt_cpu_distance(mode) - span) * c->elem_bytes < LINE;
}

/* Bytes that are read before a mode of the sequence comes to its next position; 0: the mode is in no sequence. */
static double between_positions(const cutt_canonical *c, const cutt_cpu_tile *t, int mode) {
  double bytes = (double)cutt_cpu_elements(t) * c->elem_bytes;
  if (mode == t->split_k) return bytes;
  if (t->role[mode] != CUTT_CPU_SEQUENCE) return 0;
  if (t->split_k >= 0) bytes *= (double)c->mode[t->split_k].extent / (double)t->extent[t->split_k];
  for (int i = 0; i < t->sequences && t->sequence[i] != mode; ++i) bytes *= (double)c->mode[t->sequence[i]].extent;
  return bytes;
}

/* Elements of a tile's input runs; *alignment: the alignment of their starts. A run goes on where a later tile of the
 * sequence begins behind it, if that comes so early that a line which the two share is still in L2. */
static int64_t input_run(const cutt_canonical *c, const cutt_cpu_tile *t, double l2_bytes, int64_t *alignment) {
  int64_t elements = 1, span = 1, strides = 0;
  bool leading = true;
  for (int i = 0; i < c->rank; ++i) {
    const int64_t stride = c->mode[i].in_stride, extent = t->extent[i];
    if (stride == 0) continue; /* the same run again */
    const double between = between_positions(c, t, i);
    const bool in_sequence = i == t->split_k || (between > 0 && between <= l2_bytes / 4);
    if (leading && (extent > 1 || in_sequence) && goes_on(c, &c->mode[i], span)) {
      const int64_t positions = in_sequence ? c->mode[i].extent : extent;
      elements *= positions;
      span += cutt_cpu_distance(&c->mode[i]) * (positions - 1);
      if (positions < c->mode[i].extent) strides |= cutt_cpu_distance(&c->mode[i]) * positions;
      leading = extent == c->mode[i].extent || (i != t->split_k && in_sequence);
    } else {
      leading = false;
      strides |= stride;
    }
  }
  *alignment = alignment_of(strides * c->elem_bytes);
  return elements;
}

enum { TLB_ENTRIES = 64, LOAD = 16, LONG_ROW = 4 * LINE };

typedef struct row_lines {
  int64_t runs;     /* contiguous runs that a tile's rows consist of */
  int64_t lines;    /* cache lines that they touch */
  int64_t distance; /* the largest power of two that divides all distances between the runs, bytes */
} row_lines;

static row_lines lines_of_rows(const cutt_canonical *c, const cutt_cpu_tile *t) {
  row_lines r = {1, 1, 0};
  int64_t distances = 0, span = 1, run_lines = 1;
  for (int i = 0; i < c->rank; ++i) {
    if (t->extent[i] == 1 || c->mode[i].in_stride == 0) continue;
    const bool row = t->role[i] == CUTT_CPU_ROW || t->role[i] == CUTT_CPU_INNER;
    const int64_t stride = c->mode[i].in_stride;
    if (goes_on(c, &c->mode[i], span)) {
      span += cutt_cpu_distance(&c->mode[i]) * (t->extent[i] - 1);
      if (row && span * c->elem_bytes > LINE) run_lines = span * c->elem_bytes / LINE;
    } else if (row) {
      r.runs *= t->extent[i];
      distances |= stride * c->elem_bytes;
    }
  }
  r.lines = r.runs * run_lines;
  r.distance = distances & -distances;
  return r;
}

static double log2_of(int64_t n) { /* linear between powers of two, which is close enough */
  int64_t power = 1, log = 0;
  while (power * 2 <= n) power *= 2, ++log;
  return (double)log + (double)(n - power) / (double)power;
}

cutt_cpu_along_term cutt_cpu_along_term_of(const cutt_canonical *c, const cutt_cpu_tile *t, int prefetch) {
  const bool bytes = cutt_cpu_ahead_in_l2(c, t);
  /* A pass over narrow elements has more rows than hardware prefetchers follow. */
  if (prefetch == CUTT_CPU_TO_NONE)
    return (cutt_cpu_along_term){CUTT_CPU_COUNT_ALONG, c->elem_bytes < 4 ? 4 / c->elem_bytes : 1};
  if (prefetch == CUTT_CPU_TO_L1)
    return (cutt_cpu_along_term){CUTT_CPU_COUNT_ALONG_NEAR, bytes || c->elem_bytes == 2 ? 2 : 1};
  return (cutt_cpu_along_term){bytes ? CUTT_CPU_COUNT_ALONG_BYTES : CUTT_CPU_COUNT_ALONG_AHEAD, 1};
}

double cutt_cpu_stretches(const cutt_canonical *c, const cutt_cpu_tile *t) {
  /* Rows of bytes that follow one another are one run: 64 of them take few pages. */
  const bool by_rows = c->elem_bytes > 1 && !t->tiles_ahead && t->cols * c->elem_bytes >= LINE;
  int64_t in_alignment;
  return (double)c->volume / (double)(by_rows ? t->cols : input_run(c, t, 0, &in_alignment));
}

/* Does a first mode of a vector and more, and of several, end within vectors? Windows then differ from vector to vector, each of which
 * takes loads of the table. */
static bool ends_within_vectors(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine) {
  const int64_t first = t->extent[c->out_order[0]], vector = cutt_cpu_window_vector(machine->vector_bytes);
  return t->rows > first && first * c->elem_bytes > vector && first * c->elem_bytes % vector != 0;
}

/* Do the windows of one vector lie behind those of the vector before, in the same lines or in the next ones, for several vectors? Those of
 * pixels, whose components lie apart, do. Others are in new places each time. */
static bool windows_follow(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine) {
  enum { SEVERAL = 4 };
  const int64_t vector = cutt_cpu_window_vector(machine->vector_bytes) / c->elem_bytes;
  int64_t have = 1;
  for (int i = 0; i < c->rank; ++i) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_ROW) continue;
    const int64_t take = (vector + have - 1) / have;
    if (t->extent[mode] >= SEVERAL * take) return cutt_cpu_distance(&c->mode[mode]) * take * c->elem_bytes <= LINE;
    have *= t->extent[mode];
    if (have >= vector) return false;
  }
  return false;
}

/* The share of what is read again that has left a cache which holds so much: none up to that, all from twice as much on. */
static double share_lost(double has, double holds) {
  const double lost = has / holds - 1;
  return lost < 0 ? 0 : lost < 1 ? lost : 1;
}

/* The share of so many lines, of so many runs at a distance of bytes, that L1 has lost when they are wanted again: there are too many, or too
 * few sets for the runs. */
static double lost_by_l1(const cutt_cpu_machine *machine, double lines, double runs, int64_t distance) {
  const double all = share_lost(lines, (double)cutt_cpu_l1_holds(machine, LINE));
  const double set = share_lost(runs, 2.0 * (double)cutt_cpu_l1_holds(machine, distance));
  return all > set ? all : set;
}

/* Lines of a tile that are loaded again where positions of its modes share them and come after others: those in between may be more than L1
 * keeps. Rows and inner modes come in the output's order, and, but for transposes, whose columns are
 * counted by themselves, segments after them. */
static double lines_lost(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine) {
  double loaded = 1, once = 1;
  int64_t distances = 0;
  for (int i = 0; i < 2 * c->rank; ++i) {
    const int mode = i < c->rank ? c->out_order[i] : i - c->rank;
    const cutt_cpu_role role = t->role[mode];
    if (i < c->rank ? role != CUTT_CPU_ROW && role != CUTT_CPU_INNER
                    : role != CUTT_CPU_SEGMENT || t->kernel == CUTT_CPU_TRANSPOSE)
      continue;
    if (c->mode[mode].in_stride == 0) continue; /* the same line again and again */
    const double extent = (double)t->extent[mode];
    const int64_t distance = cutt_cpu_distance(&c->mode[mode]) * c->elem_bytes;
    double kept = extent; /* lines that its positions are in */
    if (distance >= LINE) {
      distances |= distance;
    } else {
      const double lines = (extent * (double)distance + LINE - 1) / LINE;
      kept = lines < 1 ? 1 : lines < extent ? lines : extent;
    }
    const bool again = kept < extent && loaded > 1;
    loaded *= again ? kept + lost_by_l1(machine, loaded, loaded, distances & -distances) * (extent - kept) : kept;
    once *= kept;
  }
  return loaded - once;
}

/* Lines that a transpose down a tile loads once more: as many columns as a load has are done down all rows of a strip before the next
 * ones, which are in the same lines. L1 loses lines where they are too many, or where so many runs share a set; and what a load that has
 * all columns shares with another row. */
static double loaded_again(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine,
                           const row_lines *rows) {
  const int64_t strip = t->shifts || t->follows ? t->rows : smaller(t->strip, t->rows), columns = LOAD / c->elem_bytes;
  const int64_t steps = (t->cols + columns - 1) / columns;
  const double part = (double)strip / (double)t->rows;
  const double lines = (double)cutt_cpu_lines_of_columns(machine, c, t).lines * part;
  const double own = (double)(strip * t->cols * c->elem_bytes) / LINE;
  const double again = (double)steps * lines - (lines > own ? lines : own);
  const double later = again <= 0 ? 0
                                  : again * lost_by_l1(machine, lines, (double)rows->runs * part, rows->distance) /
                                        (double)(strip * t->cols);
  const double shared = lines_lost(c, t, machine) * (double)(strip < t->rows ? 1 : steps);
  return (double)c->volume * (later + shared / (double)(t->rows * t->inners * t->cols));
}

/* The same of a walk along the rows, of which each pass reads a line of as many rows as fill a line of the output, 16 bytes of each at a
 * time. Where L1 has too few sets for these lines, it has lost what was prefetched, too: each load takes
 * as long as several from L2 in order, as measured on Zen 4 (docs/log.md). */
static double loaded_again_along(const cutt_canonical *c, const cutt_cpu_tile *t) {
  static const double as_many = 7;
  const int64_t most = LINE / c->elem_bytes;
  if (c->elem_bytes > 2) return 0; /* lines of fewer rows stay */
  const double set = share_lost((double)smaller(t->pass.lines, most), 2.0 * (double)t->pass.holds);
  const int64_t again = LINE / LOAD - 1;
  return (double)(c->volume * c->elem_bytes) / LINE * (double)again * set * as_many;
}

/* Lines that columns of bytes carry from pass to pass, each written and read again, where they leave L1: of wider elements there are fewer for
 * each line of the output, and their terms have them. */
static double carried_far(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine) {
  if (c->elem_bytes > 1) return 0;
  const double lost = share_lost((double)(t->cols * t->segments * LINE), 2.0 * (double)machine->l1_bytes);
  return 2 * lost * (double)(c->volume * c->elem_bytes) / LINE;
}

/* Is each tile of a walk along rows one range of the input, with the next tile, which is prefetched, behind it, and that for so long
 * that the ends do not count? Of bytes 64 rows are read at once, whose stores are what counts. */
static bool reads_in_order(const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { LONG_RUN = 1024 };
  if (!t->tiles_ahead || c->elem_bytes == 1 || t->segments > 1 || t->last_k != c->out_order[0]) return false;
  const cutt_mode *mode = &c->mode[t->last_k];
  return mode->in_stride == t->cols && mode->extent * c->elem_bytes >= LONG_RUN;
}

/* Is each tile one range of the input, with the next tile behind it, and that for so long that the ends do not count? */
static bool follows_in_input(const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { LONG_RANGE = 16 * 1024 };
  const int mode = t->split_k >= 0    ? t->split_k
                   : t->sequences > 0 ? t->sequence[0]
                   : t->split_m >= 0  ? t->split_m
                   : t->outers > 0    ? t->outer[0]
                                      : -1;
  const int64_t elements = cutt_cpu_elements(t);
  if (t->along || mode < 0 || cutt_cpu_together(c, t) != elements) return false;
  const int64_t stride = c->mode[mode].in_stride, positions = c->mode[mode].extent / t->extent[mode];
  return stride * t->extent[mode] == elements && positions * elements * c->elem_bytes >= LONG_RANGE;
}

/* Are several short runs joined that follow one another in the input, too, with gaps that are no longer than they are? */
static bool joins_in_order(const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { LONG_RUN = 1024 };
  if (!t->joins || t->shared_run * c->elem_bytes >= LONG_RUN) return false;
  for (int i = 0; i < c->rank; ++i) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_ROW || t->extent[mode] == 1) continue;
    const int64_t stride = c->mode[mode].in_stride;
    return stride > 0 && stride <= 2 * t->shared_run + LINE / c->elem_bytes;
  }
  return false;
}

bool cutt_cpu_asks_into_l1(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine) {
  enum { MOST_COLUMNS = 40, MOST_ROWS = 32, MOST_ROW_BYTES = 128 };
  if (cutt_cpu_asks_for_next_row(t, c->elem_bytes) || joins_in_order(c, t)) return true;
  return t->cols <= MOST_COLUMNS && t->rows <= MOST_ROWS && t->rows * c->elem_bytes <= MOST_ROW_BYTES &&
         3 * cutt_cpu_elements(t) * c->elem_bytes <= machine->l1_bytes && follows_in_input(c, t);
}

/* Are all rows of a tile the same one? */
static bool is_one_row(const cutt_canonical *c, const cutt_cpu_tile *t) {
  for (int i = 0; i < c->rank; ++i)
    if (t->role[i] == CUTT_CPU_ROW && c->mode[i].in_stride != 0) return false;
  return true;
}

/* Output runs of a walk along rows, of which each column has so many in its whole chunks and one in what is left of a cut mode: how many
 * rows they have, and how often there are such columns. */
typedef struct column_runs {
  int64_t whole, rows, rest; /* rest: rows of the last run; 0: there is none */
  double columns;
} column_runs;

static column_runs runs_of_column(const cutt_canonical *c, const cutt_cpu_tile *t) {
  if (t->split_k < 0 || t->role[t->split_k] != CUTT_CPU_ROW)
    return (column_runs){1, t->rows, 0, (double)c->volume / (double)t->rows};
  const int64_t chunk = t->extent[t->split_k], each = t->rows / chunk, extent = c->mode[t->split_k].extent;
  return (column_runs){extent / chunk, t->rows, extent % chunk * each, (double)c->volume / (double)(each * extent)};
}

/* Runs that are no whole lines. */
static double parts_of_lines(const cutt_canonical *c, const column_runs *r) {
  const int64_t line = LINE / c->elem_bytes;
  return (double)((r->rows % line != 0 ? r->whole : 0) + (r->rest % line != 0)) * r->columns;
}

/* Last runs of fewer rows than a line takes, which are staged one by one. Where a column ends with such a run that takes little. */
static double short_runs(const cutt_canonical *c, const cutt_cpu_tile *t, const column_runs *r) {
  return r->rest > 0 && t->sequences > 0 && r->rest * c->elem_bytes < LINE ? r->columns : 0;
}

/* Pages that a tile's rows are in. */
static int64_t pages_of_rows(const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { PAGE = 4096 };
  int64_t pages = 1;
  for (int i = 0; i < c->rank; ++i)
    if (t->role[i] == CUTT_CPU_ROW && c->mode[i].in_stride != 0)
      pages *= cutt_cpu_pieces(&c->mode[i], t->extent[i], c->elem_bytes, PAGE);
  return pages;
}

/* Elements that go to an output with gaps. One by one each is a store, and of rows in more pages than a processor keeps the addresses of, an
 * address that is looked up. Of runs, staged ones too, a vector that is stored under a mask may have several (kernels/spread.h). */
static void count_spread(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine, double *n) {
  /* Addresses that Skylake's cores keep, others 2048 to 4096; and elements that are worth making a mask for. */
  enum { KEPT_PAGES = 1536, WORTH_A_MASK = 64 };
  static const double of_runs = 2.5, looked_up = 10;
  const double volume = (double)c->volume, w = c->elem_bytes;
  if (t->direct && t->shared_run == 1) {
    n[CUTT_CPU_COUNT_GATHERS] += volume;
    if (t->segments > 1 && pages_of_rows(c, t) > KEPT_PAGES) n[CUTT_CPU_COUNT_RELOADS_L2] += looked_up * volume;
    return;
  }
  if (c->elem_bytes < CUTT_CPU_SPREAD_BYTES) return;
  const bool masked = machine->vector_bytes >= 64 && (t->direct ? t->shared_run : t->run) >= WORTH_A_MASK;
  const double each = masked ? floor((LINE - w) / (w * (double)t->run_stride)) + 1 : 1, some = each >= 4 ? 4 / each : 1;
  n[CUTT_CPU_COUNT_GATHERS] += of_runs * some * some * volume;
}

/* Blocks of so many columns that a transpose down a tile takes: fewer columns are done at a time where the stage has no room for more
 * runs. */
static int64_t blocks_across(const cutt_cpu_tile *t, bool staged, int64_t columns) {
  const int64_t at_once = staged ? t->staged_cols : t->steps_cols;
  const int64_t step[] = {t->steps_cols, t->cols % t->steps_cols}, times[] = {t->cols / t->steps_cols, 1};
  int64_t blocks = 0;
  for (int i = 0; i < 2; ++i)
    blocks += times[i] *
              (step[i] / at_once * ((at_once + columns - 1) / columns) + (step[i] % at_once + columns - 1) / columns);
  return blocks;
}

void cutt_cpu_count(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_machine *machine,
                    double counts[CUTT_CPU_COUNTS]) {
  static const double unlike = 1.3, short_ends = 3, filled = 0.75,
                      far_filled = 1.4; /* of what a line takes that is gathered, or walked along */
  static const double with_gaps = 6, with_gaps_by_call = 4, one_by_one = 4,
                      one_by_one_near = 2;                /* of what an output run takes that has no gaps */
  static const double apart_calls = 1.75, again_runs = 3; /* of calls whose columns follow, of runs read once each */
  static const double by_segments = 0.25,
                      short_of_many = 0.4; /* of what a call for each output run takes: those by one call */
  double *n = counts;
  const double w = c->elem_bytes, volume = (double)c->volume, bytes = volume * w;
  const int64_t apart = magnitude(t->in_step);
  memset(n, 0, CUTT_CPU_COUNTS * sizeof n[0]);
  n[CUTT_CPU_COUNT_LINES] = 2.0 * bytes / LINE;
  if (t->kernel == CUTT_CPU_COPY) { /* what is left out is in lines that are read */
    const double moved = (double)(apart + 1) / 2;
    n[CUTT_CPU_COUNT_LINES] *= moved;
    if (t->non_temporal) n[t->along ? CUTT_CPU_COUNT_STREAMED : CUTT_CPU_COUNT_PAGED] = moved * bytes / LINE;
    return;
  }

  const int64_t segments = cutt_cpu_runs(t);
  const double tile = (double)(t->run * segments);
  int64_t in_alignment, sequence = t->run, strides = 0;
  bool gaps = false; /* behind runs of the output: what a tile adds to one is far from what it adds to the next */
  n[CUTT_CPU_COUNT_RUNS] = volume / (double)input_run(c, t, 0, &in_alignment);
  if (t->split_k >= 0) sequence = sequence / t->extent[t->split_k] * c->mode[t->split_k].extent;
  for (int i = 0; i < t->sequences; ++i) sequence *= c->mode[t->sequence[i]].extent;
  /* The line that an input run ends in is still in L2 when the next run is read, if little was read in between. */
  const double between = (double)sequence * (double)segments * w;
  if (between > (double)machine->l2_bytes / 4) {
    const double runs = volume / (double)input_run(c, t, (double)machine->l2_bytes, &in_alignment);
    n[CUTT_CPU_COUNT_WASTE] = runs * (1.0 - (double)in_alignment / LINE);
  }
  if (t->non_temporal) {
    for (int i = 0; i < c->rank; ++i) {
      const int64_t stride = magnitude(c->mode[i].out_stride);
      if (stride < sequence) continue;
      gaps = stride > sequence && (gaps || strides == 0);
      strides |= stride;
    }
    const double within = 1.0 - (double)alignment_of(strides * c->elem_bytes) / LINE, runs = volume / (double)sequence;
    /* Where there are gaps behind them, runs that begin with lines end within them. */
    const int64_t ends = strides == 0 ? 0 : strides | sequence;
    const double ends_within = 1.0 - (double)alignment_of(ends * c->elem_bytes) / LINE;
    n[CUTT_CPU_COUNT_PARTS] = (within + ends_within) * runs / (t->chain > 0 ? (double)t->extent[0] : 1.0);
    if (t->along) n[CUTT_CPU_COUNT_ENDS] = runs * within;
  }
  n[CUTT_CPU_COUNT_TILES] = volume / tile;
  /* L2 has a tile, the next one and what they wait beside; other guests of the core may use it, too. */
  const double eighth = (double)machine->l2_bytes / 8, beyond = tile * w / eighth - 1;
  if (!t->along && beyond > 0) n[CUTT_CPU_COUNT_LARGE] = bytes / LINE * (beyond < 1 ? beyond : 1);
  if (t->along) {
    /* Columns that are joined to the next ones and take several tiles: a part costs more than one of a run that stands alone. Hardly
     * any of it is waited for where the input is read from one end to the other; L1 has to hold such a tile, the next one, and what is
     * written. */
    const bool in_order = reads_in_order(c, t);
    n[CUTT_CPU_COUNT_COLUMNS] = (in_order ? 0.1 : t->chain > t->rows ? 2.0 : 1.0) * volume / (double)t->rows;
    if (in_order && cutt_cpu_asks_for_next_rows(machine->vector_bytes, c->elem_bytes, t->cols * c->elem_bytes)) {
      if (t->rows < 4 * (LINE / c->elem_bytes)) n[CUTT_CPU_COUNT_LARGE] = 2 * bytes / LINE; /* one pass: too late */
    } else if (in_order) {
      const double third = (double)machine->l1_bytes / 3, more = tile * w / third - 1;
      n[CUTT_CPU_COUNT_LARGE] = more > 0 ? bytes / LINE * (more < 2 ? more : 2) : 0;
    }
    n[CUTT_CPU_COUNT_RELOADS_L2] = loaded_again_along(c, t) + carried_far(c, t, machine);
    const cutt_cpu_along_term term = cutt_cpu_along_term_of(c, t, t->prefetch);
    /* Of one row again and again the columns are filled, each in a place of its own, with hardly anything to be read between. */
    const double times = term.times * (is_one_row(c, t) ? far_filled : 1.0);
    n[term.lines] = times * bytes / LINE;
    n[term.lines + 1] = times * cutt_cpu_stretches(c, t);
    n[CUTT_CPU_COUNT_RUNS] = 0;
    /* So much of each row is read at a time that little of the next ones is under way when the row ends. */
    const double lacks = 1.0 - (double)(t->cols * c->elem_bytes) / LONG_ROW;
    if (lacks > 0) n[CUTT_CPU_COUNT_SHORT_ROWS] = volume / (double)t->cols * lacks;
    const column_runs runs = runs_of_column(c, t);
    n[CUTT_CPU_COUNT_FLUSHES] = gaps ? volume / (double)t->rows : parts_of_lines(c, &runs);
    n[CUTT_CPU_COUNT_FLUSHES] += short_ends * short_runs(c, t, &runs);
    return;
  }
  if (t->joins) {
    const bool near = (t->prefetch == CUTT_CPU_TO_L1) != cutt_cpu_asks_into_l1(c, t, machine);
    n[near ? CUTT_CPU_COUNT_JOINED_NEAR : CUTT_CPU_COUNT_JOINED] = bytes / LINE;
    /* The line in which a run of the tile begins is carried to it from the tile before: half of what a join takes. */
    n[CUTT_CPU_COUNT_JOINS] = volume / (double)(t->shared_run * t->repeats) + 0.5 * volume / (double)t->run;
    if (t->repeats > 1) { /* hardly any input, for which lines, tiles and runs wait */
      n[CUTT_CPU_COUNT_JOINED] *= filled;
      n[CUTT_CPU_COUNT_JOINED_NEAR] *= filled;
      n[CUTT_CPU_COUNT_RUNS] = n[CUTT_CPU_COUNT_JOINS] * LINE / (double)(t->shared_run * t->repeats * c->elem_bytes);
      n[CUTT_CPU_COUNT_WASTE] = n[CUTT_CPU_COUNT_TILES] = 0;
    }
    return;
  }
  if (t->non_temporal) {
    const bool into_l1 = cutt_cpu_asks_into_l1(c, t, machine);
    if (t->prefetch == CUTT_CPU_TO_L2) n[CUTT_CPU_COUNT_TO_L2] = bytes / LINE;
    if ((t->prefetch == CUTT_CPU_TO_L1) != into_l1) n[CUTT_CPU_COUNT_TO_L1] = bytes / LINE;
  }
  /* A staged run goes to an output with gaps part of a line by part of a line, where prefetchers begin anew with each run. */
  const bool spread = t->run_stride > 1 && t->shared_run == 1;
  const double anew = !spread                        ? 1
                      : !t->direct                   ? with_gaps
                      : cutt_cpu_fits_l2(machine, c) ? one_by_one_near
                                                     : one_by_one;
  n[CUTT_CPU_COUNT_FLUSHES] = anew * volume / (double)t->run;
  if (t->run_stride > 1 && t->shared_run > 1)
    n[CUTT_CPU_COUNT_FLUSHES] += with_gaps_by_call * volume / (double)t->shared_run;
  /* A scale makes a transpose with non-temporal stores go through the stage after all. The fit did not count that, and
   * the counts have to match the fit. */
  const bool direct = t->direct || t->shifts;
  if (t->kernel == CUTT_CPU_TRANSPOSE) {
    /* What is staged leaves by one call for all columns of a step, where it is moved as it is: short runs of narrow elements, which
     * nothing else does as fast, are done with by that. Of data in L2 it counts for nothing. */
    if (!direct && !t->non_temporal && !c->scale.active && t->run_stride == 1 && c->elem_bytes <= 2 &&
        t->run * c->elem_bytes <= LINE && !cutt_cpu_fits_l2(machine, c))
      n[CUTT_CPU_COUNT_FLUSHES] *= short_of_many;
    const int64_t rows = t->block_rows, columns = 16 / c->elem_bytes;
    const int64_t down = t->few ? 1 : (t->rows + rows - 1) / rows, across = blocks_across(t, !direct, columns);
    const double blocks =
        (double)down * (double)across * (double)t->inners * (double)t->segments * n[CUTT_CPU_COUNT_TILES];
    const bool lines = t->reads_lines && smaller(t->cols, t->steps_cols) * c->elem_bytes >= LINE;
    n[lines ? CUTT_CPU_COUNT_WHOLE : CUTT_CPU_COUNT_LOADS] = blocks * (double)rows;
    n[CUTT_CPU_COUNT_VECTORS] = blocks * (double)columns;
    n[CUTT_CPU_COUNT_BLOCKS] = volume / (double)(t->rows * (t->cols_inside ? t->cols : t->steps_cols));
    if (t->segments > 1) n[CUTT_CPU_COUNT_BLOCKS] *= apart_calls;
    if (t->few) { /* a call for all of a run; a permute for each pair of registers, and a store */
      const int registers = cutt_cpu_few_registers(t->rows, c->elem_bytes), pairs = (registers + 1) / 2;
      n[CUTT_CPU_COUNT_LOADS] = blocks * 4 * registers;
      n[CUTT_CPU_COUNT_VECTORS] = blocks * registers * pairs;
      n[CUTT_CPU_COUNT_BLOCKS] = 0;
    }
  } else if (t->kernel == CUTT_CPU_WINDOW) {
    n[windows_follow(c, t, machine) ? CUTT_CPU_COUNT_WINDOWS_NEAR : CUTT_CPU_COUNT_WINDOWS] =
        bytes / cutt_cpu_window_vector(machine->vector_bytes) * cutt_cpu_windows_estimate(c, t, machine->vector_bytes) *
        (ends_within_vectors(c, t, machine) ? unlike : 1.0);
    n[CUTT_CPU_COUNT_GATHER_LINES] = bytes / LINE;
  } else if (t->turned > 0) { /* a load has `turned` runs, and a vector has four from each of its loads */
    n[CUTT_CPU_COUNT_LOADS] = volume / (double)(t->shared_run * t->turned);
    n[CUTT_CPU_COUNT_VECTORS] = volume / (double)(t->shared_run * 4 * t->turned);
    n[CUTT_CPU_COUNT_GATHER_LINES] = bytes / LINE;
  } else {
    if (t->repeats > 1 && t->repeats == t->rows && t->split_k < 0 && t->direct && !t->non_temporal)
      n[CUTT_CPU_COUNT_FLUSHES] = n[CUTT_CPU_COUNT_TILES]; /* a call for all of a tile's */
    if (t->repeats > 1) {                                  /* elements that are read once each */
      n[CUTT_CPU_COUNT_RUNS] /= (double)t->repeats;
      n[CUTT_CPU_COUNT_WASTE] = 0;
    }
    n[CUTT_CPU_COUNT_GATHERS] = (t->repeats > 1 ? again_runs : 1) * volume / (double)(t->shared_run * t->repeats);
    if (t->by_segments) { /* and two tables */
      n[CUTT_CPU_COUNT_FLUSHES] *= by_segments;
      n[CUTT_CPU_COUNT_GATHERS] *= 2;
    } else if (t->direct && t->segments > 1 && t->run_stride == 1 && t->repeats == 1 && t->in_step == 0) {
      n[CUTT_CPU_COUNT_FLUSHES] *= 2; /* and that takes more than going on with a tile's run */
    }
    if (t->skips) { /* whole vectors, as windows that follow one another, but by permutes that are always the same */
      const double share = machine->vector_bytes >= 64 ? 0.5 : 0.7;
      n[CUTT_CPU_COUNT_GATHERS] = 0;
      /* Each call begins with its permutes and ends with a part of a vector, which in L2 takes as long again as a run. */
      if (cutt_cpu_fits_l2(machine, c)) n[CUTT_CPU_COUNT_FLUSHES] *= 2;
      n[CUTT_CPU_COUNT_WINDOWS_NEAR] = share * bytes / LINE * (double)(apart - 1);
    } else if (t->in_step != 0 && !t->non_temporal) { /* two and more in a store */
      n[CUTT_CPU_COUNT_GATHERS] /= 2;
    }
    n[CUTT_CPU_COUNT_GATHER_LINES] = bytes / LINE;
  }
  /* Where less than a line is read of a row at a time, the line may have left the cache before the rest is read. Rows
   * whose distance is a multiple of a large power of two share few of a cache's sets. */
  const int64_t step = direct ? t->steps_cols : t->staged_cols;
  const int64_t at_once = t->turned > 0                                    ? t->turned * t->shared_run * c->elem_bytes
                          : t->kernel != CUTT_CPU_TRANSPOSE                ? t->shared_run * c->elem_bytes
                          : t->collected                                   ? step * c->elem_bytes
                          : t->shifts || t->follows || t->strip >= t->rows ? LOAD
                                                                           : step * c->elem_bytes;
  const row_lines rows = lines_of_rows(c, t);
  const bool read_once = (t->rows_collide && t->reads_lines) || t->collected;
  if (t->kernel != CUTT_CPU_TRANSPOSE) {
    n[CUTT_CPU_COUNT_RELOADS_L2] = n[CUTT_CPU_COUNT_TILES] * lines_lost(c, t, machine);
  } else if (!read_once) {
    n[CUTT_CPU_COUNT_RELOADS_L2] = loaded_again(c, t, machine, &rows);
  }
  if (at_once < LINE && (rows.runs > cutt_cpu_cache_holds(machine->l2_bytes, CUTT_CPU_L2_WAYS, rows.distance) ||
                         rows.lines > cutt_cpu_cache_holds(machine->l2_bytes, CUTT_CPU_L2_WAYS, LINE)))
    n[CUTT_CPU_COUNT_RELOADS] = bytes / (double)at_once - bytes / LINE;
  /* What is staged, what it comes from and what is prefetched meanwhile are in L1 together, or leave it. */
  const int64_t staged =
      direct ? 0 : t->run * (t->cols_inside ? t->apart : smaller(t->staged_cols, t->cols)) * c->elem_bytes;
  const int together = t->prefetch == CUTT_CPU_TO_L1 ? 3 : 2;
  if (t->run_stride > 1 && !c->scale.active) count_spread(c, t, machine, n);
  if (t->kernel == CUTT_CPU_TRANSPOSE)
    n[CUTT_CPU_COUNT_RELOADS_L2] +=
        bytes / LINE * share_lost((double)(staged * together), (double)machine->l1_bytes / 2);
  /* A staged output run that is added to is read when it is written, and its beginning waited for. */
  if (c->scale.reads_out && !t->scales) n[CUTT_CPU_COUNT_PARTS] += volume / (double)t->run;
  if (rows.runs > TLB_ENTRIES) n[CUTT_CPU_COUNT_PAGES] = bytes / LINE;
  if (rows.runs > 16) n[CUTT_CPU_COUNT_SPREAD] = bytes / LINE * log2_of(rows.runs / 16);
  /* Lines in which columns meet are kept until both are known: about a quarter of what a stage takes. */
  n[CUTT_CPU_COUNT_STAGED] = !direct        ? bytes / LINE
                             : t->collected ? 0.5 * bytes / LINE
                             : t->follows   ? 0.25 * bytes / LINE
                                            : 0;
}

int64_t cutt_cpu_most_cached(const cutt_canonical *c, const cutt_cpu_machine *machine) {
  enum { FEW = 8 };
  int64_t read = 1;
  for (int i = 0; i < c->rank; ++i)
    if (c->mode[i].in_stride != 0) read *= c->mode[i].extent;
  if (read > c->volume / FEW) return machine->stream_bytes;
  return larger(machine->stream_bytes, smaller(cutt_most_cached(machine->stream_bytes), machine->l3_bytes / 2));
}

void cutt_cpu_cost(const cutt_canonical *c, const cutt_candidate *candidate, const cutt_cpu_tile *t,
                   const cutt_cpu_machine *machine, cutt_breakdown *cost) {
  double *n = cost->part;
  cutt_cpu_count(c, t, machine, n);
  const double bytes = (double)c->volume * c->elem_bytes;
  const int level = cutt_cpu_fits_l2(machine, c)                              ? CUTT_CPU_IN_L2
                    : cutt_cpu_touched(c) <= cutt_cpu_most_cached(c, machine) ? CUTT_CPU_IN_L3
                                                                              : CUTT_CPU_IN_MEMORY;
  if (level == CUTT_CPU_IN_L3 && !t->non_temporal && t->prefetch == CUTT_CPU_TO_L1 && t->kernel != CUTT_CPU_COPY)
    n[CUTT_CPU_COUNT_TO_L1] = bytes / LINE; /* which hardware prefetchers may do */
  if (level == CUTT_CPU_IN_MEMORY && !t->non_temporal)
    n[CUTT_CPU_COUNT_LINES] += bytes / LINE; /* output lines are read before they are written */
  /* An output that is added to is read where it is written: run after run as the prefetchers follow it, or, of several segments, each in
   * another place. */
  if (level == CUTT_CPU_IN_MEMORY && c->scale.reads_out && t->kernel != CUTT_CPU_COPY && t->segments > 1)
    n[CUTT_CPU_COUNT_LARGE] += 3 * bytes / LINE;
  int64_t positions, length;
  const int64_t parts = cutt_cpu_parts(c, t, candidate->threads, &positions, &length);
  if (parts > 1 &&
      t->kernel != CUTT_CPU_COPY) { /* each begins and ends within lines, and no chain goes on in the next one */
    const double more = (double)parts * (t->chain > 0 ? (double)t->extent[0] : 1.0);
    n[CUTT_CPU_COUNT_PARTS] *= more;
    n[CUTT_CPU_COUNT_ENDS] *= (double)parts;
  }
  /* Threads that have nothing to do, as there are fewer items than threads or as the last ones are shared by few, save nothing. */
  const int64_t threads = candidate->threads < 1 ? 1 : candidate->threads, items = positions * parts;
  const int64_t most = (items + threads - 1) / threads; /* that one thread has */
  const double at_work = t->kernel == CUTT_CPU_COPY || items < 1 ? (double)threads : (double)items / (double)most;
  const double share = 1e-9 / at_work;
  cost->first = level * CUTT_CPU_COUNTS;
  cost->count = CUTT_CPU_COUNTS;
  cost->memory = cost->work = 0;
  for (int i = 0; i < CUTT_CPU_COUNT_STARTS; ++i) n[i] *= share;
  n[CUTT_CPU_COUNT_STARTS] = candidate->threads > 1 ? 0 : 1e-9;
  n[CUTT_CPU_COUNT_FORKS] = candidate->threads > 1 ? 1e-9 : 0;
}

double cutt_cpu_seconds(const cutt_canonical *c, const cutt_candidate *candidate, const cutt_cpu_tile *t,
                        const cutt_cpu_machine *machine) {
  cutt_breakdown cost;
  cutt_cpu_cost(c, candidate, t, machine, &cost);
  return cutt_breakdown_seconds(&cost, machine->base.value);
}
