/* One case of a benchmark of contractions: plan, check, time beside its matrix product. */
#ifndef CUTT_CLI_BENCH_CONTRACT_RUN_H
#define CUTT_CLI_BENCH_CONTRACT_RUN_H

#include "contract_cases.h"

/* What the cases of a run share. */
typedef struct cutt_bench_contract_run {
  const cutt_cli_number *number;
  cuttContractionOptions_t options; /* backend: as it is used */
  double case_seconds;              /* how long timing a case should take */
  bool check;
  uint64_t checks;                /* that have been made: each looks at other elements */
  void *tensor[CUTT_CLI_TENSORS]; /* of the backend's memory, for the largest of each */
  void *host;                     /* a device: where results are fetched to */
  void *workspace;                /* grows */
  size_t workspace_bytes;
} cutt_bench_contract_run;

typedef struct cutt_bench_contract_result {
  const cutt_bench_contraction *c;
  char error[384];            /* why there are no figures, or why the result is wrong; "" when all is well */
  cuttContractionInfo_t info; /* of the plan */
  int rounds;
  double seconds, seconds_least; /* of an execution: the median, the fastest */
  double gemm_seconds;           /* of the matrix product alone, alternating with it: the median */
  double permute_share;          /* of an execution: the median */
  double plan_seconds;           /* of creating the plan: the median */
} cutt_bench_contract_result;

/* Takes the memory that all cases need, and fills the operands. On false nothing is held, and `why` says what
 * failed. */
bool cutt_bench_contract_open(cutt_bench_contract_run *run, const cutt_bench_contractions *cases, char *why,
                              size_t why_size);
void cutt_bench_contract_close(cutt_bench_contract_run *run);

/* Runs one case. What goes wrong is result->error. */
void cutt_bench_contract_case(cutt_bench_contract_run *run, const cutt_bench_contraction *c,
                              cutt_bench_contract_result *result);

#endif
