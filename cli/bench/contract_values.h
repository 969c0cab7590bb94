/* What the operands of benchmarked contractions hold, and whether a result is right. */
#ifndef CUTT_CLI_BENCH_CONTRACT_VALUES_H
#define CUTT_CLI_BENCH_CONTRACT_VALUES_H

#include "contract_cases.h"

/* Elements begin .. begin + count - 1 of an operand (CUTT_CLI_LEFT or CUTT_CLI_RIGHT): random numbers between -1 and 1,
 * which differ from element to element as far as the type can tell them apart, and follow from the element's index. */
void cutt_bench_contract_fill(const cutt_cli_number *number, int operand, void *memory, int64_t begin, int64_t count);

/* NaN everywhere. */
void cutt_bench_contract_poison(void *memory, size_t bytes);

/* Compares a result, all of which is in host memory and was poisoned before, with the definition: a sample of elements,
 * the first, the last and random ones that follow from `draw`, and whether any element was left out. On false `why`
 * says which element is wrong. */
bool cutt_bench_contract_check(const cutt_cli_number *number, const cutt_bench_contraction *c, const void *result,
                               uint64_t draw, char *why, size_t why_size);

#endif
