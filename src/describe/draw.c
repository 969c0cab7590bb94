/* The tile of a plan's choice, drawn over memory as text; draw_svg.c has it as an image. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "describe/draw.h"
#include "plan/arguments.h"

enum { BAR = 20, CHARACTER = 8, LINE_ROOM = 56 }; /* a character of memory is 8 bytes */

static void draw_modes(const cutt_drawing *d, cutt_text *text) {
  const cutt_canonical *c = &d->plan->canonical;
  if (c->rank == 0) return;
  cutt_text_add(text, "\nmode  %14s  %14s  part of      share of the mode\n", "extent", "in the tile");
  for (int j = 0; j < c->rank; ++j) {
    const int64_t extent = c->mode[j].extent, tile = d->explanation.tile[j];
    const double share = (double)tile / (double)extent;
    char bar[BAR + 1];
    for (int i = 0; i < BAR; ++i) bar[i] = i < share * BAR ? '#' : '.';
    bar[BAR] = 0;
    cutt_text_add(text, "%4d  %14" PRId64 "  %14" PRId64 "  %-11s  [%s] ", j, extent, tile, cutt_draw_role(d, j), bar);
    cutt_text_add(text, share < 0.01 ? "%.2g%%\n" : "%.0f%%\n", 100 * share);
  }
}

/* Sectors first .. last of a run, a character for each 8 bytes. */
static void draw_sectors(const cutt_drawing *d, const cutt_runs *r, const cutt_laid *laid, uint64_t first,
                         uint64_t last, cutt_text *text) {
  const uint64_t sector = (uint64_t)d->explanation.sector_bytes;
  for (uint64_t u = first; u <= last; ++u) {
    for (uint64_t at = u * sector; at < (u + 1) * sector; at += CHARACTER) {
      const uint64_t covered = cutt_draw_covered(r, laid, at, at + CHARACTER);
      cutt_text_add(text, "%c", covered == CHARACTER ? '#' : covered > 0 ? '+' : '.');
    }
    cutt_text_add(text, "|");
  }
}

static void draw_side(const cutt_drawing *d, bool input, cutt_text *text) {
  const cutt_runs *r = input ? &d->in : &d->out;
  const uint64_t sector = (uint64_t)d->explanation.sector_bytes, room = LINE_ROOM / (sector / CHARACTER + 1);
  cutt_text_add(text, "\n%s  ", input ? "INPUT " : "OUTPUT");
  cutt_draw_runs(d, input, text);
  cutt_text_add(text, "\n");
  char title[48];
  snprintf(title, sizeof title, "memory, %s by %s", d->sector, d->sector);
  cutt_text_add(text, "  %14s   %-*s %s\n", "at byte", LINE_ROOM, title, "used/moved");
  for (int64_t n = 0; n < r->count && n < CUTT_DRAWN_RUNS; ++n) {
    const cutt_laid laid = cutt_draw_lay(d, r, n);
    const size_t start = text->length;
    cutt_text_add(text, "  %14" PRId64 "  |", laid.place);
    if (laid.sectors <= room) {
      draw_sectors(d, r, &laid, 0, laid.sectors - 1, text);
    } else {
      const uint64_t half = (room - 2) / 2; /* and room for the number */
      draw_sectors(d, r, &laid, 0, half - 1, text);
      cutt_text_add(text, " %" PRIu64 " more |", laid.sectors - 2 * half);
      draw_sectors(d, r, &laid, laid.sectors - half, laid.sectors - 1, text);
    }
    const int written = (int)(text->length - start), wanted = 2 + 14 + 3 + LINE_ROOM;
    cutt_text_add(text, "%*s %" PRId64 "/%" PRIu64 "\n", wanted > written ? wanted - written : 0, "", r->bytes,
                  laid.sectors * sector);
  }
  if (r->count > CUTT_DRAWN_RUNS) {
    cutt_text_add(text, "  %14s   %" PRId64 " more run%s\n", "", r->count - CUTT_DRAWN_RUNS,
                  r->count == CUTT_DRAWN_RUNS + 1 ? "" : "s");
  }
  cutt_text_add(text, "  ");
  cutt_draw_sentence(d, input, "\n  ", text);
  cutt_text_add(text, ".\n");
}

static void draw_text(const cutt_drawing *d, cutt_text *text) {
  cutt_draw_title(d, text);
  cutt_text_add(text, ".\n");
  if (!d->known) return;
  draw_modes(d, text);
  cutt_text_add(text,
                "\nBetween two bars is a %s of %d bytes, which moves whole. A character is %d bytes of it:\n"
                "# used by the tile, + used in part, . moved along.\n",
                d->sector, d->explanation.sector_bytes, CHARACTER);
  draw_side(d, true, text);
  draw_side(d, false, text);
  cutt_text_add(text, "\n");
  cutt_draw_whole(d, text);
  cutt_text_add(text, "\n");
}

cuttResult cuttPlanDraw(cuttPlan_t plan, cuttDrawing_t format, char *buffer, size_t size, size_t *needed) {
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  if (format != CUTT_DRAW_TEXT && format != CUTT_DRAW_SVG) {
    return cutt_error(CUTT_INVALID_PARAMETER, "format is %ld; it must be CUTT_DRAW_TEXT or CUTT_DRAW_SVG",
                      (long)format);
  }
  const cuttResult result = cutt_text_buffer_check(buffer, size);
  if (result) return result;
  cutt_drawing drawing;
  cutt_draw_work_out(plan, &drawing);
  cutt_text text = cutt_text_start(buffer, size);
  if (format == CUTT_DRAW_SVG) {
    cutt_draw_svg(&drawing, &text);
  } else {
    draw_text(&drawing, &text);
  }
  if (needed) *needed = text.length + 1;
  return CUTT_SUCCESS;
}
