/* The steps of making a plan, for those who choose the way otherwise than by the model (prepare.c). */
#ifndef CUTT_CONTRACT_PREPARE_H
#define CUTT_CONTRACT_PREPARE_H

#include "contract/plan.h"

/* Fills in all that does not depend on the choice: the sums that are done beforehand, and the rates. *done: there is nothing to be
 * chosen, and the plan is made. */
cuttResult cutt_contraction_start(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                  const cutt_blas *blas, int threads, int64_t limit, bool *done);

/* Plans the sums over modes that only one operand has, by plans of their own, and puts their results in the operands' place. Not with
 * operators that do not go past the product; nor where the other operand has one element: then the contraction is such a sum itself;
 * nor where the sum would take more than the workspace's limit: its modes are loops then. */
cuttResult cutt_contraction_sum_first(struct cuttContractionStruct *plan, int64_t limit);

/* A sum in parts takes the place of what is fastest without it where it is predicted to take less than this share of the time, by more than such
 * predictions err. */
#define CUTT_PARTS_WORTH 0.93

/* Has the sum done in parts: what is left is to be taken after that. Then makes the rest of the plan: by the model's choice; in one pass, on
 * the CPU or on a GPU; by the algorithm in plan->algorithm, of which plan->cost is the cost. */
cuttResult cutt_contraction_take_parts(struct cuttContractionStruct *plan, const cutt_split *split, int64_t limit);
cuttResult cutt_contraction_decide(struct cuttContractionStruct *plan, int64_t limit);
cuttResult cutt_contraction_take_pass(struct cuttContractionStruct *plan, const cutt_pass_shape *shape);
cuttResult cutt_contraction_take_device_pass(struct cuttContractionStruct *plan, const cutt_device_shape *shape);
cuttResult cutt_contraction_take_products(struct cuttContractionStruct *plan, const cutt_gemm_algorithm *algorithm,
                                          int64_t limit);

/* The products of whole blocks of a plan that has taken products, as the library lists algorithms for them; and has them done by one of that
 * list, whose words may be from a file, as taking products has. NULL: by the first of the list, which is mostly faster than what the library does
 * unasked (on an H200 1.04 times in the mean of 640 products, up to 1.6, 0.91 at worst). limit: of all workspace. Errors of the second: as of
 * cutt_blas's choose. */
void cutt_contraction_products_of(const struct cuttContractionStruct *plan, int64_t limit, cutt_gemm_case *of);
cuttResult cutt_contraction_take_algorithm(struct cuttContractionStruct *plan, const cutt_gemm_algorithm *algorithm,
                                           int64_t limit);

/* Frees what these made. */
void cutt_contraction_untake(struct cuttContractionStruct *plan);

/* Can it be done in one pass? */
bool cutt_contraction_has_pass(const struct cuttContractionStruct *plan);

#endif
