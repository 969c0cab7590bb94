/* Execution of a pass (pass.h). */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/pass.h"
#include "plan/services.h"

enum { TRANSPOSED_BYTES = 16 * 1024, WORTH_A_THREAD = 16384, APART = 64, AHEAD = 16, LINE = 64 };
enum {
  NEAR_AHEAD = 256,
  LEAST_ROW = 512,
  MOST_ROW = 2048
}; /* bytes that are asked for ahead, of a row: measured, docs/log.md */

/* A thread's part in it. */
typedef struct worker {
  const cutt_pass *pass;
  char *scratch;
  char *operands; /* where they are packed */
  /* What is packed: where it comes from, of which kind of tile, and how long its rows are. */
  const char *packed[2];
  unsigned kind[2];
  int64_t n[2];
} worker;

/* A tile: where it begins in each tensor. */
typedef struct place {
  char *at[CUTT_TENSORS];
  unsigned kind;
  int64_t n;
} place;

typedef struct execution {
  const cutt_pass *pass;
  place origin;
  /* The sums of all tiles and parts, one after the other; NULL: they are not cut. */
  char *partial;
  /* So many shares of the tiles and parts, which threads take one after the other. */
  int64_t shares;
  atomic_llong next;
  atomic_int failed;
} execution;

/* To the iteration of this number of a nest of loops. */
static void go(const cutt_pass_loop *loop, int loops, int64_t number, place *to) {
  for (int i = loops; i-- > 0;) {
    const int64_t index = number % loop[i].chunks;
    number /= loop[i].chunks;
    for (int t = 0; t < CUTT_TENSORS; ++t)
      if (to->at[t]) to->at[t] += index * loop[i].step[t];
    if (index + 1 < loop[i].chunks) continue;
    to->kind |= loop[i].ragged;
    if (loop[i].last) to->n = loop[i].last;
  }
}

/* Are rows computed up to the ends of their last cache lines? In the scratch there is room for that. */
static bool fills_lines(const cutt_pass *p) {
  const cutt_pass_shape *s = &p->shape;
  const int first = s->first == CUTT_LEFT ? 0 : 1;
  return !s->summed && !s->direct && !s->blocked && s->packed[first] &&
         (s->packed[1 - first] || s->kind != CUTT_PASS_MULTIPLY);
}

/* Zeros at the ends of rows that are to be packed: what some other call has left there might raise an exception. */
static void clear_ends(const cutt_pass_runs *runs, int64_t pitch, int64_t bytes, char *to) {
  static const char zero[LINE] = {0};
  if (bytes % LINE == 0) return;
  for (int64_t i = 0; i < runs->count; ++i)
    for (int64_t j = 0; j < runs->length; ++j) memcpy(to + runs->to[i] + j * pitch + bytes / LINE * LINE, zero, LINE);
}

static const char *pack(worker *w, const place *at, int t) {
  const cutt_pass *p = w->pass;
  if (!p->shape.packed[t]) return at->at[t];
  char *to = w->operands + p->place[t];
  if (w->packed[t] == at->at[t] && w->kind[t] == at->kind && w->n[t] == at->n) return to;
  const cutt_pass_runs *runs = &p->tiles[at->kind].runs[t];
  const int64_t n = p->shape.single[t] ? 1 : at->n;
  /* Where runs are single numbers far apart, the next ones are asked for. */
  const bool copied = p->bytes == p->number && (p->shape.single[t] || (runs->length == 1 && p->step[t] == p->bytes));
  const int64_t step = p->step[t], ahead = runs->length == 1 && llabs(step) >= APART ? smaller(n, AHEAD) : 0;
  if (!p->shape.single[t] && fills_lines(p)) clear_ends(runs, p->pitch[t], n * p->number, to);
  if (copied) p->kernels->copy(to, runs->to, at->at[t], runs->from, runs->count, n * runs->length * p->bytes);
  for (int64_t i = 0; i < runs->count && !copied; ++i) {
    const char *const next = at->at[t] + runs->from[i + 1 < runs->count ? i + 1 : i];
    for (int64_t j = 0; j < ahead; ++j) __builtin_prefetch(next + j * step);
    p->type->pack(to + runs->to[i], p->pitch[t], at->at[t] + runs->from[i], p->step[t], n, runs->length);
  }
  w->packed[t] = at->at[t];
  w->kind[t] = at->kind;
  w->n[t] = at->n;
  return to;
}

