#include "dist/amounts.h"

#include <inttypes.h>

void cutt_add_bytes(cutt_text *text, int64_t bytes) {
  if (bytes < 1000000)
    cutt_text_add(text, "%.1f kB", (double)bytes * 1e-3);
  else
    cutt_text_add(text, "%.1f MB", (double)bytes * 1e-6);
}

void cutt_add_seconds(cutt_text *text, double seconds) {
  const double unit = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
  cutt_text_add(text, "%.3f %s", seconds * unit, seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s");
}

void cutt_add_cut(cutt_text *text, const cutt_part *part) {
  if (part->parts > 1) cutt_text_add(text, " in %d parts", part->parts);
  if (part->block) cutt_text_add(text, " by blocks of %" PRId64, part->block);
}
