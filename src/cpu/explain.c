/* A candidate's geometry, counts and cost breakdown, for people and for calibration. */
#include "cpu/explain.h"

#include <string.h>

#include "cpu/cost.h"
#include "cpu/kernels/kernels.h"

void cutt_cpu_explain(const cutt_target *target, const cutt_canonical *c, const cutt_candidate *candidate,
                      cutt_explanation *e) {
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)target;
  cutt_cpu_tile tile;
  const char *why;
  memset(e, 0, sizeof *e);
  e->sector_name = "lines";
  e->sector_bytes = CUTT_CPU_LINE;
  e->least_sectors = (double)c->volume * c->elem_bytes / CUTT_CPU_LINE;
  if (!cutt_cpu_tile_derive(machine, c, candidate, &tile, &why)) return; /* not a candidate of this machine */
  cutt_cpu_cost(c, candidate, &tile, machine, &e->breakdown);
  double n[CUTT_CPU_COUNTS];
  cutt_cpu_count(c, &tile, machine, n);
  for (int j = 0; j < c->rank; ++j) e->tile[j] = tile.extent[j];
  if (tile.kernel == CUTT_CPU_COPY) {
    if (c->rank > 0) e->tile[0] = c->volume;
    e->row_length = e->column_length = c->volume;
    e->rows = e->columns = e->tiles = 1;
  } else {
    const int64_t volume = cutt_cpu_elements(&tile);
    e->row_length = 1;
    for (int j = 0; j < candidate->m; ++j) e->row_length *= tile.extent[j];
    e->rows = volume / e->row_length;
    e->column_length = tile.run;
    e->columns = volume / tile.run;
    e->tiles = (int64_t)n[CUTT_CPU_COUNT_TILES];
  }
  e->read_sectors = e->least_sectors + n[CUTT_CPU_COUNT_WASTE];
  e->written_sectors = e->least_sectors + n[CUTT_CPU_COUNT_PARTS];
  e->partial_sectors = n[CUTT_CPU_COUNT_PARTS];
  /* A plain copy of the same bytes has the same lines and start, and past the caches its better walk. */
  const double *value = machine->base.value + e->breakdown.first;
  const int of_a_copy[] = {CUTT_CPU_COUNT_LINES, CUTT_CPU_COUNT_STARTS, CUTT_CPU_COUNT_FORKS};
  for (int i = 0; i < 3; ++i) e->copy_seconds += e->breakdown.part[of_a_copy[i]] * value[of_a_copy[i]];
  if (!tile.non_temporal) return;
  const double paged = value[CUTT_CPU_COUNT_PAGED], streamed = value[CUTT_CPU_COUNT_STREAMED];
  e->copy_seconds += e->breakdown.part[CUTT_CPU_COUNT_LINES] / 2 * (paged < streamed ? paged : streamed);
}
