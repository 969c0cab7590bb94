/* Contractions that sum nothing, as elementwise operations (elementwise.h): D = (alpha L) R + beta D, D then being an operand, too. */
#ifndef CUTT_CONTRACT_COMBINE_H
#define CUTT_CONTRACT_COMBINE_H

#include "contract/cost.h"
#include "contract/elementwise.h"

/* Is it one of these, of two operands? */
bool cutt_is_combination(const cutt_contraction *contraction);

/* Its type, operands, operators and modes, in a plan that is all 0. */
void cutt_combination_set(const cutt_contraction *contraction, struct cuttElementwiseStruct *plan);

/* On the CPU: predicted seconds of one, by those of the fastest pass in tiles (pass.h): tensors in memory take less time, in caches more, since
 * tiles begin sooner. */
double cutt_combination_seconds(const cutt_contraction *contraction, const cutt_rates *rates, double tiles);

/* On the CPU: prepares what cutt_combination_release frees. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_combination_prepare(const cutt_contraction *contraction, const cutt_backend *backend, int threads,
                                    struct cuttElementwiseStruct **combination);
void cutt_combination_release(struct cuttElementwiseStruct *plan);

/* The addresses of a combination's tensors, D also as the third operand. */
void cutt_combination_tensors(const struct cuttElementwiseStruct *plan, const unsigned char *left,
                              const unsigned char *right, unsigned char *result, void *tensor[CUTT_MOST_TENSORS]);

#endif
