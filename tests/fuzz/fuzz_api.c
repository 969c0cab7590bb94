/* libFuzzer target for the descriptor interface: bytes are read as a problem and options. Whatever they say, planning
 * must not crash, and must say what is wrong when it refuses; what is accepted and small is executed, with the chosen
 * plan, every candidate and some changed ones, in guarded memory, and held to the plain definition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/input.h"
#include "support/problem.h"
#include "support/try.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 18 }; /* of a side's span, for what is executed */

static cuttType_t type_of(stream *s, bool wild) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16,
                                     CUTT_F16,     CUTT_BF16,    CUTT_F32,     CUTT_F64,     CUTT_C32,
                                     CUTT_C64,     CUTT_I32,     CUTT_I64};
  const uint8_t choice = byte(s);
  int any = 0;
  if (!wild || choice < 240) return types[choice % 13];
  any = (int)(int32_t)bytes(s, 4);
  cuttType_t type;
  memcpy(&type, &any, sizeof type);
  return type;
}

/* The shape: bounded unless wild. */
static void read_shape(stream *s, bool wild, test_problem *p) {
  p->rank = byte(s) % (wild ? 70 : 8);
  if (p->rank > CUTT_MAX_RANK) return; /* to be refused before the arrays are looked at */
  int64_t volume = 1;
  for (int i = 0; i < p->rank; i++) {
    p->extents[i] = number(s, wild, wild ? -1 : 1, 40);
    if (!wild && volume * p->extents[i] > 8000) p->extents[i] = 1;
    if (!wild) volume *= p->extents[i];
    p->perm[i] = i;
  }
  for (int i = p->rank - 1; i > 0; i--) {
    const int j = byte(s) % (i + 1), t = p->perm[i];
    p->perm[i] = p->perm[j];
    p->perm[j] = t;
  }
  if (wild && p->rank > 0 && byte(s) > 200) p->perm[byte(s) % p->rank] = (int)number(s, wild, -2, CUTT_MAX_RANK);
}

/* Strides around the packed ones, so that many are good. */
static void read_strides(stream *s, bool wild, test_problem *p, bool in) {
  int64_t *strides = in ? p->in_strides : p->out_strides, packed = 1;
  for (int i = 0; i < p->rank; i++) {
    const int64_t extent = in || p->perm[i] < 0 || p->perm[i] >= p->rank ? p->extents[i] : p->extents[p->perm[i]];
    const uint8_t kind = byte(s);
    strides[i] = kind < 120   ? packed
                 : kind < 160 ? -packed
                 : kind < 200 ? packed + byte(s) % 8
                 : kind < 220 ? 0
                              : number(s, wild, -40, 40);
    const int64_t magnitude = strides[i] < 0 ? -(strides[i] + (strides[i] == INT64_MIN)) : strides[i];
    if (__builtin_mul_overflow(magnitude ? magnitude : packed, extent < 1 ? 1 : extent, &packed)) packed = 1;
  }
}

static bool small_span(const int64_t *extents, const int64_t *strides, int rank, size_t elem_bytes) {
  int64_t span = 1;
  for (int i = 0; i < rank; i++) {
    int64_t reach;
    if (__builtin_mul_overflow(extents[i] - 1, strides[i], &reach) || reach == INT64_MIN) return false;
    if (__builtin_add_overflow(span, reach < 0 ? -reach : reach, &span)) return false;
  }
  return span <= MOST_BYTES / (int64_t)elem_bytes;
}

/* Of an accepted problem whose output span is small: do elements share an address? */
static bool output_overlaps(const test_problem *p) {
  static unsigned char hit[MOST_BYTES];
  int64_t low, high;
  test_out_span(p, &low, &high);
  memset(hit, 0, (size_t)(high - low));
  for (int64_t e = 0; e < test_volume(p); e++) {
    int64_t rest = e, at = -low;
    for (int i = 0; i < p->rank; i++) {
      at += rest % p->extents[p->perm[i]] * p->out_strides[i];
      rest /= p->extents[p->perm[i]];
    }
    if (hit[at]++) return true;
  }
  return false;
}

