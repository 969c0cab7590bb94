/* Layouts, read and checked: parts of modes, and positions in the grid of parts. */
#ifndef CUTT_DIST_LAYOUT_H
#define CUTT_DIST_LAYOUT_H

#include "cutt_dist.h"
#include "dist/part.h"

typedef struct cutt_layout {
  int modes;
  int positions, copies;
  cutt_part part[CUTT_MAX_RANK];
  int64_t volume;
  const int *ranks;       /* the caller's; NULL: 0, 1, 2, ... */
  const int64_t *strides; /* the caller's, or NULL */
} cutt_layout;

/* The product of all extents is at most this, so that bytes of whole tensors fit an int64. */
#define CUTT_MOST_ELEMENTS ((int64_t)1 << 58)

/* Reads a layout and checks all but that its ranks are different, and its strides. name: what the caller calls it, "layout".
 * Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_layout_read(const cuttDistLayout_t *callers, const char *name, cutt_layout *layout);

/* Checks that the layout's ranks are different and below size. Errors: CUTT_INVALID_PARAMETER, CUTT_INTERNAL_ERROR. */
cuttResult cutt_layout_check_ranks(const cutt_layout *layout, const char *name, int size);

/* The entry that stands for a place in the list of ranks. */
static inline int cutt_layout_rank(const cutt_layout *layout, int place) {
  return layout->ranks ? layout->ranks[place] : place;
}

/* The part of each mode at a position. */
void cutt_layout_parts(const cutt_layout *layout, int position, int *at);

/* The extents of the part at a position, and its volume. */
int64_t cutt_layout_extents(const cutt_layout *layout, int position, int64_t *extents);

/* A number for all of a layout but its strides: other layouts have other numbers. */
uint64_t cutt_layout_hash(const cutt_layout *layout);

/* Reads perm: entry i is the input's mode that is mode i of an output of as many modes, and inverse the other way. NULL: the
 * identity. Checks that the extents of both layouts agree. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_layouts_match(const cutt_layout *from, const cutt_layout *to, const int *perm, int *inverse);

#endif
