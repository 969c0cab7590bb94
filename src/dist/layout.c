/* Layouts, read and checked (layout.h), and the public calls that ask about one. */
#include "dist/layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/shapes.h"
#include "plan/services.h"

static const size_t first_layout_size = sizeof(cuttDistLayout_t);

static cuttResult read_part(const cuttDistLayout_t *own, const char *name, int i, cutt_part *part) {
  *part = (cutt_part){own->extents[i], own->blocks ? own->blocks[i] : 0, own->parts ? own->parts[i] : 1};
  if (part->extent < 0)
    return cutt_error(CUTT_INVALID_PARAMETER, "%s->extents[%d] is %" PRId64 "; it must be 0 or more", name, i,
                      part->extent);
  if (part->parts < 1)
    return cutt_error(CUTT_INVALID_PARAMETER, "%s->parts[%d] is %d; it must be 1 or more", name, i, part->parts);
  if (part->block < 0)
    return cutt_error(CUTT_INVALID_PARAMETER, "%s->blocks[%d] is %" PRId64 "; it must be 0 or more", name, i,
                      part->block);
  const int64_t given = part->block;
  /* One part has all, and one block is as long as all: what follows needs to know less. */
  if (part->parts == 1 || part->extent == 0) part->block = 0;
  part->block = smaller(part->block, part->extent);
  if (part->block && part->block > CUTT_MOST_ELEMENTS / part->parts)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s->blocks[%d] is %" PRId64 " with %d parts; the two, multiplied, must be 2^58 at most", name, i,
                      given, part->parts);
  return CUTT_SUCCESS;
}

static cuttResult read_modes(const cuttDistLayout_t *own, const char *name, cutt_layout *layout) {
  int64_t positions = 1, product = 1;
  layout->volume = 1;
  for (int i = 0; i < own->modes; ++i) {
    const cuttResult result = read_part(own, name, i, &layout->part[i]);
    if (result) return result;
    const int64_t extent = layout->part[i].extent;
    if (extent > 1 && extent > CUTT_MOST_ELEMENTS / product)
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "%s->extents[%d] is %" PRId64 ", which takes the tensor past 2^58 elements", name, i, extent);
    if (extent > 1) product *= extent;
    layout->volume *= extent; /* a divisor of product, or 0 */
    positions *= layout->part[i].parts;
    if (positions * layout->copies > INT32_MAX)
      return cutt_error(CUTT_INVALID_PARAMETER, "%s->parts[%d] is %d, which takes the layout past 2^31 - 1 ranks", name,
                        i, layout->part[i].parts);
  }
  layout->positions = (int)positions;
  return CUTT_SUCCESS;
}

cuttResult cutt_layout_read(const cuttDistLayout_t *callers, const char *name, cutt_layout *layout) {
  if (!callers) return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to a cuttDistLayout_t", name);
  cuttDistLayout_t own = CUTT_DIST_LAYOUT_INIT;
  cuttResult result = cutt_struct_read(&own, sizeof own, first_layout_size, callers, name);
  if (result) return result;
  if (own.modes < 0 || own.modes > CUTT_MAX_RANK)
    return cutt_error(CUTT_INVALID_PARAMETER, "%s->modes is %d; it must be 0 to %d", name, own.modes, CUTT_MAX_RANK);
  if (own.modes && !own.extents)
    return cutt_error(CUTT_INVALID_PARAMETER, "%s->extents is NULL; it must point to modes = %d extents", name,
                      own.modes);
  if (own.copies < 0)
    return cutt_error(CUTT_INVALID_PARAMETER, "%s->copies is %d; it must be 1 or more, or 0 for 1", name, own.copies);
  *layout = (cutt_layout){
      .modes = own.modes, .copies = own.copies ? own.copies : 1, .ranks = own.ranks, .strides = own.strides};
  result = read_modes(&own, name, layout);
  if (result || !own.ranks) return result;
  for (int i = 0; i < layout->positions * layout->copies; ++i) {
    if (own.ranks[i] >= 0) continue;
    return cutt_error(CUTT_INVALID_PARAMETER, "%s->ranks[%d] is %d; it must be 0 or more", name, i, own.ranks[i]);
  }
  return CUTT_SUCCESS;
}

