/* What `cutt plan` hands to the part of it that explains contractions. */
#ifndef CUTT_CLI_PLAN_CONTRACT_H
#define CUTT_CLI_PLAN_CONTRACT_H

#include "cli.h"
#include "cutt_contract.h"

typedef struct cutt_cli_plan_contract {
  const char *pattern; /* of --contract; NULL: a permutation is asked for */
  const char *dtype;   /* as given, or NULL */
  int shapes;          /* how often --shape was given */
  int rank[2];
  int64_t shape[2][CUTT_MAX_RANK];
  cuttContractionOptions_t options;
  bool json, quiet;
} cutt_cli_plan_contract;

/* Explains it; an exit code. */
int cutt_cli_plan_contraction(const cutt_cli_plan_contract *request);

#endif
