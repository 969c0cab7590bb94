/* A permutation of an array in memory, as the subcommands have it done, and planning parts of it. */
#ifndef CUTT_CLI_PERMUTE_JOB_H
#define CUTT_CLI_PERMUTE_JOB_H

#include "cli.h"

/* What is to be done, in the library's order of modes, and how it went. */
typedef struct cutt_cli_permute_job {
  int rank;
  int64_t extents[CUTT_MAX_RANK]; /* of the input's modes; none is 0 */
  int64_t strides[CUTT_MAX_RANK]; /* of the input's modes, packed */
  int perm[CUTT_MAX_RANK];
  int elem_bytes;
  int64_t bytes;         /* of all elements */
  const uint8_t *in;     /* the first element */
  uint8_t *out;          /* likewise; overwritten more than once when copy speed or choices are measured */
  cuttOptions_t options; /* backend: as asked for */
  /* What that comes to here; becomes the CPU when it was left open and a device lacks the memory. */
  cuttBackend_t backend;
  bool quiet; /* no comparison with copy speed, no word on a change of backend */
  cutt_cli_progress progress;
  cuttPlanInfo_t info; /* result: the plan that did it, or most of it */
  double seconds;      /* result: that one permutation takes, in executing plans alone */
  double copy_gbs;     /* result: GB/s of a copy of the same memory, read and write counted; 0 when quiet */
} cutt_cli_permute_job;

/* Plans the permutation of a part of the input: `extents` of it, from `in`, to be packed at `out`. On false a message
 * has been given. */
bool cutt_cli_plan_part(cutt_cli_permute_job *job, const int64_t *extents, const void *in, void *out, cuttPlan_t *plan);

#endif
