/* Stretches of boxes (stretch.h). */
#include "dist/stretch.h"

#include "base/number.h"

static bool is_along_runs(const cutt_box *box, int mode) {
  return magnitude(box->step[CUTT_FROM][mode]) == 1 || magnitude(box->step[CUTT_TO][mode]) == 1;
}

/* Is mode a cut before mode b? The output's slowest first; modes along which runs of either side are come last, the longer one first. */
static bool comes_before(const cutt_box *box, int a, int b) {
  if (is_along_runs(box, a) != is_along_runs(box, b)) return is_along_runs(box, b);
  if (is_along_runs(box, a)) return box->extent[a] > box->extent[b];
  return magnitude(box->step[CUTT_TO][a]) > magnitude(box->step[CUTT_TO][b]);
}

/* The length of stretches that are about alike, and not longer than asked for. */
static int64_t even(int64_t extent, int64_t length) {
  const int64_t parts = (extent - 1) / length + 1;
  return (extent - 1) / parts + 1;
}

void cutt_box_stretch(const cutt_box *box, int64_t elements, bool cuts_runs, cutt_stretch *stretch) {
  enum { RUN = 16, LONGER = 4 }; /* runs are cut into multiples of RUN, and not for less than so many times too long */
  int slow[CUTT_MAX_RANK];
  int64_t volume = 1;
  for (int i = 0; i < box->rank; ++i) {
    int at = i;
    for (; at > 0 && comes_before(box, i, slow[at - 1]); --at) slow[at] = slow[at - 1];
    slow[at] = i;
    stretch->extent[i] = box->extent[i];
    volume *= box->extent[i];
  }
  for (int i = 0; i < box->rank; ++i) {
    const int mode = slow[i];
    const bool runs = is_along_runs(box, mode);
    const int64_t extent = box->extent[mode], inner = volume / extent;
    stretch->order[box->rank - 1 - i] = mode;
    if (volume <= (runs ? LONGER * elements : elements) || (runs && !cuts_runs)) continue;
    int64_t length = even(extent, larger(elements / inner, (int64_t)1));
    if (runs) length = (length + RUN - 1) / RUN * RUN;
    if (length >= extent) continue;
    stretch->extent[mode] = length;
    volume = inner * length;
  }
}
