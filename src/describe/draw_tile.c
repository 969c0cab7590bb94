/* The tile of a plan's choice over memory: what it covers, what has to be moved for that, and both in words. draw.c and
 * draw_svg.c draw it.
 *
 * The tile is the one at position 0 of every mode. Its elements are runs of memory on either side: the modes nearest to
 * each other that the tile has whole are one run, and the other modes say where the next run begins. Memory moves in
 * sectors, so that a run which does not fill them moves bytes that the tile does not use. A sector that two runs following one
 * another touch is counted once. */
#include "describe/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "describe/describe.h"

enum { LOOKED_AT = 65536 }; /* runs, at most, for what is used of what is moved */

/* --------------------------------------------------------------------------------------------------------- geometry */

/* value / sector, downwards. */
static int64_t floor_of(int64_t value, int64_t sector) { return value / sector - (value % sector < 0 ? 1 : 0); }

/* Where the n-th run begins. */
static int64_t place_of(const cutt_runs *r, int64_t n) {
  int64_t place = r->start;
  for (int i = 0; i < r->modes; ++i) {
    place += n % r->extent[i] * r->step[i];
    n /= r->extent[i];
  }
  return place;
}

static void count_sectors(cutt_runs *r, int64_t sector) {
  const int64_t count = r->count < LOOKED_AT ? r->count : LOOKED_AT;
  int64_t begin_before = 0, end_before = 0;
  r->used = r->moved = 0;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t begin = place_of(r, n), end = begin + r->bytes;
    const int64_t first = floor_of(begin, sector), last = floor_of(end - 1, sector), sectors = last - first + 1;
    if (n == 0 || sectors < r->least) r->least = sectors;
    if (n == 0 || sectors > r->most) r->most = sectors;
    /* Runs come in the order of memory but for odd strides, which are taken as if they met nothing. */
    const bool follows = n > 0 && begin >= begin_before;
    const int64_t fresh = follows && begin < end_before ? end_before : begin;
    int64_t from = first;
    if (follows && floor_of(end_before - 1, sector) >= from) from = floor_of(end_before - 1, sector) + 1;
    if (end > fresh) r->used += (double)(end - fresh);
    if (last >= from) r->moved += (double)(last - from + 1) * (double)sector;
    begin_before = begin;
    if (!follows || end > end_before) end_before = end;
  }
  if (r->used > r->moved) r->used = r->moved;
}

cutt_laid cutt_draw_lay(const cutt_drawing *d, const cutt_runs *r, int64_t n) {
  const int64_t sector = d->explanation.sector_bytes, place = place_of(r, n);
  const int64_t first = floor_of(place, sector), last = floor_of(place + r->bytes - 1, sector);
  return (cutt_laid){place, (uint64_t)(place - first * sector), (uint64_t)(last - first) + 1};
}

uint64_t cutt_draw_covered(const cutt_runs *r, const cutt_laid *laid, uint64_t low, uint64_t high) {
  const uint64_t begin = laid->lead, end = begin + (uint64_t)r->bytes;
  const uint64_t from = low > begin ? low : begin, to = high < end ? high : end;
  return to > from ? to - from : 0;
}

static void find_runs(const cutt_drawing *d, bool input, cutt_runs *r) {
  const cutt_canonical *c = &d->plan->canonical;
  int64_t length = 1;
  *r = (cutt_runs){.start = input ? c->in_start : c->out_start, .count = 1, .repeats = 1};
  for (int i = 0; i < c->rank; ++i) {
    const int j = input ? i : c->out_order[i];
    const int64_t extent = d->explanation.tile[j], stride = input ? c->mode[j].in_stride : c->mode[j].out_stride;
    const int64_t apart = magnitude(stride);
    if (extent < 2) continue;
    if (stride < 0) r->start += (extent - 1) * stride * c->elem_bytes; /* seen from its other end */
    if (stride == 0) {
      r->repeats *= extent;
    } else if (r->modes == 0 && apart == length) {
      length *= extent;
    } else {
      r->extent[r->modes] = extent;
      r->step[r->modes++] = apart * c->elem_bytes;
      r->count *= extent;
    }
  }
  r->bytes = length * c->elem_bytes;
  count_sectors(r, d->explanation.sector_bytes);
}