cuttResult cutt_layout_check_ranks(const cutt_layout *layout, const char *name, int size) {
  const int places = layout->positions * layout->copies;
  if (places > size)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s is for %d ranks (its parts, multiplied, times copies), and there are %d", name, places, size);
  if (!layout->ranks) return CUTT_SUCCESS;
  unsigned char *seen = calloc((size_t)size, 1);
  if (!seen) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes to check a layout", size);
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; i < places && !result; ++i) {
    const int rank = layout->ranks[i];
    if (rank >= size)
      result = cutt_error(CUTT_INVALID_PARAMETER, "%s->ranks[%d] is %d; it must be below %d, the number of ranks", name,
                          i, rank, size);
    else if (seen[rank])
      result = cutt_error(CUTT_INVALID_PARAMETER, "%s->ranks[%d] is %d, which is there twice", name, i, rank);
    else
      seen[rank] = 1;
  }
  free(seen);
  return result;
}

/* Where a rank stands in the list of ranks; -1: nowhere. By a search, if there is a list. */
static int place_of(const cutt_layout *layout, int rank) {
  const int places = layout->positions * layout->copies;
  if (!layout->ranks) return rank < places ? rank : -1;
  for (int i = 0; i < places; ++i)
    if (layout->ranks[i] == rank) return i;
  return -1;
}

void cutt_layout_parts(const cutt_layout *layout, int position, int *at) {
  for (int i = 0; i < layout->modes; ++i) {
    at[i] = position % layout->part[i].parts;
    position /= layout->part[i].parts;
  }
}

int64_t cutt_layout_extents(const cutt_layout *layout, int position, int64_t *extents) {
  int at[CUTT_MAX_RANK];
  int64_t volume = 1;
  cutt_layout_parts(layout, position, at);
  for (int i = 0; i < layout->modes; ++i) {
    extents[i] = cutt_part_count(&layout->part[i], at[i]);
    volume *= extents[i];
  }
  return volume;
}

cuttResult cutt_layouts_match(const cutt_layout *from, const cutt_layout *to, const int *perm, int *inverse) {
  if (from->modes != to->modes)
    return cutt_error(CUTT_INVALID_PARAMETER, "to->modes is %d and from->modes %d; they must be the same", to->modes,
                      from->modes);
  for (int i = 0; i < from->modes; ++i) inverse[i] = -1;
  for (int i = 0; i < to->modes; ++i) {
    const int mode = perm ? perm[i] : i;
    if (mode < 0 || mode >= from->modes)
      return cutt_error(CUTT_INVALID_PARAMETER, "perm[%d] is %d; it must be 0 to %d", i, mode, from->modes - 1);
    if (inverse[mode] >= 0) return cutt_error(CUTT_INVALID_PARAMETER, "perm[%d] is %d, which is there twice", i, mode);
    inverse[mode] = i;
  }
  for (int i = 0; i < to->modes; ++i) {
    const int mode = perm ? perm[i] : i;
    if (to->part[i].extent != from->part[mode].extent)
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "to->extents[%d] is %" PRId64 " and from->extents[%d], which perm takes there, %" PRId64
                        "; they must be the same",
                        i, to->part[i].extent, mode, from->part[mode].extent);
  }
  return CUTT_SUCCESS;
}

uint64_t cutt_layout_hash(const cutt_layout *layout) {
  const int places = layout->positions * layout->copies;
  uint64_t hash = cutt_hash(CUTT_HASH_START, &layout->modes, sizeof layout->modes);
  hash = cutt_hash(hash, &layout->copies, sizeof layout->copies);
  for (int i = 0; i < layout->modes; ++i) {
    const int64_t numbers[3] = {layout->part[i].extent, layout->part[i].block, layout->part[i].parts};
    hash = cutt_hash(hash, numbers, sizeof numbers);
  }
  for (int i = 0; i < places; ++i) {
    const int rank = cutt_layout_rank(layout, i);
    hash = cutt_hash(hash, &rank, sizeof rank);
  }
  return hash;
}

/* -------------------------------------------------------------------------------------------------------- public calls */

static cuttResult read_with_rank(const cuttDistLayout_t *callers, int rank, cutt_layout *layout) {
  const cuttResult result = cutt_layout_read(callers, "layout", layout);
  if (result || rank >= 0) return result;
  return cutt_error(CUTT_INVALID_PARAMETER, "rank is %d; it must be 0 or more", rank);
}

