/* Launches of contractions in one pass, run by the emulator (emulated.h). */
#include "emulated.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "try.h"

cutt_rates test_rates = {.gpu = true,
                         .threads = 1,
                         .multiprocessors = 132,
                         .flops = 60e12,
                         .memory = 4e12,
                         .fetch = 4e12,
                         .sm_shared = 228 << 10,
                         .block_shared = 227 << 10,
                         .matrix_units = true,
                         .bulk_copies = true};

/* ------------------------------------------------------------------------------------------------- a runtime of launches alone */

/* What the launches may touch. */
static simt_span spans[TEST_TENSORS], workspace;
static char fault[768];
static bool reads_result;
static simt_counts *counting; /* NULL: nothing is counted */

static cuttResult find(const cutt_kernel_list *list, const cutt_kernels **kernels) {
  static cutt_kernels found[2]; /* those that add up parts are in a list of their own */
  cutt_kernels *const kept = &found[strstr(list->name[0], "join") != NULL];
  kept->list = list;
  *kernels = kept;
  return CUTT_SUCCESS;
}

static bool inside(simt_span span, const unsigned char *p) {
  return span.bytes && (uintptr_t)p - (uintptr_t)span.low <= span.bytes;
}

static cuttResult launch(const cutt_kernels *kernels, int which, const cutt_grid *grid, void **parameters,
                         cudaStream_t stream) {
  (void)stream;
  simt_launch l = {.in = *(const unsigned char **)parameters[0],
                   .out = *(unsigned char **)parameters[1],
                   .right = *(const unsigned char **)parameters[3],
                   .blocks = grid->blocks,
                   .threads = grid->threads,
                   .shared_bytes = grid->shared_bytes,
                   .async = true,
                   .reads_out = reads_result};
  if (strstr(kernels->list->name[which], "combine")) {
    l.third = *(const unsigned char **)parameters[4];
    l.read_third = spans[TEST_RESULT];
  }
  const bool joins = inside(workspace, l.in), parts = inside(workspace, l.out);
  l.read = joins ? workspace : spans[TEST_LEFT]; /* the operands may be the other way round */
  if (!joins) l.read_right = spans[TEST_RIGHT];
  l.write = parts ? workspace : spans[TEST_RESULT];
  if (parts) l.reads_out = false;
  if (!simt_pass_named(kernels->list->name[which], parameters[2], &l)) return CUTT_INTERNAL_ERROR;
  /* As much as a T4 has; or the first GPUs with tensor cores for doubles. */
  if (l.shared_bytes > (strstr(kernels->list->name[which], "core") || strstr(kernels->list->name[which], "small") ||
                                strstr(kernels->list->name[which], "stretch") ||
                                strstr(kernels->list->name[which], "staged") ||
                                strstr(kernels->list->name[which], "strip")
                            ? test_rates.block_shared
                            : 64 << 10)) {
    snprintf(fault, sizeof fault, "%u bytes of shared memory", l.shared_bytes);
    return CUTT_INTERNAL_ERROR;
  }
  /* Copies in bulk by turns, which are not counted. */
  static unsigned turn;
  l.bulk = !counting && turn++ % 2;
  int64_t written = 0;
  return simt_run(&l, &written, counting, fault, sizeof fault) ? CUTT_SUCCESS : CUTT_INTERNAL_ERROR;
}

const char *emulated_run(const cutt_contraction *c, const cutt_device_shape *shape,
                         const simt_span tensors[TEST_TENSORS], unsigned char *const at[TEST_TENSORS],
                         simt_counts *counts) {
  static const cutt_runtime runtime = {.has_streams = true, .kernels_find = find, .launch = launch};
  cutt_device_pass *pass = NULL;
  assert_success(cutt_device_pass_prepare(c, &test_rates, shape, &runtime, &pass));
  unsigned char *work = malloc(pass->workspace + 1);
  assert_non_null(work);
  memcpy(spans, tensors, sizeof spans);
  workspace = (simt_span){work, pass->workspace};
  reads_result = !c->beta_is_zero;
  counting = counts;
  const bool good =
      cutt_device_pass_run(pass, &runtime, at[TEST_LEFT], at[TEST_RIGHT], at[TEST_RESULT], work, NULL) == CUTT_SUCCESS;
  free(work);
  cutt_device_pass_release(pass);
  return good ? NULL : fault;
}

/* ---------------------------------------------------------------------------------------------------------------- one shape */

static test_placed placed;

const test_placed *emulated_place(const test_contraction *c, bool behind) {
  test_contraction aligned = *c;
  for (int t = 0; t < TEST_TENSORS; ++t) aligned.at[t] = behind ? (int)test_type_bytes(c->type) : 0;
  test_place(&placed, &aligned);
  return &placed;
}

static void fail_shape(const test_contraction *t, const cutt_device_shape *s, const char *what) {
  char line[3 * TEST_PATTERN_BYTES];
  test_contraction_print(t, line, sizeof line);
  fail_msg("way %d, %" PRId64 " positions, %" PRId64 " rows, %" PRId64 " parts, turned %d and %d: %s\n  %s",
           (int)s->way, s->positions, s->rows, s->parts, s->turned[0], s->turned[1], what, line);
}

void emulated_hold(const test_contraction *t, const cutt_contraction *c, const cutt_device_shape *shape,
                   simt_counts *counts) {
  simt_span tensors[TEST_TENSORS];
  unsigned char *at[TEST_TENSORS];
  char what[600];
  for (int i = 0; i < TEST_TENSORS; ++i) {
    tensors[i] = (simt_span){placed.buffer[i].data, placed.buffer[i].bytes};
    at[i] = placed.zero[i];
  }
  test_placed_restore(&placed);
  const char *wrong = emulated_run(c, shape, tensors, at, counts);
  if (wrong) fail_shape(t, shape, wrong);
  if (!test_contraction_right(t, at[TEST_LEFT], at[TEST_RIGHT], test_placed_before(&placed), at[TEST_RESULT], what,
                              sizeof what))
    fail_shape(t, shape, what);
  test_placed_assert_gaps(&placed, t, placed.buffer[TEST_RESULT].zone);
}

void emulated_case(const char *pattern, cuttType_t type, const int64_t *extent, test_contraction *t,
                   cutt_contraction *c) {
  test_fields fields;
  assert_true(test_contraction_make(pattern, type, t));
  for (int label = 0; label < t->is.labels; ++label) t->extent[label] = extent[label];
  test_contraction_finish(t);
  test_contraction_view(t, &fields);
  assert_success(cutt_contraction_check(&fields.contraction, c));
}

int emulated_cleanup(void **unused) {
  (void)unused;
  test_placed_free(&placed);
  simt_cleanup();
  return 0;
}
