/* Contracting two arrays in memory on behalf of a subcommand: on the processor where they are, or through the memory of
 * a device. */
#ifndef CUTT_CLI_CONTRACT_RUN_H
#define CUTT_CLI_CONTRACT_RUN_H

#include "contraction.h"

/* What is to be done, and how it went. */
typedef struct cutt_cli_contract_job {
  const char *command; /* for messages of wrong usage */
  const cutt_cli_contraction *contraction;
  cuttContractionOptions_t options; /* backend: what it comes to here */
  bool wisdom_is_new;               /* options.wisdom is of a file that is to be made */
  bool may_fall_back;               /* to the processor, when a device lacks the memory: --backend was left open */
  const void *operand[2];           /* in this machine's byte order */
  void *result;                     /* packed in C order */
  int64_t bytes[CUTT_CLI_TENSORS];  /* of each array */
  const void *initial;              /* with beta: what the result holds before; NULL: nothing */
  const int64_t *initial_strides;   /* of that, NumPy's order, in elements */
  bool timed;                       /* short work is also done a few times for the sake of its timing */
  bool quiet;                       /* no word on a change of backend */
  cutt_cli_progress progress;
  cuttContractionPlan_t plan;   /* the caller plans and destroys; another takes its place when memory is short */
  cuttContractionInfo_t info;   /* result: of the plan that did it */
  cuttContractionTimes_t times; /* result: seconds; permute and gemm as measured, or as predicted */
  bool predicted;               /* result: the latter */
} cutt_cli_contract_job;

/* Does the job. CUTT_CLI_DONE, or another exit code after a message. */
int cutt_cli_contract_run(cutt_cli_contract_job *job);

#endif