/* How far dot products ask ahead, whose rows have n numbers: far, where that is faster even if all is read in order; else, where short rows
 * are summed, of which the next ones are read so soon that a processor does not fetch them unasked in time. */
static int64_t asks_ahead(const cutt_pass *p, int first, int64_t n) {
  if (!p->shape.summed || p->shape.packed[first]) return 0;
  if (p->asks_in_order) return CUTT_PASS_AHEAD;
  const int64_t row = n * p->bytes;
  return p->shape.kind == CUTT_PASS_ADD && row >= LEAST_ROW && row <= MOST_ROW ? NEAR_AHEAD : 0;
}

/* What the kernels are told of a tile: of its sums, to D or to `sums`. */
static cutt_pass_tile describe(worker *w, const place *at, char *sums, bool adds) {
  const cutt_pass *p = w->pass;
  const cutt_pass_shape *s = &p->shape;
  const cutt_pass_tiles *tiles = &p->tiles[at->kind];
  const int first = s->first == CUTT_LEFT ? 0 : 1, second = s->kind == CUTT_PASS_ADD ? first : 1 - first;
  return (cutt_pass_tile){.operand = {pack(w, at, first), pack(w, at, second)},
                          .row = {tiles->row[first], tiles->row[second]},
                          .term = {tiles->term[first], tiles->term[second]},
                          .rows = tiles->rows,
                          .terms = tiles->terms,
                          .n = at->n,
                          .out = s->direct ? at->at[CUTT_RESULT] : sums,
                          .pitch = p->pitch[CUTT_RESULT],
                          .group = tiles->group,
                          .each = tiles->each,
                          .out_row = s->direct                 ? tiles->row[CUTT_RESULT]
                                     : cutt_pass_lists_rows(s) ? tiles->sum_row
                                                               : NULL,
                          .room = !s->direct && !s->blocked && !s->summed,
                          .may_ask = {p->asks_in_order && !s->packed[first], p->asks_in_order && !s->packed[second]},
                          .ask_bytes = asks_ahead(p, first, at->n),
                          .in_order = s->in_order,
                          .adds = adds,
                          .conjugate = {p->conjugate[0], p->conjugate[1]}};
}

/* What a tile reads of an operand that has one number for each row and term, as it lies in memory. */
static cutt_cpu_ahead reads_of(const cutt_pass *p, const place *at, int t) {
  const cutt_pass_runs *runs = &p->tiles[at->kind].runs[t];
  return (cutt_cpu_ahead){.base = at->at[t],
                          .start = runs->from,
                          .runs = runs->count,
                          .bytes = runs->length * p->bytes,
                          .to = CUTT_CPU_TO_L2};
}

/* Are there terms that lie further apart than rows, with enough between them? piece: bytes of a row's term. */
static bool are_worth_ordering(const cutt_pass_tiles *tiles, int64_t piece) {
  enum { LEAST_PIECE = LINE, LEAST_BLOCK = 8 * LINE };
  const int64_t row = tiles->inner * piece;
  return tiles->inside > 1 && tiles->inner < tiles->terms && row >= LEAST_PIECE && tiles->inside * row >= LEAST_BLOCK;
}

/* Dot products with such terms: some rows' first ones, then their next ones, as they follow each other in memory. */
static void add_up_in_order(const cutt_pass *p, const cutt_pass_tile *tile, int64_t inside, int64_t inner) {
  for (int64_t row = 0; row < tile->rows; row += inside) {
    for (int64_t term = 0; term < tile->terms; term += inner) {
      cutt_pass_tile some = *tile;
      for (int t = 0; t < 2; ++t) {
        some.row[t] += row;
        some.term[t] += term;
      }
      some.rows = inside;
      some.terms = inner;
      if (tile->out_row)
        some.out_row += row;
      else
        some.out += row * tile->pitch;
      some.adds = tile->adds || term;
      p->add_up(&some);
    }
  }
}

/* The sums of a tile over one part of the summed modes: to D, or to `sums`, or added to what is there. next: the tile of which is asked
 * meanwhile for what it reads of the second operand; NULL: none. */
