/* The drawing of a tile (draw.c) as an SVG image: no scripts, no fonts of its own, dark on light, so that it can be
 * printed; as tall as the modes and the runs that are drawn make it. */
#include <inttypes.h>
#include <string.h>

#include "describe/draw.h"

enum {
  WIDTH = 960,
  MARGIN = 24,
  LINE = 20,
  PLACE = 130,  /* where the memory begins, across */
  SECTORS = 16, /* of a run that are drawn */
  ENDS = 7,     /* of a longer one at either end */
  CELL = 40,    /* pixels of a sector across */
  ROW = 24,     /* of a run down, a gap included */
  BAR = 300,
  MODES_BAR = 500, /* where bars of modes begin */
  ROOM = 120,      /* characters of a line */
  TITLE_ROOM = 85
};
static const char empty_colour[] = "#ececec", line_colour[] = "#8a8a8a", text_colour[] = "#1a1a1a";
static const char in_colour[] = "#1f5f99", out_colour[] = "#a8480f", mode_colour[] = "#4a4a4a";

static void begin_words(cutt_text *text, int x, int y, const char *more) {
  cutt_text_add(text, "<text x=\"%d\" y=\"%d\"%s>", x, y, more);
}

static void add_words(cutt_text *text, const char *words) {
  cutt_text_add_xml(text, words);
  cutt_text_add(text, "</text>\n");
}

/* A line of words of draw.c's. */
typedef struct words {
  char at[512];
} words;