__attribute__((noreturn)) static void die(const test_problem *p, const char *what) {
  char line[8192];
  test_problem_print(p, line, sizeof line);
  fprintf(stderr, "%s: %s\nlast error: %s\n", what, line, cuttLastError());
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  stream s = {data, size};
  const uint8_t flags = byte(&s);
  const bool wild = flags & 1;
  test_rng rng = {bytes(&s, 2)};
  test_problem p;
  memset(&p, 0, sizeof p);
  p.seed = rng.state;
  p.type = type_of(&s, wild);
  read_shape(&s, wild, &p);
  if (p.rank <= CUTT_MAX_RANK) {
    p.in_strided = flags & 2;
    p.out_strided = flags & 4;
    if (p.in_strided) read_strides(&s, wild, &p, true);
    if (p.out_strided) read_strides(&s, wild, &p, false);
  }
  p.has_alpha = flags & 8;
  p.has_beta = flags & 16;
  p.conjugate = flags & 32 ? byte(&s) : 0;
  if (p.has_alpha) p.alpha = test_random_scalar(&rng, p.type);
  if (p.has_beta) p.beta = test_random_scalar(&rng, p.type);
  p.in_at = (int)number(&s, false, TEST_AT_START, 63);
  p.out_at = (int)number(&s, false, TEST_AT_START, 63);
  p.threads = 1 + byte(&s) % 3;

  const cuttProblem_t view = test_problem_view(&p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.threads = (int)number(&s, wild, 0, 4);
  static const char *const devices[] = {"k20x", "p100", "a100", "h200"};
  if (flags & 128) options.device = devices[byte(&s) % (sizeof devices / sizeof *devices)];
  if (flags & 128 && byte(&s) % 2) options.model = CUTT_MODEL_PAPER;
  cuttPlan_t plan = NULL;
  const cuttResult result = cuttPlanCreate(&plan, &view, &options);
  if (result != CUTT_SUCCESS) {
    if (plan || !*cuttLastError()) die(&p, "a refusal that is not clean");
    /* What can't be wrong must not be refused. Output strides may overlap; scalars may not fit the type. */
    const bool scalars_fit = test_type_computes(p.type) ? !p.conjugate || test_type_complex(p.type)
                                                        : !p.has_alpha && !p.has_beta && !p.conjugate;
    if (!wild && !p.out_strided && scalars_fit) die(&p, "refused");
    return 0;
  }
  char text[600];
  size_t needed = 0;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  if (cuttPlanDraw(plan, flags & 64 ? CUTT_DRAW_SVG : CUTT_DRAW_TEXT, text, sizeof text, &needed) || needed < 2)
    die(&p, "a plan that can't be drawn");
  if (cuttPlanDescribe(plan, flags & 64 ? CUTT_JSON : CUTT_TEXT, text, sizeof text, &needed) || needed < 2 ||
      cuttPlanGetInfo(plan, &info) || cuttPlanDestroy(plan))
    die(&p, "a plan that can't be described or destroyed");

  /* Accepted, so extents and perm are good; the volume may still be anything. */
  int64_t out_extents[CUTT_MAX_RANK], volume = 1;
  for (int i = 0; i < p.rank; i++) {
    out_extents[i] = p.extents[p.perm[i]];
    if (__builtin_mul_overflow(volume, p.extents[i], &volume)) return 0;
  }
  test_problem_finish(&p);
  const size_t elem_bytes = test_type_bytes(p.type);
  if (volume == 0 || volume > 20000 || !small_span(p.extents, p.in_strides, p.rank, elem_bytes) ||
      !small_span(out_extents, p.out_strides, p.rank, elem_bytes))
    return 0;
  if (output_overlaps(&p)) die(&p, "accepted, though elements of the output overlap");
  if (!test_try(&p, TEST_ALL | TEST_MUTANTS)) abort();
  return 0;
}
