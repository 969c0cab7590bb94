/* What carries out candidates for the tests: the CPU backend, the kernels under the emulator, a GPU. support/try.c holds
 * a problem to the plain definition through one of these tables, and tests/support/property.c all problems. */
#ifndef CUTT_TESTS_ENGINE_H
#define CUTT_TESTS_ENGINE_H

#include "plan/backend.h"
#include "support/buffers.h"
#include "support/problem.h"

/* The buffers of one execution, in host memory. The image of the output, poison and guards around it included, has been
 * laid before the execution and is compared as a whole after it: an engine whose memory is elsewhere copies in_buffer and
 * the whole zone of out_buffer there, with the same remainders of addresses by 64, and the zone back. */
typedef struct test_memory {
  const test_problem *problem;
  test_buffer in_buffer, out_buffer; /* data and bytes: what the tensors span */
  const unsigned char *in;           /* element (0, ..., 0), as the library is given it */
  unsigned char *out;
} test_memory;

typedef struct test_engine {
  const char *name;     /* "cpu" */
  const char *program;  /* what repeats a problem: "test_property" */
  int64_t most_volume;  /* for an engine that is slow: larger problems are left out, and lists sampled; 0: any */
  bool aligned_scalars; /* alpha, beta and conjugate want buffers that are aligned to the type's numbers */
  const char *(*param_name)(int number); /* of a candidate's parameter, or NULL */

  /* As in cutt_backend. */
  int (*enumerate)(const cutt_canonical *canonical, int threads, cutt_candidate *list, int max);
  bool (*accept)(const cutt_canonical *canonical, const cutt_candidate *candidate, const char **why);
  /* Runs an accepted candidate once, to the end. mode: what vary has set, 0 without. False, with a reason, when the
   * candidate is refused or the execution fails. */
  bool (*run)(const cutt_canonical *canonical, const cutt_candidate *candidate, unsigned mode,
              const test_memory *memory, char *error, size_t size);

  /* Would it take too long for a test? Then it is tried only where the model chooses it. NULL: none does. */
  bool (*slow)(const cutt_canonical *canonical, const cutt_candidate *candidate);

  /* A candidate of random shape, which need not be acceptable. */
  cutt_candidate (*shape)(test_rng *rng, const cutt_canonical *canonical, int threads);
  /* The way-th way (from 1 on) to do candidate `number` of `count` otherwise: changes the candidate, which need not be
   * acceptable then, or the mode, or neither when this way does not apply. False: there is no such way, nor a later one. */
  bool (*vary)(const test_problem *problem, int number, int count, int way, cutt_candidate *candidate, unsigned *mode);

  /* Executes a plan of the public interface, made with options.backend = backend, on the memory. NULL: can't be. */
  cuttBackend_t backend;
  bool (*execute)(cuttPlan_t plan, const test_memory *memory, char *error, size_t size);
} test_engine;

extern const test_engine test_engine_cpu;

/* The engine of test_try from now on; the CPU's until then. */
void test_use_engine(const test_engine *engine);
const test_engine *test_engine_in_use(void);

#endif
