/* Between draw_tile.c, which works out what a tile covers, and the files that draw it. */
#ifndef CUTT_DESCRIBE_DRAW_H
#define CUTT_DESCRIBE_DRAW_H

#include "plan/plan.h"

/* The runs of memory that a tile covers on one side: stretches of bytes without a gap. */
typedef struct cutt_runs {
  int64_t start; /* where the first begins: bytes from the user's pointer, which is taken to be aligned */
  int64_t bytes; /* of a run */
  int64_t count;
  int64_t repeats;                                    /* how often the tile has each of them: modes of stride 0 */
  int modes;                                          /* that runs are counted over, the nearest first */
  int64_t extent[CUTT_MAX_RANK], step[CUTT_MAX_RANK]; /* bytes from one to the next */
  int64_t least, most;                                /* sectors of memory that a run touches */
  double used, moved;                                 /* bytes, of all runs that were looked at */
} cutt_runs;

typedef struct cutt_drawing {
  const struct cuttPlanStruct *plan;
  cutt_explanation explanation;
  bool known; /* is there a tile? */
  cutt_runs in, out;
  char sector[16]; /* what memory moves whole: "sector", "line" */
} cutt_drawing;

void cutt_draw_work_out(const struct cuttPlanStruct *plan, cutt_drawing *drawing);

enum { CUTT_DRAWN_RUNS = 8 }; /* so many runs of a side are drawn */

/* A run over its sectors: what it has before it in the first, and how many they are. Bytes of sectors are counted from where
 * the first of them begins, since places may come close to what a number can hold. */
typedef struct cutt_laid {
  int64_t place;
  uint64_t lead, sectors;
} cutt_laid;
cutt_laid cutt_draw_lay(const cutt_drawing *drawing, const cutt_runs *runs, int64_t n);

/* Bytes of [low, high) that the run has. */
uint64_t cutt_draw_covered(const cutt_runs *runs, const cutt_laid *laid, uint64_t low, uint64_t high);

/* What a mode is to the tile: "M_m", "M_k", "M_m and M_k", "batch" or "outside". */
const char *cutt_draw_role(const cutt_drawing *drawing, int mode);

/* The drawing in words: a line each, without its end. between: what is between the two halves of a sentence. */
void cutt_draw_title(const cutt_drawing *drawing, cutt_text *text);
void cutt_draw_runs(const cutt_drawing *drawing, bool input, cutt_text *text);
void cutt_draw_sentence(const cutt_drawing *drawing, bool input, const char *between, cutt_text *text);
void cutt_draw_whole(const cutt_drawing *drawing, cutt_text *text);

void cutt_draw_svg(const cutt_drawing *drawing, cutt_text *text);

#endif
