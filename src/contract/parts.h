/* Sums in parts, on a GPU: chunks of a summed mode become a batch, whose results lie in workspace and are added up to D afterwards, by
 * a sum of one operand.
 *
 *   abk,kca->bc  ->  abk,kca->bca, and bca->bc
 *
 * So what is left to be multiplied has a summed mode less, and its matrices may lie as products want them where those of the whole have
 * to be permuted; or it has fewer terms, for which shared memory has room. */
#ifndef CUTT_CONTRACT_PARTS_H
#define CUTT_CONTRACT_PARTS_H

#include "contract/device_pass.h"

/* Which mode is cut, and into how many chunks of the same extent; 0: none is. */
typedef struct cutt_split {
  int mode;
  int64_t parts;
} cutt_split;

/* Can the contraction be done so? */
bool cutt_split_fits(const cutt_contraction *contraction, const cutt_split *split);

/* What is left to be multiplied, whose D is packed, in D's order, one part after the other. */
void cutt_split_products(const cutt_contraction *contraction, const cutt_split *split, cutt_contraction *products);

/* The sum of these parts. */
void cutt_split_sum(const cutt_contraction *contraction, const cutt_split *split, cutt_contraction *sum);

/* Bytes of the parts in workspace. */
int64_t cutt_split_bytes(const cutt_contraction *contraction, const cutt_split *split);

enum { CUTT_MOST_SPLITS = 3 };

/* Those that may take less than `below` seconds, by what has to be moved and multiplied, and with at most so many bytes of parts; the
 * most promising first. Returns how many. */
int cutt_splits_list(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit, double below,
                     cutt_split list[CUTT_MOST_SPLITS]);

/* Of a plan. */
typedef struct cutt_parts {
  cutt_split split;
  cutt_contraction whole; /* as it was */
  size_t offset;          /* of the parts in workspace */
  /* The sum, its predicted seconds, and where its own workspace begins, which the products have had before. */
  cutt_device_pass *sum;
  double seconds;
  size_t sum_offset;
  size_t reduce_bytes; /* of the plan without parts */
} cutt_parts;

/* Predicted seconds of the sum, which has at most so many bytes of workspace. */
double cutt_parts_seconds(const cutt_contraction *contraction, const cutt_split *split, const cutt_rates *rates,
                          int64_t limit);

/* Prepares all but the products, with the parts at this offset of the workspace, of which there may be limit bytes in all.
 * cutt_parts_release frees it. Errors: as cutt_device_pass_prepare. */
cuttResult cutt_parts_prepare(const cutt_contraction *contraction, const cutt_split *split, const cutt_rates *rates,
                              const cutt_runtime *runtime, size_t offset, int64_t limit, cutt_parts **made);
void cutt_parts_release(cutt_parts *parts);

#endif
