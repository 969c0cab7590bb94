/* How boxes that are written directly are cut into stretches. */
#ifndef CUTT_DIST_STRETCH_H
#define CUTT_DIST_STRETCH_H

#include "dist/shapes.h"

typedef struct cutt_stretch {
  int64_t extent[CUTT_MAX_RANK]; /* of a stretch, in each of the box's modes; the last one of a mode may be shorter */
  int order[CUTT_MAX_RANK];      /* the modes in the order in which stretches follow each other, fastest first */
} cutt_stretch;

/* Stretches of about so many elements, or of more if runs of neither side are to be cut. */
void cutt_box_stretch(const cutt_box *box, int64_t elements, bool cuts_runs, cutt_stretch *stretch);

#endif
