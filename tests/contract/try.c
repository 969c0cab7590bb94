/* One contraction, all the way. */
#include "try.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/buffers.h"

#if defined(__SANITIZE_ADDRESS__)
#define TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_ASAN 1
#endif
#endif
#if TEST_ASAN
#include <sanitizer/asan_interface.h>
#endif

static const char *const tensor_name[TEST_TENSORS] = {"L", "R", "D"};

static cuttBackend_t backend = CUTT_BACKEND_CPU;

void test_contraction_use(cuttBackend_t which) { backend = which; }

void test_contraction_view(const test_contraction *c, test_fields *f) {
  const cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  const cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  f->contraction = contraction;
  f->options = options;
  for (int t = 0; t < TEST_TENSORS; ++t) {
    for (int i = 0; i < c->is.rank[t]; ++i) f->extents[t][i] = test_contraction_extent(c, t, i);
  }
  cuttContraction_t *view = &f->contraction;
  view->pattern = c->pattern;
  view->type = c->type;
  view->left_rank = c->is.rank[TEST_LEFT];
  view->right_rank = c->is.rank[TEST_RIGHT];
  view->result_rank = c->is.rank[TEST_RESULT];
  view->left_extents = f->extents[TEST_LEFT];
  view->right_extents = f->extents[TEST_RIGHT];
  view->result_extents = c->seed & 1 ? f->extents[TEST_RESULT] : NULL;
  view->left_strides = c->strided[TEST_LEFT] ? c->stride[TEST_LEFT] : NULL;
  view->right_strides = c->strided[TEST_RIGHT] ? c->stride[TEST_RIGHT] : NULL;
  view->result_strides = c->strided[TEST_RESULT] ? c->stride[TEST_RESULT] : NULL;
  view->alpha = c->has_alpha ? &c->alpha : NULL;
  view->beta = c->has_beta ? &c->beta : NULL;
  view->conjugate_left = c->conjugate[0];
  view->conjugate_right = c->conjugate[1];
  f->options.backend = backend;
  f->options.threads = c->threads;
  f->options.workspace_limit = c->limit;
  f->options.provider = *c->blas ? c->blas : NULL;
  f->options.algorithm = *c->algorithm ? c->algorithm : NULL;
  f->options.choice = c->measure > 0 ? CUTT_MEASURE : CUTT_PREDICT;
  f->options.measure_seconds = c->measure;
  f->options.wisdom = c->wisdom;
}

void test_contraction_fill(const test_contraction *c, int tensor, unsigned char *data, size_t bytes) {
  const size_t element = test_type_bytes(c->type);
  int64_t low, high;
  test_contraction_span(c, tensor, &low, &high);
  if (tensor == TEST_RESULT) {
    test_fill_bits(data, bytes, element, c->seed + 77); /* any bits: what is between elements has to stay */
  } else {
    memset(data, 0xff, bytes);
  }
  const bool poisoned = tensor == TEST_RESULT ? !test_contraction_reads_result(c) : test_contraction_alpha_is_zero(c);
  const int64_t volume = test_contraction_volume(c, tensor);
  enum { SOME = 64 };
  unsigned char numbers[SOME * 16];
  for (int64_t i = 0; i < volume; ++i) {
    unsigned char *to = data + (test_contraction_at(c, tensor, i) - low) * (int64_t)element;
    if (i % SOME == 0) test_fill_numbers(numbers, SOME * element, c->type, c->seed * 3 + (uint64_t)(tensor + 5 * i));
    if (poisoned) {
      memset(to, 0xff, element);
    } else {
      memcpy(to, numbers + (size_t)(i % SOME) * element, element);
    }
  }
}

