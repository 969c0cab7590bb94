/* The methods of one kind of processor, as a table of functions. They know a target, and neither the machine nor the
 * environment; what moves data is reached through the runtime (runtime/runtime.h).
 *
 *   canonical problem -> enumerate -> candidates with predicted seconds -> (choice) -> prepare -> execute */
#ifndef CUTT_MODEL_METHOD_H
#define CUTT_MODEL_METHOD_H

#include "model/candidate.h"

/* Executions that may be done in any order, or at the same time: none writes what another one reads or writes. One plan's, or
 * each another's. The pointers are the user's; overlap and NULL have been checked. */
typedef struct cutt_executions {
  int64_t count;
  /* in[n][i]: the n-th input of execution i. in[1] is NULL where that is the output, as always on the CPU. */
  const void *const *in[CUTT_INPUTS];
  int op; /* what becomes of alpha's term and beta's, by the numbers of cuttOperator_t: 0 the sum; on the CPU always that */
  void *const *out;
  /* What prepare has made for execution i; NULL: there is nothing to do. Asked any number of times, by any thread. */
  const void *(*prepared)(const void *of, int64_t i);
  const void *of;
  /* What prepared gives for every one of them, where that is known; else NULL, and prepared is asked. */
  const void *same;
  bool trusted; /* the callers vouch for pointers and context (options.trust_pointers) */
  int threads;  /* most to use where there are several executions; 0: the target's default. One has its candidate's */
} cutt_executions;

typedef struct cutt_methods {
  const char *const *param_name; /* CUTT_PARAMS entries, NULL for unused ones */

  /* Bytes of a tensor that calibration draws its random problems by, in this order, again and again; what stands there more often is drawn more
   * often. Returns how many, at most max, at least 1, and not a multiple of three: every third problem is held back. NULL:
   * sizes that suit a GPU. */
  int (*calibration_sizes)(const cutt_target *target, int64_t *list, int max);
  /* What the paper's model predicts for a candidate, in seconds; 0: it is not one for the target. NULL: there is no such model
   * for this kind of processor. */
  double (*paper_seconds)(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate);

  /* Fills list (at most max) with candidates for the target, predicted seconds included, fastest predicted first. Returns how
   * many: at least 1 for every problem of up to 2^40 bytes, and 0 where even then there is none. The first is the same whatever
   * max is; those that are far behind it may be left out. No allocation.
   * threads: most threads to use, >= 1 (0: the target's default). */
  int (*enumerate)(const cutt_target *target, cutt_model model, const cutt_canonical *canonical, int threads,
                   cutt_candidate *list, int max);
  /* What a candidate is and what its time is made of, by its own model. */
  void (*explain)(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                  cutt_explanation *explanation);
  /* Is this candidate (read from a file, say) one that prepare would take? *why says why not. */
  bool (*accept)(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                 const char **why);
  /* Everything that execution needs on the device at hand, which the target describes; immutable from then on. *prepared is
   * freed by release. */
  cuttResult (*prepare)(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                        void **prepared);
  /* Allocates nothing, locks nothing. On an error some of the executions may have been done or started. */
  cuttResult (*execute)(const cutt_executions *executions, cudaStream_t stream);
  void (*release)(void *prepared);
} cutt_methods;

static inline const void *cutt_only_prepared(const void *of, int64_t i) {
  (void)i;
  return of;
}

/* One execution of what prepare has made. */
static inline cuttResult cutt_execute_one(const cutt_methods *methods, const void *prepared, bool trusted,
                                          const void *in, void *out, cudaStream_t stream) {
  const cutt_executions one = {.count = 1,
                               .in = {&in},
                               .out = &out,
                               .prepared = cutt_only_prepared,
                               .of = prepared,
                               .same = prepared,
                               .trusted = trusted};
  return methods->execute(&one, stream);
}

#endif