static void add_up(worker *w, const place *at, const place *next, char *sums, bool adds) {
  const cutt_pass *p = w->pass;
  cutt_pass_tile tile = describe(w, at, sums, adds);
  if (p->shape.blocked) {
    const int second = p->shape.first == CUTT_LEFT ? 1 : 0;
    if (next && next->at[second] != at->at[second]) tile.ahead = reads_of(p, next, second);
    p->type->blocks(&tile);
    return;
  }
  const cutt_pass_tiles *tiles = &p->tiles[at->kind];
  if (p->shape.terms_apart && are_worth_ordering(tiles, at->n * p->bytes)) {
    add_up_in_order(p, &tile, tiles->inside, tiles->inner);
    return;
  }
  if (fills_lines(p)) tile.n = cutt_round_up(at->n * p->number, LINE) / p->number;
  p->add_up(&tile);
}

/* Rows of D that follow each other in memory, without the mode along: where they are there, and in the scratch. */
typedef struct run {
  int64_t to, from, length;
} run;

static run run_of(const cutt_pass *p, const cutt_pass_tiles *tiles, int64_t number) {
  const cutt_pass_runs *runs = &tiles->runs[CUTT_RESULT];
  const int64_t length = p->shape.summed || p->shape.packed[CUTT_RESULT] ? runs->length : 1;
  if (cutt_pass_lists_rows(&p->shape)) return (run){runs->from[number], runs->to[number], length};
  return (run){tiles->row[CUTT_RESULT][number * length], number * length * p->pitch[CUTT_RESULT], length};
}

/* Runs from one on that follow each other in D, and in the scratch: of which D has the elements along the mode next to each
 * other. */
static int64_t runs_together(const cutt_pass *p, const place *at, int64_t number, int64_t count) {
  const cutt_pass_tiles *tiles = &p->tiles[at->kind];
  const run first = run_of(p, tiles, number);
  const int64_t bytes = at->n * p->bytes, own = at->n * p->number;
  int64_t more = 1;
  if (p->shape.summed || own != p->pitch[CUTT_RESULT]) return 1;
  for (; number + more < count; ++more) {
    const run next = run_of(p, tiles, number + more);
    if (next.to != first.to + more * bytes || next.from != first.from + more * own) break;
  }
  return more;
}

/* D where its elements along the mode do not follow each other: by runs of rows that do. */
static void finish_transposed(const cutt_pass *p, const place *at, const run *r, const char *sums, char *room) {
  const int64_t bytes = r->length * p->number, most = TRANSPOSED_BYTES / bytes;
  const bool plain = p->scalars.alpha_is_one && !p->scalars.reads && p->bytes == p->number;
  char *to = at->at[CUTT_RESULT] + r->to;
  if (plain) {
    p->type->transpose(to, p->step[CUTT_RESULT], sums + r->from, p->pitch[CUTT_RESULT], r->length, at->n);
    return;
  }
  for (int64_t i = 0; i < at->n; i += most) {
    const int64_t n = smaller(most, at->n - i);
    p->type->transpose(room, bytes, sums + r->from + i * p->number, p->pitch[CUTT_RESULT], r->length, n);
    for (int64_t j = 0; j < n; ++j)
      p->type->finish(to + (i + j) * p->step[CUTT_RESULT], room + j * bytes, r->length, &p->scalars);
  }
}

static void finish(const cutt_pass *p, const place *at, char *sums, char *room) {
  const cutt_pass_tiles *tiles = &p->tiles[at->kind];
  const int64_t count = tiles->rows / run_of(p, tiles, 0).length;
  for (int64_t i = 0, runs; i < count; i += runs) {
    const run r = run_of(p, tiles, i);
    runs = 1;
    if (p->shape.packed[CUTT_RESULT]) {
      finish_transposed(p, at, &r, sums, room);
      continue;
    }
    runs = runs_together(p, at, i, count);
    char *to = at->at[CUTT_RESULT] + r.to, *from = sums + r.from;
    const int64_t n = p->shape.summed ? r.length : runs * at->n;
    if (!p->shape.streams) {
      p->type->finish(to, from, n, &p->scalars);
      continue;
    }
    if (!p->scalars.alpha_is_one) p->type->finish(from, from, n, &p->scalars);
    p->kernels->stream(to, from, n * p->number);
  }
}