bool test_contraction_right(const test_contraction *c, const void *left, const void *right, const void *before,
                            const void *got, char *what, size_t size) {
  const int64_t volume = test_contraction_volume(c, TEST_RESULT), element = (int64_t)test_type_bytes(c->type);
  for (int64_t i = 0; i < volume; ++i) {
    long double re, im;
    const int64_t at = test_contraction_at(c, TEST_RESULT, i);
    const test_expected expected = test_define(c, left, right, before, i);
    test_element_load(c->type, (const unsigned char *)got + at * element, &re, &im);
    const long double off_re = re - expected.re, off_im = im - expected.im;
    if (off_re * off_re + off_im * off_im <= expected.bound * expected.bound) continue; /* false for a NaN */
    snprintf(what, size, "element %" PRId64 " (at %" PRId64 ") is %.17Lg%+.17Lgi, not %.17Lg%+.17Lgi, bound %.3Lg", i,
             at, re, im, expected.re, expected.im, expected.bound);
    return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------ the memory */

/* Kept from one to the next. */
static test_region region[TEST_TENSORS], work_region;
static unsigned char *copy[TEST_TENSORS];
static size_t copy_bytes[TEST_TENSORS];

static long compared;

void test_contraction_report(void) {
  printf("%s: %ld contractions compared\n", backend == CUTT_BACKEND_CUDA ? "cuda" : "cpu", compared);
}

void test_contraction_done(void) {
  for (int t = 0; t < TEST_TENSORS; ++t) {
    test_region_free(&region[t]);
    free(copy[t]);
    copy[t] = NULL;
    copy_bytes[t] = 0;
  }
  test_region_free(&work_region);
}

/* A copy of a buffer with all that is watched around it. */
static bool keep(int tensor, const test_buffer *buffer) {
  if (copy_bytes[tensor] < buffer->zone_bytes) {
    free(copy[tensor]);
    copy[tensor] = malloc(buffer->zone_bytes);
    copy_bytes[tensor] = copy[tensor] ? buffer->zone_bytes : 0;
  }
  if (copy[tensor]) memcpy(copy[tensor], buffer->zone, buffer->zone_bytes);
  return copy[tensor] != NULL;
}

static test_verdict wrong(const test_contraction *c, const char *what) {
  static char line[3 * TEST_PATTERN_BYTES];
  test_contraction_print(c, line, sizeof line);
  fprintf(stderr, "%s\n  %s\n", what, line);
  return TEST_WRONG;
}

/* AddressSanitizer is told that what lies around a buffer is not to be touched. It sees our code and not the BLAS, which may
 * read behind its operands as long as something is there (see src/contract/cblas_copy.c). */
static void forbid(const test_buffer *buffer, bool forbidden) {
#if TEST_ASAN
  unsigned char *after = buffer->data + buffer->bytes;
  const size_t before_bytes = (size_t)(buffer->data - buffer->zone),
               after_bytes = buffer->zone_bytes - before_bytes - buffer->bytes;
  (forbidden ? __asan_poison_memory_region : __asan_unpoison_memory_region)(buffer->zone, before_bytes);
  (forbidden ? __asan_poison_memory_region : __asan_unpoison_memory_region)(after, after_bytes);
#else
  (void)buffer;
  (void)forbidden;
#endif
}

/* An execution that may have nothing to complain about. */
static bool execute(const test_contraction *c, cuttContractionPlan_t plan, void *const *zero, size_t bytes, char *what,
                    size_t size) {
  test_buffer work = {NULL, 0, NULL, 0};
  const size_t given = c->workspace == 2 ? bytes + 4096 : bytes;
  const bool own = c->workspace && given;
  if (own) {
    const int at = c->workspace == 1 && given % 64 == 0 ? TEST_AT_END : 0;
    if (!test_buffer_place(&work_region, given, at, &work)) {
      snprintf(what, size, "no memory");
      return false;
    }
    memset(work.zone, 0xff, work.zone_bytes);
  }
  const test_buffer used = {work.data, bytes, work.zone, work.zone_bytes};
  if (own) forbid(&used, true);
  const cuttResult result = cuttContractionExecute(plan, zero[TEST_LEFT], c->is.one ? NULL : zero[TEST_RIGHT],
                                                   zero[TEST_RESULT], own ? work.data : NULL, own ? given : 0, NULL);
  if (own) forbid(&used, false);
  if (result) {
    snprintf(what, size, "execute: %s", cuttLastError());
    return false;
  }
  for (size_t i = 0; own && i < work.zone_bytes; ++i) {
    const ptrdiff_t at = work.zone + i - work.data;
    if (at >= 0 && at < (ptrdiff_t)bytes)
      continue; /* what is given beyond what is asked for is not to be used either */
    if (work.zone[i] == 0xff) continue;
    snprintf(what, size, "byte %td of a workspace of %zu bytes has been written", at, bytes);
    return false;
  }
  return true;
}

/* The same in a device's memory: zones with all that is around the buffers go there, each with its data at the same place
 * in 256 bytes but for what an element has to be aligned to, and back. */
static bool execute_on_device(const test_contraction *c, cuttContractionPlan_t plan, const test_buffer *buffer,
                              void *const *zero, size_t bytes, char *what, size_t size) {
  enum { PLACE = 256, GUARD = 4096 };
  const uintptr_t element = test_type_bytes(c->type);
  void *memory[TEST_TENSORS + 1] = {NULL, NULL, NULL, NULL}, *there[TEST_TENSORS];
  unsigned char *zone[TEST_TENSORS];
  cuttResult result = CUTT_SUCCESS;
  for (int t = 0; t < TEST_TENSORS && !result; ++t) {
    result = cuttMemoryAllocate(backend, buffer[t].zone_bytes + 2 * PLACE, &memory[t]);
    if (result) break;
    zone[t] = (unsigned char *)memory[t] + (uintptr_t)buffer[t].zone % PLACE;
    zone[t] -= (uintptr_t)zone[t] % element;
    zone[t] += (element - (uintptr_t)((unsigned char *)zero[t] - buffer[t].zone) % element) % element;
    there[t] = zone[t] + ((unsigned char *)zero[t] - buffer[t].zone);
    result = cuttMemoryCopy(backend, zone[t], buffer[t].zone, buffer[t].zone_bytes);
  }
  unsigned char *guard = malloc(bytes + GUARD);
  const bool own = c->workspace && bytes;
  if (!result && guard && own) {
    memset(guard, 0xff, bytes + GUARD);
    result = cuttMemoryAllocate(backend, bytes + GUARD, &memory[TEST_TENSORS]);
    if (!result) result = cuttMemoryCopy(backend, memory[TEST_TENSORS], guard, bytes + GUARD);
  }
  if (!result)
    result = cuttContractionExecute(plan, there[TEST_LEFT], there[TEST_RIGHT], there[TEST_RESULT], memory[TEST_TENSORS],
                                    own ? bytes : 0, NULL);
  for (int t = 0; t < TEST_TENSORS && !result; ++t)
    result = cuttMemoryCopy(backend, buffer[t].zone, zone[t], buffer[t].zone_bytes);
  if (!result && guard && own) result = cuttMemoryCopy(backend, guard, memory[TEST_TENSORS], bytes + GUARD);
  if (result) snprintf(what, size, "execute: %s", cuttLastError());
  bool right = !result && guard;
  for (size_t i = bytes; right && own && i < bytes + GUARD; ++i) {
    right = guard[i] == 0xff;
    if (!right) snprintf(what, size, "byte %zu of a workspace of %zu bytes has been written", i, bytes);
  }
  for (int t = 0; t <= TEST_TENSORS; ++t) cuttMemoryFree(backend, memory[t]);
  free(guard);
  return right;
}

static bool run(const test_contraction *c, cuttContractionPlan_t plan, size_t bytes, char *what, size_t size) {
  const size_t element = test_type_bytes(c->type);
  test_buffer buffer[TEST_TENSORS];
  void *zero[TEST_TENSORS];
  for (int t = 0; t < TEST_TENSORS; ++t) {
    int64_t low, high;
    test_contraction_span(c, t, &low, &high);
    if (!test_buffer_place(&region[t], (size_t)(high - low) * element, c->at[t], &buffer[t])) {
      snprintf(what, size, "no memory");
      return false;
    }
    test_fill_bits(buffer[t].zone, buffer[t].zone_bytes, 1, c->seed);
    test_contraction_fill(c, t, buffer[t].data, buffer[t].bytes);
    zero[t] = buffer[t].data - low * (int64_t)element;
    if (!keep(t, &buffer[t])) {
      snprintf(what, size, "no memory");
      return false;
    }
  }
  const bool here = backend == CUTT_BACKEND_CPU;
  for (int t = 0; here && t < TEST_TENSORS; ++t) forbid(&buffer[t], true);
  const bool done =
      here ? execute(c, plan, zero, bytes, what, size) : execute_on_device(c, plan, buffer, zero, bytes, what, size);
  for (int t = 0; here && t < TEST_TENSORS; ++t) forbid(&buffer[t], false);
  if (!done) return false;

  for (int t = TEST_LEFT; t <= TEST_RIGHT; ++t) {
    if (!memcmp(copy[t], buffer[t].zone, buffer[t].zone_bytes)) continue;
    snprintf(what, size, "%s or what is around it has been written", tensor_name[t]);
    return false;
  }
  unsigned char *const before = copy[TEST_RESULT] + ((unsigned char *)zero[TEST_RESULT] - buffer[TEST_RESULT].zone);
  if (!test_contraction_right(c, zero[TEST_LEFT], zero[TEST_RIGHT], before, zero[TEST_RESULT], what, size))
    return false;
  const int64_t volume = test_contraction_volume(c, TEST_RESULT);
  for (int64_t i = 0; i < volume; ++i) { /* what is left has to be equal */
    const int64_t at = test_contraction_at(c, TEST_RESULT, i) * (int64_t)element;
    memcpy(before + at, (unsigned char *)zero[TEST_RESULT] + at, element);
  }
  for (size_t i = 0; i < buffer[TEST_RESULT].zone_bytes; ++i) {
    if (copy[TEST_RESULT][i] == buffer[TEST_RESULT].zone[i]) continue;
    snprintf(what, size, "byte %td from D's first has been written, and is of no element",
             buffer[TEST_RESULT].zone + i - buffer[TEST_RESULT].data);
    return false;
  }
  return true;
}

test_verdict test_contraction_try(const test_contraction *c, size_t *workspace) {
  char what[600];
  test_fields fields;
  test_contraction_view(c, &fields);
  cuttContractionPlan_t plan = NULL;
  const cuttResult result = cuttContractionPlanCreate(&plan, &fields.contraction, &fields.options);
  const bool half = c->type == CUTT_F16 || c->type == CUTT_BF16;
  if (result == CUTT_INVALID_DEVICE && half && (*c->blas || strcmp(c->algorithm, "ttgt") == 0)) return TEST_NOT_OFFERED;
  if (result != CUTT_SUCCESS) {
    snprintf(what, sizeof what, "plan: %s: %s", cuttResultName(result), cuttLastError());
    return wrong(c, what);
  }
  size_t bytes = 0;
  cuttContractionInfo_t info;
  info.struct_size = sizeof info;
  bool right = false;
  if (cuttContractionWorkspace(plan, &bytes) || cuttContractionGetInfo(plan, &info)) {
    snprintf(what, sizeof what, "%s", cuttLastError());
  } else if (bytes > c->limit || info.workspace_bytes != bytes) {
    snprintf(what, sizeof what, "the plan wants %zu bytes of workspace and says %zu, and %zu is the limit", bytes,
             info.workspace_bytes, c->limit);
  } else {
    ++compared;
    right = run(c, plan, bytes, what, sizeof what);
  }
  if (workspace) *workspace = bytes;
  if (cuttContractionPlanDestroy(plan) && right) {
    snprintf(what, sizeof what, "destroy: %s", cuttLastError());
    right = false;
  }
  return right ? TEST_RIGHT_RESULT : wrong(c, what);
}
