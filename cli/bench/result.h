/* What is found out of a case, and what was asked for. */
#ifndef CUTT_CLI_BENCH_RESULT_H
#define CUTT_CLI_BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "cases.h"

/* A candidate that something chose. */
typedef struct cutt_bench_pick {
  int candidate;      /* its place in the list, from 1; 0: there is none */
  double seconds;     /* the median of the final, see candidates.c */
  bool correlated;    /* of a model: whether the next is known */
  double correlation; /* Spearman's, of the predicted and the measured times of all that was timed */
} cutt_bench_pick;

/* The first K candidates of the model, for these K. */
enum { CUTT_BENCH_GAINS = 5 };
extern const int cutt_bench_gain_of[CUTT_BENCH_GAINS];

/* What timing its candidates says of a case. */
typedef struct cutt_bench_choice {
  /* Candidates; 0: none of the rest is known. */
  int listed, timed;
  double copy_seconds; /* of a copy in rotation with the final's candidates */
  /* By the model, by the paper's, and the fastest of all. */
  cutt_bench_pick predicted, paper, measured;
  /* Time of the fastest over that of the fastest of the first K. */
  double gain[CUTT_BENCH_GAINS];
} cutt_bench_choice;

typedef struct cutt_bench_result {
  const cutt_bench_case *c;
  char error[384];          /* why there are no figures, or why the result is wrong; "" when all is well */
  const char *method, *isa; /* the library's texts */
  int plan_threads;         /* threads that the plan uses */
  int fused_rank;
  int samples;              /* times that it was timed, alternating with a copy */
  double seconds;           /* of an execution, the median */
  double seconds_least;     /* the fastest */
  double copy_seconds;      /* of a copy of as many bytes beside it, the median */
  const char *copy_loop;    /* which copy loop that was */
  double gbs, copy_gbs;     /* bytes that move by the paper's count, per second, in 1e9 */
  double plan_seconds;      /* of creating the plan, the median */
  double model_seconds;     /* what the model predicted */
  double predicted_seconds; /* with --measure: of an execution of the predicted choice, the median; else 0 */
  json_t *candidate;        /* the choice, as the library describes it; or NULL */
  json_t *candidates;       /* with --all-candidates: all of them, those that were timed with "seconds"; else NULL */
  cutt_bench_choice choice; /* with --all-candidates */
} cutt_bench_result;

/* What was asked for, as far as the report says it. */
typedef struct cutt_bench_setup {
  const char *set; /* "set1" or the file's name */
  const char *dtype;
  int elem_bytes;
  cuttBackend_t backend;
  int threads;       /* CPU */
  const char *check; /* "all", "sample", "nothing" */
  bool measure;
  int most_candidates; /* 0: all */
  double beta;
  int64_t volume; /* 0: as listed */
  int samples;
  uint64_t seed;
} cutt_bench_setup;

/* Percent of copy speed. */
double cutt_bench_percent(const cutt_bench_result *result);

/* Were its candidates timed? */
bool cutt_bench_has_choice(const cutt_bench_result *result);

/* Lets go of what results own. */
void cutt_bench_results_free(cutt_bench_result *results, size_t count);

#endif
