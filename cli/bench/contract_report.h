/* What a benchmark of contractions found: the row of a case, the closing tables, and the JSON. */
#ifndef CUTT_CLI_BENCH_CONTRACT_REPORT_H
#define CUTT_CLI_BENCH_CONTRACT_REPORT_H

#include "contract_run.h"

/* What was asked for, as far as the report says it. */
typedef struct cutt_bench_contract_setup {
  const char *set;
  const cutt_cli_number *number;
  cuttBackend_t backend;
  int threads;          /* CPU */
  const char *provider; /* as asked for, or NULL */
  size_t workspace_limit;
  bool check;
  int64_t volume, samples; /* 0: as listed; all */
  uint64_t seed;
} cutt_bench_contract_setup;

/* The rows of the table. */
void cutt_bench_contract_head(FILE *file, const cutt_bench_contractions *cases);
void cutt_bench_contract_row(FILE *file, const cutt_bench_contractions *cases,
                             const cutt_bench_contract_result *result);

/* Groups, bins of arithmetic intensity (the paper's Fig. 11 to 13), and the worst cases. False when memory ran out. */
bool cutt_bench_contract_summary(FILE *file, const cutt_bench_contract_setup *setup,
                                 const cutt_bench_contract_result *results, size_t count);

/* All of it as JSON. False with errno set when the file refused or memory ran out. */
bool cutt_bench_contract_write_json(FILE *file, const cutt_bench_contract_setup *setup,
                                    const cutt_bench_contract_result *results, size_t count);

#endif
