/* How far M_m and M_k go: mode by mode until their runs reach some lengths, the last mode being cut where it would overshoot (grow.h). */
#include "gpu/grow.h"

#include "gpu/tile.h"

static const int64_t run_bytes[CUTT_GPU_RUNS_OVER_GAPS] = {64, 128, 256, 512, 1024, 2048, 4096, 8192};

/* A chunk of about `wanted` of `extent`: chunks as even as possible, and of whole sectors where that changes little.
 * step_bytes: of an element of the mode. */
int64_t cutt_gpu_even_chunk(const cutt_device *d, int64_t extent, int64_t wanted, int64_t step_bytes) {
  if (wanted < 1) wanted = 1;
  if (wanted >= extent) return extent;
  const int64_t count = cutt_gpu_chunks(extent, wanted);
  int64_t chunk = cutt_gpu_chunks(extent, count);
  const int64_t bytes = cutt_gpu_sector(d), sector = bytes / (int64_t)cutt_gpu_power((uint64_t)(step_bytes | bytes));
  if (chunk >= 2 * sector) chunk = (chunk + sector - 1) / sector * sector;
  return chunk < extent ? chunk : extent;
}

/* A run of about so many bytes. gaps: NULL, where it goes over none; else whether it does. */
static cutt_gpu_prefix grow(const cutt_device *d, const cutt_canonical *c, const int *order, bool input, int64_t bytes,
                            bool *gaps) {
  cutt_gpu_prefix p = {0, 0, 1};
  int64_t span = 1; /* of the modes so far, from the first element to the last */
  for (int i = 0; i < c->rank && p.split == 0; ++i) {
    const cutt_mode *mode = &c->mode[order ? order[i] : i];
    const int64_t reached = p.length * c->elem_bytes; /* >= 1 */
    const int64_t stride = input ? magnitude(mode->in_stride) : mode->out_stride;
    if (reached * 4 > bytes * 3) break;
    if (stride != span && (!gaps || stride < span || stride > CUTT_GPU_MOST_SPAN * p.length)) break;
    if (stride != span && reached >= CUTT_GPU_LONG_RUN) break;
    if (input && (stride - span) * c->elem_bytes >= CUTT_GPU_PAGE) break;
    /* A whole mode may overshoot by half. */
    int64_t chunk = mode->extent;
    const int64_t wanted = bytes / (reached > 0 ? reached : 1);
    if (mode->extent > wanted * 3 / 2) chunk = cutt_gpu_even_chunk(d, mode->extent, wanted, reached);
    if (chunk == 1) break;
    if (stride != span) *gaps = true;
    p.count = i + 1;
    p.length *= chunk;
    if (chunk < mode->extent) p.split = chunk;
    span += (mode->extent - 1) * stride; /* inside of the tensor */
  }
  return p;
}

static int grow_list(const cutt_device *d, const cutt_canonical *c, const int *order, bool input, bool over_gaps,
                     int lengths, cutt_gpu_prefix *list) {
  int count = 0;
  for (int i = 0; i < lengths; ++i) {
    bool gaps = false;
    const cutt_gpu_prefix p = grow(d, c, order, input, run_bytes[i], over_gaps ? &gaps : NULL);
    if (over_gaps && !gaps) continue;
    if (count > 0 && list[count - 1].count == p.count && list[count - 1].split == p.split) continue;
    list[count++] = p;
  }
  return count;
}

int cutt_gpu_grow_all(const cutt_device *d, const cutt_canonical *c, const int *order, bool input, int lengths,
                      cutt_gpu_prefix *list) {
  return grow_list(d, c, order, input, false, lengths, list);
}

int cutt_gpu_grow_over_gaps(const cutt_device *d, const cutt_canonical *c, const int *order, bool input,
                            cutt_gpu_prefix *list) {
  const int64_t spans = input ? c->in_high - c->in_low : c->out_high - c->out_low;
  if (spans == c->volume * c->elem_bytes) return 0;
  return grow_list(d, c, order, input, true, CUTT_GPU_RUNS_OVER_GAPS, list);
}

static void cut_at(cutt_gpu_prefix *p, int place, int64_t split) {
  p->count = place + 1;
  p->split = split;
}

void cutt_gpu_shorten(const cutt_canonical *c, cutt_gpu_prefix *m, cutt_gpu_prefix *k) {
  for (int i = 0; i < k->count && m->split > 0; ++i) {
    if (c->out_order[i] == m->count - 1 && i < k->count - 1) cut_at(k, i, m->split);
  }
  const int cut_k = k->split > 0 ? c->out_order[k->count - 1] : -1;
  if (cut_k >= 0 && cut_k < m->count - 1) cut_at(m, cut_k, k->split);
}

void cutt_gpu_reconcile(const cutt_canonical *c, cutt_gpu_prefix *m, cutt_gpu_prefix *k) {
  const int cut_m = m->split > 0 ? m->count - 1 : -1, cut_k = k->split > 0 ? c->out_order[k->count - 1] : -1;
  int place = 0; /* of the mode that M_m cuts, in the output */
  while (cut_m >= 0 && c->out_order[place] != cut_m) ++place;
  if (cut_m >= 0 && cut_m == cut_k) {
    m->split = k->split = m->split > k->split ? m->split : k->split;
    return;
  }
  if (cut_m >= 0 && place < k->count) {
    if (place == k->count - 1) {
      k->split = m->split;
    } else {
      m->split = 0;
    }
  }
  if (cut_k >= 0 && cut_k < m->count) {
    if (cut_k == m->count - 1 && m->split == 0) {
      m->split = k->split;
    } else {
      k->split = 0;
    }
  }
}