/* Words from the margin on, in a line that holds so many of them; longer ones are drawn together. */
static void add_line(cutt_text *text, int y, const char *content, size_t room, const char *more) {
  cutt_text_add(text, "<text x=\"%d\" y=\"%d\"%s", MARGIN, y, more);
  if (strlen(content) > room) {
    cutt_text_add(text, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", WIDTH - 2 * MARGIN);
  }
  cutt_text_add(text, ">");
  add_words(text, content);
}

static const char right[] = " text-anchor=\"end\"", bold[] = " font-weight=\"bold\"";

static void add_number(cutt_text *text, int x, int y, int64_t number) {
  begin_words(text, x, y, right);
  cutt_text_add(text, "%" PRId64 "</text>\n", number);
}

static void add_box(cutt_text *text, double x, int y, double width, int height, const char *colour) {
  cutt_text_add(text, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>\n", x, y, width, height,
                colour);
}

/* Sectors first .. last of a run from x on. */
static void draw_sectors(const cutt_drawing *d, const cutt_runs *r, const cutt_laid *laid, uint64_t first,
                         uint64_t last, int x, int y, const char *colour, cutt_text *text) {
  const uint64_t sector = (uint64_t)d->explanation.sector_bytes, low = first * sector, high = (last + 1) * sector;
  const uint64_t covered = cutt_draw_covered(r, laid, low, high), before = low < laid->lead ? laid->lead - low : 0;
  const int count = (int)(last - first + 1), height = ROW - 6;
  const double byte = (double)CELL / (double)sector;
  add_box(text, x, y, count * CELL, height, empty_colour);
  if (covered > 0) add_box(text, x + (double)before * byte, y, (double)covered * byte, height, colour);
  cutt_text_add(text, "<path d=\"M%d %dh%dv%dh-%dz", x, y, count * CELL, height, count * CELL);
  for (int i = 1; i < count; ++i) cutt_text_add(text, "M%d %dv%d", x + i * CELL, y, height);
  cutt_text_add(text, "\" fill=\"none\" stroke=\"%s\"/>\n", line_colour);
}

/* Returns where the next thing begins, down. */
static int draw_side(const cutt_drawing *d, bool input, int y, cutt_text *text) {
  const cutt_runs *r = input ? &d->in : &d->out;
  const char *colour = input ? in_colour : out_colour;
  const uint64_t sector = (uint64_t)d->explanation.sector_bytes;
  words w;
  cutt_text line = cutt_text_start(w.at, sizeof w.at);
  cutt_text_add(&line, "%s: ", input ? "Input" : "Output");
  cutt_draw_runs(d, input, &line);
  begin_words(text, MARGIN, y, bold);
  add_words(text, w.at);
  y += 8;
  begin_words(text, PLACE - 12, y + LINE - 6, right);
  add_words(text, "at byte");
  begin_words(text, WIDTH - MARGIN, y + LINE - 6, right);
  add_words(text, "used / moved");
  y += LINE;
  for (int64_t n = 0; n < r->count && n < CUTT_DRAWN_RUNS; ++n) {
    const cutt_laid laid = cutt_draw_lay(d, r, n);
    add_number(text, PLACE - 12, y + ROW - 11, laid.place);
    if (laid.sectors <= SECTORS) {
      draw_sectors(d, r, &laid, 0, laid.sectors - 1, PLACE, y, colour, text);
    } else {
      draw_sectors(d, r, &laid, 0, ENDS - 1, PLACE, y, colour, text);
      begin_words(text, PLACE + (ENDS + 1) * CELL, y + ROW - 11, " text-anchor=\"middle\" font-size=\"11\"");
      cutt_text_add(text, "+%" PRIu64 "</text>\n", laid.sectors - 2 * ENDS);
      draw_sectors(d, r, &laid, laid.sectors - ENDS, laid.sectors - 1, PLACE + (ENDS + 2) * CELL, y, colour, text);
    }
    begin_words(text, WIDTH - MARGIN, y + ROW - 11, right);
    cutt_text_add(text, "%" PRId64 " / %" PRIu64 "</text>\n", r->bytes, laid.sectors * sector);
    y += ROW;
  }
  if (r->count > CUTT_DRAWN_RUNS) {
    begin_words(text, PLACE, y + ROW - 11, "");
    cutt_text_add(text, "%" PRId64 " more</text>\n", r->count - CUTT_DRAWN_RUNS);
    y += ROW;
  }
  line = cutt_text_start(w.at, sizeof w.at);
  cutt_draw_sentence(d, input, " ", &line);
  add_line(text, y + LINE - 4, w.at, ROOM, "");
  return y + 3 * LINE;
}

static int draw_modes(const cutt_drawing *d, int y, cutt_text *text) {
  const cutt_canonical *c = &d->plan->canonical;
  if (c->rank == 0) return y;
  begin_words(text, MARGIN, y, bold);
  add_words(text, "mode");
  begin_words(text, 210, y, right);
  add_words(text, "extent");
  begin_words(text, 350, y, right);
  add_words(text, "in the tile");
  begin_words(text, 380, y, "");
  add_words(text, "part of");
  for (int j = 0; j < c->rank; ++j) {
    const int64_t extent = c->mode[j].extent, tile = d->explanation.tile[j];
    const double share = (double)tile / (double)extent;
    y += LINE;
    begin_words(text, MARGIN, y, "");
    cutt_text_add(text, "%d</text>\n", j);
    add_number(text, 210, y, extent);
    add_number(text, 350, y, tile);
    begin_words(text, 380, y, "");
    add_words(text, cutt_draw_role(d, j));
    add_box(text, MODES_BAR, y - 11, BAR, 12, empty_colour);
    add_box(text, MODES_BAR, y - 11, share * BAR, 12, mode_colour);
    begin_words(text, MODES_BAR + BAR + 12, y, "");
    cutt_text_add(text, share < 0.01 ? "%.2g%%</text>\n" : "%.0f%%</text>\n", 100 * share);
  }
  return y + 2 * LINE;
}

static int side_height(const cutt_runs *r) {
  const int rows = r->count > CUTT_DRAWN_RUNS ? CUTT_DRAWN_RUNS + 1 : (int)r->count;
  return 8 + LINE + rows * ROW + 3 * LINE;
}

void cutt_draw_svg(const cutt_drawing *d, cutt_text *text) {
  const int rank = d->plan->canonical.rank, top = MARGIN + 3 * LINE;
  int height = top;
  if (d->known) {
    height += (rank > 0 ? (rank + 2) * LINE : 0) + side_height(&d->in) + side_height(&d->out) + LINE;
  }
  words w;
  cutt_text line = cutt_text_start(w.at, sizeof w.at);
  cutt_draw_title(d, &line);
  cutt_text_add(
      text,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"%s\">\n<title>",
      WIDTH, height, WIDTH, height, text_colour);
  cutt_text_add_xml(text, w.at);
  cutt_text_add(text, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, height);
  add_line(text, MARGIN + 10, w.at, TITLE_ROOM, " font-size=\"16\" font-weight=\"bold\"");
  if (d->known) {
    line = cutt_text_start(w.at, sizeof w.at);
    cutt_text_add(&line, "A cell is a %s of %d bytes, which moves whole; the dark part is what the tile uses of it.",
                  d->sector, d->explanation.sector_bytes);
    begin_words(text, MARGIN, MARGIN + 10 + LINE + 4, "");
    add_words(text, w.at);
    int y = draw_modes(d, top + 10, text);
    y = draw_side(d, true, y, text);
    y = draw_side(d, false, y, text);
    line = cutt_text_start(w.at, sizeof w.at);
    cutt_draw_whole(d, &line);
    begin_words(text, MARGIN, y - 4, "");
    add_words(text, w.at);
  }
  cutt_text_add(text, "</svg>\n");
}