/* Rows that are written past the caches begin and end with a part of a cache line each, which is read before it is written. It is
 * asked for before the row is computed, since stores past the caches wait for all that come before them. */
static void expect_edges(const cutt_pass *p, const place *at) {
  const cutt_pass_tiles *tiles = &p->tiles[at->kind];
  for (int64_t i = 0, runs; i < tiles->rows; i += runs) {
    const char *to = at->at[CUTT_RESULT] + run_of(p, tiles, i).to;
    runs = runs_together(p, at, i, tiles->rows);
    __builtin_prefetch(to, 1);
    __builtin_prefetch(to + runs * at->n * p->bytes - 1, 1);
  }
}

/* Whole sums that are written past the caches, a piece at a time: where much is read and then as much is written, neither of the two
 * has all that memory gives. Pieces end with cache lines. */
static void stream_pieces(worker *w, const place *at, char *sums) {
  const cutt_pass *p = w->pass;
  const cutt_pass_tiles *tiles = &p->tiles[at->kind];
  const int64_t bytes = p->bytes;
  const cutt_pass_tile whole = describe(w, at, sums, false);
  const int64_t step[2] = {bytes, p->shape.kind == CUTT_PASS_MULTIPLY ? bytes : 0};
  for (int64_t r = 0, rows; r < tiles->rows; r += rows) {
    rows = smaller(p->piece_rows, tiles->rows - r);
    char *const to = at->at[CUTT_RESULT] + tiles->row[CUTT_RESULT][r];
    const int64_t lead = (int64_t)((uintptr_t)to % LINE);
    for (int64_t i = 0, n; i < at->n; i += n) {
      n = p->piece_rows > 1 ? at->n : smaller((CUTT_PASS_PIECE - (i ? 0 : lead)) / bytes, at->n - i);
      cutt_pass_tile piece = whole;
      piece.rows = rows;
      piece.n = n;
      for (int k = 0; k < 2; ++k) {
        piece.operand[k] += i * step[k];
        piece.row[k] += r;
      }
      p->add_up(&piece);
      for (int64_t row = 0; row < rows; ++row) {
        char *const from = sums + row * p->pitch[CUTT_RESULT], *const d = at->at[CUTT_RESULT] +
                                                                          tiles->row[CUTT_RESULT][r + row] + i * bytes;
        if (!p->scalars.alpha_is_one) p->type->finish(from, from, n, &p->scalars);
        if (lead % bytes == 0) {
          p->kernels->stream(d, from, n * bytes);
        } else { /* elements go across the ends of lines, and so do pieces */
          memcpy(d, from, (size_t)(n * bytes));
        }
      }
    }
  }
}

static place tile_of(const execution *e, int64_t item) {
  place at = e->origin;
  go(e->pass->loop, e->pass->loops, item, &at);
  return at;
}

/* The tile of operands that a thread goes on with after the i-th one of an item (do_item) whose last one is before `end`. */
static place tile_after(const execution *e, int64_t number, int64_t i, int64_t end) {
  const cutt_pass *p = e->pass;
  const int64_t then = i + 1 < end ? number : number + 1;
  place at = tile_of(e, then / p->parts);
  go(p->loop + p->loops, p->sums, then == number ? i + 1 : p->additions * (then % p->parts) / p->parts, &at);
  return at;
}

/* A tile of D, or one part of the sums of one. last: the same thread does none after it. */
static void do_item(const execution *e, worker *w, int64_t number, bool last) {
  const cutt_pass *p = e->pass;
  const int64_t item = number / p->parts, part = number % p->parts;
  const int64_t begin = p->additions * part / p->parts, end = p->additions * (part + 1) / p->parts;
  const place tile = tile_of(e, item);
  char *sums = e->partial ? e->partial + number * p->sums_bytes : w->scratch + p->place[CUTT_RESULT];
  if (p->shape.streams && !p->shape.blocked && p->additions == 1) {
    stream_pieces(w, &tile, sums);
    return;
  }
  if (p->shape.streams) expect_edges(p, &tile);
  for (int64_t i = begin; i < end; ++i) {
    place at = tile, next;
    go(p->loop + p->loops, p->sums, i, &at);
    const bool asks = p->shape.asks && (i + 1 < end || !last);
    if (asks) next = tile_after(e, number, i, end);
    add_up(w, &at, asks ? &next : NULL, sums, i > begin);
  }
  if (!e->partial && !p->shape.direct) {
    place at = tile;
    if (p->shape.summed) at.n = 1;
    finish(p, &at, sums, w->scratch);
  }
}

