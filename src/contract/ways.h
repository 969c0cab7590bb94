/* Ways to do a contraction: in one pass or by products, as a list and as words. */
#ifndef CUTT_CONTRACT_WAYS_H
#define CUTT_CONTRACT_WAYS_H

#include "base/text.h"
#include "contract/choose.h"

typedef struct cutt_way {
  cutt_split split; /* the sum is done in parts, which all that follows is of */
  bool one_pass;
  cutt_pass_shape shape;        /* in one pass, on the CPU */
  cutt_device_shape device;     /* in one pass, on a GPU */
  cutt_algorithm_choice choice; /* by products */
  /* These by an algorithm that the library lists: its number there, from 1 on, for people; 0: the first. */
  int number;
  cutt_gemm_algorithm algorithm;
  double seconds; /* predicted, to be compared with those of other ways */
} cutt_way;

enum { CUTT_MOST_WAYS = 12 };

/* The ways with the shortest predicted times, of a plan that has been started, the fastest first. limit: of workspace, beside
 * what the sums beforehand take. Errors: as of planning a permutation. */
cuttResult cutt_ways_list(const struct cuttContractionStruct *plan, int64_t limit, cutt_way list[CUTT_MOST_WAYS],
                          int *count);

/* Makes the rest of a plan that has been started. limit: of all workspace. */
cuttResult cutt_way_take(struct cuttContractionStruct *plan, const cutt_way *way, int64_t limit);

/* The problem, and the way, in the words of a wisdom file: names and whole numbers. The problem's are all that times depend on
 * but the device. */
void cutt_way_problem(const struct cuttContractionStruct *plan, int64_t limit, cutt_text *text);
void cutt_way_words(const cutt_contraction *contraction, const cutt_way *way, cutt_text *text);

/* Reads words back. They are not trusted: NULL where the way can be taken, else the reason why not. */
const char *cutt_way_read(const struct cuttContractionStruct *plan, const char *words, int64_t limit, cutt_way *way);

/* The way in few words for people. */
void cutt_way_name(const cutt_contraction *contraction, const cutt_way *way, cutt_text *text);

#endif
