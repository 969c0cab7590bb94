/* What ranks on devices send from and receive into, without a GPU: slots, tensors, and memory that NCCL knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/dist_setting.h"

/* The modes of a cube reversed, which is spread by its middle mode and then by the output's last one, so that messages are packed; or
 * by the output's first one, the input's last, so that they lie in one run of the input. */
typedef struct lying {
  setting *s;
  bool in_runs;
  bool right[DIST_MOST];
  char text[DIST_MOST][FAILURE_BYTES];
} lying;

static void reverse_lying(void *what, int rank) {
  lying *l = what;
  static const int reversed[3] = {2, 1, 0};
  const int from_parts[3] = {1, l->s->size, 1},
            to_parts[3] = {l->in_runs ? l->s->size : 1, 1, l->in_runs ? 1 : l->s->size};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  void *in = NULL, *out = NULL;
  fake->context_set(dist_context[rank]);
  from.modes = to.modes = 3;
  from.extents = to.extents = dist_cube;
  from.parts = from_parts;
  to.parts = to_parts;
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = reversed;
  options.backend = CUTT_BACKEND_CUDA;
  options.direct = CUTT_DIST_DIRECT_NEVER;
  options.permute = CUTT_DIST_UNPACK;
  const size_t bytes = (size_t)dist_cube_fill(&from, rank, NULL) * sizeof(double);
  cuttMemoryAllocate(CUTT_BACKEND_CUDA, bytes, &in);
  cuttMemoryAllocate(CUTT_BACKEND_CUDA, bytes, &out);
  dist_cube_fill(&from, rank, in);
  memset(out, 0xee, bytes);
  cuttResult result = cuttDistPlanCreate(&plan, l->s->comms[rank], &problem, &options);
  if (!result) result = cuttDistPlanExecute(plan, in, out, NULL);
  if (result) snprintf(l->text[rank], sizeof l->text[rank], "%s", cuttLastError());
  l->right[rank] = !result && dist_cube_is_reversed(&to, rank, out);
  cuttDistPlanDestroy(plan);
  cuttMemoryFree(CUTT_BACKEND_CUDA, in);
  cuttMemoryFree(CUTT_BACKEND_CUDA, out);
  fake->context_set(NULL);
}

/* Kernels and copies of two ranks (-1: any number), and whether messages were between memory that NCCL knows. */
static void assert_lying(kind k, bool in_runs, long steps, bool known) {
  lying *l = calloc(1, sizeof *l);
  setting s;
  assert_non_null(l);
  open_setting(&s, k, 2);
  *l = (lying){.s = &s, .in_runs = in_runs};
  fake->forget();
  atomic_store(&dist_nccl->between_known, 0);
  ranks_run(s.size, reverse_lying, l);
  for (int i = 0; i < s.size; i++)
    if (!l->right[i]) fail_msg("rank %d: wrong: %s", i, l->text[i]);
  if (steps >= 0) assert_int_equal(fixture_calls(FAKE_launch_kernel) + fixture_calls(FAKE_memcpy_async), steps);
  assert_int_equal(atomic_load(&dist_nccl->between_known) > 0, known);
  close_setting(&s);
  free(l);
}

/* What lies in one run of the input is packed nowhere: each rank moves what stays and the message, and unpacks them together. Messages of
 * NCCL that are packed and unpacked are between memory that it knows; not those of which one end is in a tensor. */
static void messages_lie_in_runs(void **unused) {
  (void)unused;
  static const kind kinds[] = {THREADS, THROUGH_HOST, NCCL_ALONE};
  for (int i = 0; i < 3; i++) {
    const bool nccl = kinds[i] == NCCL_ALONE;
    assert_lying(kinds[i], false, nccl ? -1 : 2 * 4, nccl);
    assert_lying(kinds[i], true, nccl ? -1 : 2 * 3, false);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(messages_lie_in_runs, dist_start, dist_end)};
  return cmocka_run_group_tests_name("cuda_dist_messages", tests, dist_open, NULL);
}
