/* The choice among the ways to contract on a GPU, held to times that were measured: data/recorded-ways-h200.txt has contractions drawn at
 * random and what their ways took. The way that is predicted to be the fastest now must have been among the fastest there. Nothing is timed
 * here, and no GPU is needed: the stand-in for the driver has such a GPU.
 *
 * Usage: test_recorded_ways FILE [every]
 * With "every" it also prints each contraction: the fastest over the chosen way's time, the chosen way and the fastest, with their
 * predicted and measured microseconds, to see what a change of the model does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/cublas_fixture.h"
#include "contract/prepare.h"
#include "contract/ways.h"
#include "runtime/cuda/state.h"

static const char *file_name;
static bool every;

enum { TYPES = 4, LINE = 4096, NAME = 512 };

static struct of_type {
  cuttType_t type;
  const char *name;
  double least; /* of the geometric mean of what is chosen; as measured 0.945, 0.957, 0.937 and 0.916 */
  int count;
  double sum, worst;
} types[TYPES] = {{.type = CUTT_F64, .name = "f64", .least = 0.92, .worst = 1},
                  {.type = CUTT_F32, .name = "f32", .least = 0.93, .worst = 1},
                  {.type = CUTT_F16, .name = "f16", .least = 0.91, .worst = 1},
                  {.type = CUTT_C64, .name = "c64", .least = 0.89, .worst = 1}};

/* A contraction, and of its ways the one that is predicted to be the fastest and the one that was. */
typedef struct recorded {
  struct of_type *of;
  struct cuttContractionStruct *plan;
  char words[NAME];
  int ways;
  double least, chosen, predicted, fastest, fastest_predicted; /* least: predicted, as plans compare it */
  char chosen_name[NAME], fastest_name[NAME];
} recorded;

static void finish(recorded *r) {
  if (!r->plan) return;
  assert_true(r->ways > 1);
  const double quality = r->fastest / r->chosen;
  r->of->sum += log(quality);
  r->of->worst = fmin(r->of->worst, quality);
  ++r->of->count;
  if (every)
    print_message("%.3f %s %s | %s %.1f %.1f | %s %.1f %.1f\n", quality, r->of->name, r->words, r->chosen_name,
                  1e6 * r->predicted, r->chosen, r->fastest_name, 1e6 * r->fastest_predicted, r->fastest);
  cutt_contraction_release(r->plan);
  free(r->plan);
  r->plan = NULL;
}

/* "f64 ab,bc->ac a:3 b:4 c:5" */
static void start(recorded *r, char *line) {
  int64_t extent[128] = {0}, extents[CUTT_TENSORS][16];
  const cutt_backend *backend = NULL;
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  bool done = false;
  *r = (recorded){.least = INFINITY, .fastest = INFINITY};
  snprintf(r->words, sizeof r->words, "%s", line + strlen("f64 "));
  for (int i = 0; i < TYPES; ++i)
    if (strncmp(line, types[i].name, strlen(types[i].name)) == 0) r->of = &types[i];
  assert_non_null(r->of);
  char *pattern = strtok(line + strlen("f64 "), " ");
  for (const char *word = strtok(NULL, " "); word; word = strtok(NULL, " "))
    extent[(unsigned char)word[0] % 128] = strtoll(word + 2, NULL, 10);
  int rank[CUTT_TENSORS] = {0, 0, 0}, t = 0;
  for (const char *letter = pattern; *letter; ++letter) {
    if (*letter == ',' || *letter == '>') ++t;
    if (*letter >= 'a' && *letter <= 'z') extents[t][rank[t]++] = extent[(int)*letter];
  }
  c.pattern = pattern;
  c.type = r->of->type;
  c.left_rank = rank[0];
  c.right_rank = rank[1];
  c.result_rank = rank[2];
  c.left_extents = extents[0];
  c.right_extents = extents[1];
  c.result_extents = extents[2];
  r->plan = calloc(1, sizeof *r->plan);
  assert_non_null(r->plan);
  assert_success(cutt_backend_select(CUTT_BACKEND_CUDA, "backend", &backend));
  assert_success(cutt_contraction_check(&c, &r->plan->asked));
  assert_success(cutt_contraction_start(r->plan, backend, cublas, 1, INT64_MAX / 2, &done));
  assert_false(done);
}

/* "12.5 ttgt ..." */
static void look(recorded *r, const char *line) {
  cutt_way way;
  char *words = NULL;
  const double measured = strtod(line, &words);
  const char *why = cutt_way_read(r->plan, words + 1, INT64_MAX / 2, &way);
  if (why) fail_msg("%s: '%s': %s", r->words, words + 1, why);
  const double compared = way.split.parts ? way.seconds / CUTT_PARTS_WORTH : way.seconds;
  ++r->ways;
  char name[NAME];
  cutt_text text = cutt_text_start(name, sizeof name);
  cutt_way_name(&r->plan->contraction, &way, &text);
  if (compared < r->least) {
    r->least = compared;
    r->chosen = measured;
    r->predicted = way.seconds;
    memcpy(r->chosen_name, name, sizeof name);
  }
  if (measured < r->fastest) {
    r->fastest = measured;
    r->fastest_predicted = way.seconds;
    memcpy(r->fastest_name, name, sizeof name);
  }
}

static void choices(void **unused) {
  (void)unused;
  static char line[LINE];
  static recorded r;
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  FILE *file = fopen(file_name, "r");
  if (!file) fail_msg("%s can't be read", file_name);
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] == 'C') {
      finish(&r);
      start(&r, line + 2);
    } else if (line[0] == 'W') {
      look(&r, line + 2);
    }
  }
  finish(&r);
  fclose(file);
  cutt_cuda_leave(&scope);
  for (int i = 0; i < TYPES; ++i) {
    const struct of_type *t = &types[i];
    assert_true(t->count > 0);
    const double mean = exp(t->sum / t->count);
    print_message("%s: of %d contractions the chosen way is at %.3f of the fastest, %.2f at worst\n", t->name, t->count,
                  mean, t->worst);
    if (mean < t->least)
      fail_msg("%s: the chosen way is at %.3f of the fastest; %.2f is wanted", t->name, mean, t->least);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_error("a file of recorded ways is missing\n");
    return 2;
  }
  file_name = argv[1];
  every = argc > 2 && strcmp(argv[2], "every") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(choices, cublas_start, cublas_finish)};
  return cmocka_run_group_tests(tests, cublas_open, NULL);
}