void cutt_draw_work_out(const struct cuttPlanStruct *plan, cutt_drawing *d) {
  d->plan = plan;
  cutt_describe_explain(plan, &plan->choice.candidate, &d->explanation);
  snprintf(d->sector, sizeof d->sector, "%s", d->explanation.sector_name);
  const size_t length = strlen(d->sector);
  if (length > 1 && d->sector[length - 1] == 's') d->sector[length - 1] = 0;
  d->known = d->explanation.row_length > 0 && d->explanation.sector_bytes > 0;
  if (!d->known) return;
  find_runs(d, true, &d->in);
  find_runs(d, false, &d->out);
}

const char *cutt_draw_role(const cutt_drawing *d, int mode) {
  const cutt_candidate *candidate = &d->plan->choice.candidate;
  bool in_k = false;
  for (int i = 0; i < candidate->k; ++i) in_k = in_k || d->plan->canonical.out_order[i] == mode;
  if (mode < candidate->m) return in_k ? "M_m and M_k" : "M_m";
  return in_k ? "M_k" : d->explanation.tile[mode] > 1 ? "batch" : "outside";
}

/* ------------------------------------------------------------------------------------------------------------ words */

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

void cutt_draw_title(const cutt_drawing *d, cutt_text *text) {
  const cutt_explanation *e = &d->explanation;
  cutt_text_add(text, "%s on %s: ", cutt_method_name[d->plan->choice.candidate.method], d->plan->target->name);
  if (d->plan->canonical.volume == 0) {
    cutt_text_add(text, "the tensor has no elements, and nothing is moved");
  } else if (!d->known) {
    cutt_text_add(text, "what its tiles are is not known");
  } else {
    const int64_t elements = e->row_length * e->rows;
    cutt_text_add(text, "%s of %" PRId64 " element%s of %d byte%s", e->tiles == 1 ? "a single tile" : "a tile",
                  elements, plural(elements), d->plan->canonical.elem_bytes, plural(d->plan->canonical.elem_bytes));
    if (e->tiles > 1) cutt_text_add(text, ", one of %" PRId64, e->tiles);
  }
}

void cutt_draw_runs(const cutt_drawing *d, bool input, cutt_text *text) {
  const cutt_runs *r = input ? &d->in : &d->out;
  cutt_text_add(text, "%" PRId64 " run%s of %" PRId64 " byte%s", r->count, plural(r->count), r->bytes,
                plural(r->bytes));
  if (r->repeats > 1) cutt_text_add(text, ", each read %" PRId64 " times", r->repeats);
}

void cutt_draw_sentence(const cutt_drawing *d, bool input, const char *between, cutt_text *text) {
  const cutt_runs *r = input ? &d->in : &d->out;
  const char *done = input ? "read" : d->plan->canonical.scale.reads_out ? "read and written" : "written";
  const char *side = input ? "input" : "output";
  if (r->count == 1) {
    cutt_text_add(text, "The %s run is %" PRId64 " byte%s", side, r->bytes, plural(r->bytes));
  } else {
    cutt_text_add(text, "Each of the %" PRId64 " %s runs is %" PRId64 " byte%s", r->count, side, r->bytes,
                  plural(r->bytes));
  }
  if (r->most == 1) {
    cutt_text_add(text, " of a %s of %d", d->sector, d->explanation.sector_bytes);
  } else if (r->least == r->most) {
    cutt_text_add(text, " in %" PRId64 " %ss of %d", r->most, d->sector, d->explanation.sector_bytes);
  } else {
    cutt_text_add(text, " in %" PRId64 " to %" PRId64 " %ss of %d", r->least, r->most, d->sector,
                  d->explanation.sector_bytes);
  }
  cutt_text_add(text, ":%s", between);
  if (r->used >= r->moved) {
    cutt_text_add(text, "all that is %s is used by this tile", done);
  } else {
    const double percent = 100 * r->used / r->moved;
    cutt_text_add(
        text, percent > 99 ? "%.1f%% of what is %s is used by this tile" : "%.0f%% of what is %s is used by this tile",
        percent > 99.9 ? 99.9 : percent, done);
  }
}

void cutt_draw_whole(const cutt_drawing *d, cutt_text *text) {
  const cutt_explanation *e = &d->explanation;
  if (e->least_sectors <= 0) return;
  cutt_text_add(text, "Over all tiles the model counts %.2f %ss read and %.2f written for each that is needed.",
                e->read_sectors / e->least_sectors, d->sector, e->written_sectors / e->least_sectors);
}
