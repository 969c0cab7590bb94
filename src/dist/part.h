/* One mode of a layout: which of its indices each part has; and which indices a part of one layout and a part of another have
 * in common. */
#ifndef CUTT_DIST_PART_H
#define CUTT_DIST_PART_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cutt_part {
  int64_t extent;
  int64_t block; /* 0: stretches of near-even length; never above 0 where there is one part */
  int parts;
} cutt_part;

/* How many indices part number `at` has. */
int64_t cutt_part_count(const cutt_part *part, int at);
/* The part that has a global index, and the index in it. */
int cutt_part_find(const cutt_part *part, int64_t global, int64_t *local);
/* The global index of a local one of part number `at`. */
int64_t cutt_part_global(const cutt_part *part, int at, int64_t local);

enum { CUTT_SET_LEVELS = 3, CUTT_FROM = 0, CUTT_TO = 1, CUTT_SIDES = 2 };

/* Indices that two parts have in common, as nested loops, the innermost first: a run of neighbours, the runs of a cycle, and the
 * cycles. start and step are local to each side. */
typedef struct cutt_set {
  int64_t extent[CUTT_SET_LEVELS];
  int64_t start[CUTT_SIDES];
  int64_t step[CUTT_SIDES][CUTT_SET_LEVELS];
} cutt_set;

typedef struct cutt_sets {
  cutt_set *set;
  int64_t count, room;
} cutt_sets;

/* Adds the sets whose union is what part from_at of `from` and part to_at of `to` have in common, which are parts of one mode:
 * their extents are equal. The sets depend on nothing else. false: out of memory. */
bool cutt_sets_add(cutt_sets *sets, const cutt_part *from, int from_at, const cutt_part *to, int to_at);
void cutt_sets_free(cutt_sets *sets);
/* Indices in sets [first, end). */
int64_t cutt_sets_volume(const cutt_sets *sets, int64_t first, int64_t end);

#endif