static void work_on(execution *e, worker *w) {
  const cutt_pass *p = e->pass;
  const int64_t items = p->items * p->parts, each = items / e->shares, more = items % e->shares;
  for (int64_t i; (i = atomic_fetch_add(&e->next, 1)) < e->shares;) {
    const int64_t begin = each * i + smaller(i, more), end = begin + each + (i < more);
    for (int64_t item = begin; item < end; ++item) do_item(e, w, item, item + 1 == end);
  }
  if (p->shape.streams) p->kernels->fence();
}

static void work(void *what, int me, int team) {
  execution *e = what;
  const cutt_pass *p = e->pass;
  (void)me, (void)team;
  const bool more = p->shape.blocked;
  worker w = {.pass = p, .scratch = cutt_scratch_take()};
  w.operands = more ? cutt_scratch_take() : w.scratch;
  if (w.scratch && w.operands)
    work_on(e, &w);
  else
    atomic_store(&e->failed, 1);
  if (more && w.operands) cutt_scratch_give(w.operands);
  if (w.scratch) cutt_scratch_give(w.scratch);
}

/* Adds the parts of each sum, in order, and finishes. Sums that are single numbers lie next to each other, and are added as one row; what
 * a shorter tile leaves between them is 0, and never used. */
static void join(const execution *e, char *room) {
  const cutt_pass *p = e->pass;
  static const int64_t zero[1] = {0};
  const bool in_one = p->shape.summed;
  for (int64_t item = 0; item < p->items; ++item) {
    place at = tile_of(e, item);
    if (p->shape.summed) at.n = 1;
    const cutt_pass_tiles *tiles = &p->tiles[at.kind];
    char *sums = e->partial + item * p->parts * p->sums_bytes;
    for (int64_t part = 1; part < p->parts; ++part) {
      const cutt_pass_tile tile = {.operand = {sums + part * p->sums_bytes, sums},
                                   .row = {tiles->sum_row, tiles->sum_row},
                                   .term = {zero, zero},
                                   .rows = in_one ? 1 : tiles->rows,
                                   .terms = 1,
                                   .each = 1,
                                   .n = in_one ? p->sums_bytes / p->number : at.n,
                                   .out = sums,
                                   .out_row = tiles->sum_row,
                                   .adds = true};
      p->join(&tile);
    }
    finish(p, &at, sums, room);
  }
}

cuttResult cutt_pass_run(const cutt_pass *p, const unsigned char *left, const unsigned char *right,
                         /* NOLINTNEXTLINE(readability-non-const-parameter): it is written to, by way of a struct */
                         unsigned char *result) {
  if (p->combination) {
    void *tensor[CUTT_MOST_TENSORS];
    cutt_combination_tensors(p->combination, left, right, result, tensor);
    return cutt_elementwise_run(p->combination, tensor);
  }
  execution e = {.pass = p, .origin = {{(char *)(uintptr_t)left, (char *)(uintptr_t)right, (char *)result}, 0, p->n}};
  const int64_t items = p->items * p->parts;
  char *room = NULL;
  if (p->parts > 1) {
    e.partial = cutt_scratch_take();
    room = cutt_scratch_take();
  }
  bool failed = p->parts > 1 && (!e.partial || !room);
  if (!failed) {
    const int64_t most = 8 * (int64_t)p->threads;
    if (e.partial && p->shape.summed) memset(e.partial, 0, (size_t)(items * p->sums_bytes)); /* see join */
    e.shares = smaller(items, most);
    cutt_team_run((int)smaller((int64_t)p->threads, items), work, &e);
    failed = atomic_load(&e.failed);
  }
  if (!failed && e.partial) {
    join(&e, room);
    if (p->shape.streams) p->kernels->fence();
  }
  if (e.partial) cutt_scratch_give(e.partial);
  if (room) cutt_scratch_give(room);
  return failed
             ? cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes of scratch for each thread", CUTT_SCRATCH_BYTES)
             : CUTT_SUCCESS;
}
