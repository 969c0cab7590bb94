/* How a permutation of arrays in chunks is cut; see cut.h.
 *
 * Stretches are of no matter where a chunk is read or written whole. From the whole array, the mode is halved, again and
 * again, for which that costs least, until a piece fits. */
#include <string.h>

#include "cli/pieces/box.h"
#include "cli/pieces/cut.h"

/* As in cut.c: what a stretch, or the file of a chunk, costs beside its bytes, and a piece. */
static const double stretch_cost = 16e3, chunk_cost = 64e3, piece_cost = 64e3;

typedef struct side {
  const int64_t *chunk; /* NULL: packed */
  int order[CUTT_MAX_RANK];
} side;

static int64_t parts_of(int64_t extent, int64_t part) { return (extent + part - 1) / part; }

/* Bytes of a stretch of a packed side. */
static int64_t run_of(const cutt_cut_problem *p, const side *s, const int64_t *box) {
  int64_t run = p->elem_bytes;
  for (int i = 0; i < p->rank; ++i) {
    run *= box[s->order[i]];
    if (box[s->order[i]] != p->extents[s->order[i]]) break;
  }
  return run;
}

/* How often chunks are met along a mode: once each, where boxes are made of whole ones. */
static double meetings(int64_t extent, int64_t box, int64_t chunk) {
  if (box % chunk == 0 || box >= extent) return (double)parts_of(extent, chunk);
  const double boxes = (double)parts_of(extent, box), each = (double)box / (double)chunk;
  return boxes * (each + 1.0) < (double)extent ? boxes * (each + 1.0) : (double)extent;
}

/* Bytes that a side moves, and what they cost. */
static double moved(const cutt_cut_problem *p, const side *s, const int64_t *box, double *cost) {
  double bytes = p->elem_bytes, files = 1.0;
  for (int i = 0; i < p->rank; ++i) {
    const double count = s->chunk ? meetings(p->extents[i], box[i], s->chunk[i]) : 1.0;
    files *= count;
    bytes *= s->chunk ? count * (double)s->chunk[i] : (double)p->extents[i];
  }
  *cost = s->chunk ? bytes + files * chunk_cost : bytes * (1.0 + stretch_cost / (double)run_of(p, s, box));
  return bytes;
}

static double price(const cutt_cut_problem *p, const side *in, const side *out, const int64_t *box) {
  double read, written, pieces = 1.0;
  moved(p, in, box, &read);
  moved(p, out, box, &written);
  for (int i = 0; i < p->rank; ++i) pieces *= (double)parts_of(p->extents[i], box[i]);
  /* The first piece is read, and the last one written, while nothing else is done. */
  return read + written + pieces * piece_cost + 2.0 * (double)(cutt_box_volume(box, p->rank) * p->elem_bytes);
}

/* Half of a mode or somewhat more: whole chunks of the output, and of the input too as long as that is less than all. */
static int64_t halved(int64_t box, const side *in, const side *out, int mode) {
  const int64_t half = (box + 1) / 2, unit = out->chunk ? out->chunk[mode] : 1;
  const int64_t whole = in->chunk ? parts_of(half, in->chunk[mode]) * in->chunk[mode] : half;
  if (whole < box && whole % unit == 0) return whole;
  const int64_t rounded = parts_of(half, unit) * unit;
  return rounded < box ? rounded : box;
}

/* The mode to halve, or -1: there is none; or, where the box fits, none for which that gains. */
static int best_mode(const cutt_cut_problem *p, const side *in, const side *out, int64_t *box, bool fits) {
  int best = -1;
  double best_price = fits ? price(p, in, out, box) : 0.0;
  for (int i = 0; i < p->rank; ++i) {
    const int64_t before = box[i], after = halved(before, in, out, i);
    if (after >= before) continue;
    box[i] = after;
    double now = price(p, in, out, box);
    box[i] = before;
    /* By how much less there is of it, since chunks allow halves of some modes only. */
    if (!fits) now *= (double)after / (double)before;
    if ((fits || best >= 0) && now >= best_price) continue;
    best = i;
    best_price = now;
  }
  return best;
}

bool cutt_cut_in_chunks(const cutt_cut_problem *problem, const int64_t *in_chunk, const int64_t *out_chunk,
                        int64_t most_bytes, cutt_cut *cut, int64_t *least) {
  side in = {.chunk = in_chunk}, out = {.chunk = out_chunk};
  const int rank = problem->rank;
  int64_t *box = cut->pass[0].box;
  memset(cut, 0, sizeof *cut);
  for (int i = 0; i < rank; ++i) {
    in.order[i] = i;
    out.order[i] = problem->perm[i];
    box[i] = problem->extents[i];
  }
  for (bool fits = false;;) {
    *least = cutt_box_volume(box, rank) * problem->elem_bytes;
    fits = *least <= most_bytes;
    const int mode = best_mode(problem, &in, &out, box, fits);
    if (mode < 0 && !fits) return false;
    if (mode < 0) break;
    box[mode] = halved(box[mode], &in, &out, mode);
  }
  cut->passes = 1;
  cut->cost = price(problem, &in, &out, box);
  cut->pass[0].pieces = 1;
  for (int i = 0; i < rank; ++i) cut->pass[0].pieces *= parts_of(problem->extents[i], box[i]);
  cut->pass[0].piece_bytes = cutt_box_volume(box, rank) * problem->elem_bytes;
  double cost;
  cut->read_bytes = moved(problem, &in, box, &cost);
  cut->pass[0].in_run = in_chunk ? cutt_box_volume(in_chunk, rank) * problem->elem_bytes : run_of(problem, &in, box);
  cut->pass[0].out_run =
      out_chunk ? cutt_box_volume(out_chunk, rank) * problem->elem_bytes : run_of(problem, &out, box);
  return true;
}