static cuttResult check_array(const void *array, int modes, const char *name) {
  if (array || modes == 0) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to %d entries, as many as there are modes", name,
                    modes);
}

cuttResult cuttDistLayoutCheck(const cuttDistLayout_t *layout, int size) {
  cutt_layout own;
  if (size < 1) return cutt_error(CUTT_INVALID_PARAMETER, "size is %d; it must be 1 or more", size);
  const cuttResult result = cutt_layout_read(layout, "layout", &own);
  return result ? result : cutt_layout_check_ranks(&own, "layout", size);
}

/* Volume of a rank's part; extents may be NULL. */
static int64_t extents_of(const cutt_layout *layout, int rank, int64_t *extents) {
  int64_t own[CUTT_MAX_RANK];
  if (!extents) extents = own;
  const int place = place_of(layout, rank);
  if (place >= 0) return cutt_layout_extents(layout, place % layout->positions, extents);
  for (int i = 0; i < layout->modes; ++i) extents[i] = 0;
  return 0;
}

cuttResult cuttDistLocalExtents(const cuttDistLayout_t *layout, int rank, int64_t *extents) {
  cutt_layout own;
  cuttResult result = read_with_rank(layout, rank, &own);
  if (!result) result = check_array(extents, own.modes, "extents");
  if (!result) extents_of(&own, rank, extents);
  return result;
}

cuttResult cuttDistLocalCount(const cuttDistLayout_t *layout, int rank, int64_t *count) {
  cutt_layout own;
  const cuttResult result = read_with_rank(layout, rank, &own);
  if (result) return result;
  if (!count) return cutt_error(CUTT_INVALID_PARAMETER, "count is NULL; it must point to an int64_t");
  *count = extents_of(&own, rank, NULL);
  return CUTT_SUCCESS;
}

cuttResult cuttDistFind(const cuttDistLayout_t *layout, const int64_t *global, int copy, int *rank, int64_t *local) {
  cutt_layout own;
  cuttResult result = cutt_layout_read(layout, "layout", &own);
  if (!result) result = check_array(global, own.modes, "global");
  if (result) return result;
  if (!rank) return cutt_error(CUTT_INVALID_PARAMETER, "rank is NULL; it must point to an int");
  if (copy < 0 || copy >= own.copies)
    return cutt_error(CUTT_INVALID_PARAMETER, "copy is %d; it must be 0 to %d", copy, own.copies - 1);
  int position = 0, step = 1;
  for (int i = 0; i < own.modes; ++i) {
    const cutt_part *part = &own.part[i];
    if (global[i] < 0 || global[i] >= part->extent)
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "global[%d] is %" PRId64 "; it must be 0 or more and below the extent, %" PRId64, i, global[i],
                        part->extent);
    int64_t index = 0;
    position += step * cutt_part_find(part, global[i], &index);
    step *= part->parts;
    if (local) local[i] = index;
  }
  *rank = cutt_layout_rank(&own, position + copy * own.positions);
  return CUTT_SUCCESS;
}

cuttResult cuttDistGlobal(const cuttDistLayout_t *layout, int rank, const int64_t *local, int64_t *global) {
  cutt_layout own;
  int at[CUTT_MAX_RANK];
  cuttResult result = read_with_rank(layout, rank, &own);
  if (!result) result = check_array(local, own.modes, "local");
  if (!result) result = check_array(global, own.modes, "global");
  if (result) return result;
  const int place = place_of(&own, rank);
  if (place < 0) return cutt_error(CUTT_INVALID_PARAMETER, "rank is %d, which has no part of the tensor", rank);
  cutt_layout_parts(&own, place % own.positions, at);
  for (int i = 0; i < own.modes; ++i) {
    const int64_t count = cutt_part_count(&own.part[i], at[i]);
    if (local[i] < 0 || local[i] >= count)
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "local[%d] is %" PRId64 "; it must be 0 or more and below the local extent, %" PRId64, i,
                        local[i], count);
    global[i] = cutt_part_global(&own.part[i], at[i], local[i]);
  }
  return CUTT_SUCCESS;
}
