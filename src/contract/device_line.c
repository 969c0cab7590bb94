/* From an elementwise operation on a GPU of which no operand is turned to a launch that numbers D's elements (combine_line.h). */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_elementwise_tile.h"
#include "gpu/divisor.h"

enum { OPERANDS = CUTT_COMBINE_OPERANDS, TENSORS = CUTT_COMBINE_TENSORS, MOST_BLOCK = 1 << 12 /* elements */ };

static bool reads(const cutt_combine_layout *l, int tensor) { return tensor == 0 || cutt_combine_reads(l, tensor - 1); }

/* How much of a mode a part has that has so many elements without it, and reaches so far in each tensor, in bytes: all of it, or chunks
 * that are as even as possible. */
static int64_t most_of(const cutt_combine_layout *l, int mode, int64_t elements, const int64_t *reach) {
  int64_t most = smaller(l->mode[mode].extent, (INT32_MAX - MOST_BLOCK) / elements);
  for (int t = 0; t < TENSORS; ++t) {
    const int64_t step = reads(l, t) ? llabs(cutt_combine_stride(l, t, mode)) * l->p->type->bytes : 0;
    if (step) most = smaller(most, (INT32_MAX - reach[t]) / step + 1);
  }
  const int64_t chunks = (l->mode[mode].extent + most - 1) / most;
  return (l->mode[mode].extent + chunks - 1) / chunks;
}

/* The next of the kernel's modes, which goes `chunk` elements of the operation's from one to the next. */
static void add_mode(const cutt_combine_layout *l, int mode, int64_t extent, int64_t chunk) {
  cutt_combine_mode *m = &l->args->mode[l->args->modes++];
  m->chunks = cutt_divide_by(extent);
  for (int t = 0; t < TENSORS; ++t)
    m->step[t] = reads(l, t) ? cutt_combine_stride(l, t, mode) * chunk * l->p->type->bytes : 0;
}

/* Sets how much of each mode a part has: all, one element, or chunks of one mode, which is returned; or -1. */
static int cut(cutt_combine_layout *l, int64_t *elements) {
  int64_t reach[TENSORS] = {0};
  int chunked = -1;
  *elements = 1;
  for (int i = 0; i < l->modes; ++i) {
    const int64_t extent = l->mode[i].extent, chunk = chunked < 0 ? most_of(l, i, *elements, reach) : 1;
    l->chunk[i] = chunk;
    *elements *= chunk;
    if (chunk > 1 && chunk < extent) chunked = i;
    for (int t = 0; t < TENSORS; ++t)
      if (reads(l, t)) reach[t] += (chunk - 1) * llabs(cutt_combine_stride(l, t, i)) * l->p->type->bytes;
  }
  return chunked;
}

/* Lists the modes that count parts. Returns how many there are; 0: there would be too many blocks. */
static int64_t list_parts(cutt_combine_layout *l, int chunked, int64_t blocks) {
  int64_t parts = 1;
  for (int i = -1; i < l->modes; ++i) {
    const int mode = i < 0 ? chunked : i;
    if (mode < 0 || (i >= 0 && (l->chunk[i] > 1 || i == chunked))) continue;
    const int64_t chunks = (l->mode[mode].extent + l->chunk[mode] - 1) / l->chunk[mode];
    if (chunks > INT32_MAX / blocks / parts) return 0;
    parts *= chunks;
    add_mode(l, mode, chunks, l->chunk[mode]);
  }
  return parts;
}

/* Tensors that have a part's elements one after the other, a bit each. */
static uint32_t beside(const cutt_combine_layout *l) {
  uint32_t all = 0;
  for (int t = 0; t < TENSORS; ++t) {
    int64_t next = l->unit * l->p->type->bytes;
    bool is = reads(l, t);
    for (uint32_t i = 0; i < l->args->tile_modes; ++i) {
      const cutt_combine_mode *mode = &l->args->mode[i];
      is = is && (mode->chunks.by == 1 || mode->step[t] == next);
      next *= mode->chunks.by;
    }
    all |= (uint32_t)is << t;
  }
  return all;
}

/* Makes accesses of l->unit elements of the first mode, which are numbered instead of elements. Sets what the last one has if that is not whole. */
static void number_accesses(cutt_combine_layout *l, cutt_combine_parts *parts) {
  if (l->unit == 1) return;
  parts->tail = (uint32_t)(l->mode[0].extent % l->unit);
  l->mode[0].extent = (l->mode[0].extent + l->unit - 1) / l->unit;
  for (int t = 0; t < TENSORS; ++t) l->mode[0].stride[t] *= l->unit;
}

static uint32_t use_of(const cutt_combine_layout *l, int operand) {
  const bool single = l->unit > 1 && cutt_combine_stride(l, 1 + operand, 0) == 0;
  return !cutt_combine_reads(l, operand) ? CUTT_COMBINE_ZERO : single ? CUTT_COMBINE_SINGLE : CUTT_COMBINE_DIRECT;
}

bool cutt_combine_line(cutt_combine_layout *l, int kernel, cutt_combine_launch *launch) {
  cutt_combine_args *args = l->args = &launch->args;
  const int64_t each = l->unit > 1 ? CUTT_COMBINE_ACCESSES : (int64_t)CUTT_COMBINE_ROWS_OF(l->p->type->bytes);
  const int64_t block = CUTT_COMBINE_THREADS * each;
  cutt_combine_parts parts = {.tail = 0};
  int64_t elements;
  memset(launch, 0, sizeof *launch);
  for (int k = 0; k < OPERANDS; ++k) args->use[k] = use_of(l, k);
  number_accesses(l, &parts);
  const int chunked = cut(l, &elements);
  for (int i = 0; i < l->modes; ++i)
    if (l->chunk[i] > 1) add_mode(l, i, l->chunk[i], 1);
  /* The kernel goes over two of a part's modes, or four, at least. */
  while (args->modes < 2 || args->modes == 3) args->mode[args->modes++].chunks = cutt_divide_by(1);
  args->tile_modes = args->modes;
  const int64_t blocks = (elements + block - 1) / block, all = list_parts(l, chunked, blocks);
  if (!all) return false;
  parts.blocks = cutt_divide_by(blocks);
  parts.elements = parts.last = (uint32_t)elements;
  parts.beside = beside(l);
  parts.one = (parts.beside & 5) == 5 ? 1 : (parts.beside & 3) == 3 ? 2 : 0; /* D and B, perhaps A too; D and A */
  if (chunked >= 0) {
    const int64_t chunk = l->chunk[chunked],
                  last = l->mode[chunked].extent - (l->mode[chunked].extent - 1) / chunk * chunk;
    parts.last = (uint32_t)(elements / chunk * last);
  }
  parts.cut = chunked == 0;
  if (parts.tail) parts.tail_at = (parts.cut ? parts.last : (uint32_t)l->mode[0].extent) - 1;
  args->parts = parts;
  args->tiles = args->step = (uint32_t)(all * blocks);
  launch->kernel = kernel;
  launch->numbered = block * l->unit;
  launch->grid.blocks = args->tiles;
  launch->grid.threads = CUTT_COMBINE_THREADS;
  return true;
}
