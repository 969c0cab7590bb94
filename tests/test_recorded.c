/* The model's choice, held to times that were measured: for some problems on three machines, the times of all candidates are in
 * data/recorded-*.json (data/thin_out.py says how to record others). What is chosen now for such a machine must have been among
 * the fastest there. Nothing is timed here, so this machine does not matter.
 *
 * Usage: test_recorded FOLDER, that of the records. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cpu/cost.h"
#include "cpu/cpu.h"
#include "cpu/enumerate.h"
#include "plan/plan.h"
#include "support/check.h"

static const char *folder;

/* Of a candidate: what it is, and its time. OLD: in records from before there was a choice of walks and of prefetches. */
enum { COLUMNS = 12, OLD_COLUMNS = 10, LISTED = 64 };

static int64_t integer(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_integer(value)) fail_msg("the record has no number %s", key);
  return json_integer_value(value);
}

static cutt_cpu_machine read_machine(const json_t *record, cutt_cpu_core core) {
  const json_t *device = json_object_get(record, "device");
  cutt_cpu_machine m;
  memset(&m, 0, sizeof m);
  m.base.value = cutt_cpu_values_of(core);
  m.vector_bytes = (int)integer(device, "vector_bytes");
  m.threads = 1;
  m.byte_permutes = m.vector_bytes == 64;
  m.whole_lines = m.vector_bytes == 64 && core != CUTT_CPU_CORE_OTHER;
  m.l1_bytes = integer(device, "l1_bytes");
  m.l2_bytes = integer(device, "l2_bytes");
  m.l3_bytes = integer(device, "l3_bytes");
  m.stream_bytes = integer(device, "stream_bytes");
  return m;
}

static void read_problem(const json_t *recorded, cutt_canonical *canonical) {
  static const cuttType_t types[] = {[1] = CUTT_BYTES_1, [2] = CUTT_BYTES_2, [4] = CUTT_BYTES_4, [8] = CUTT_BYTES_8};
  const json_t *extents = json_object_get(recorded, "extents"), *perm = json_object_get(recorded, "perm");
  const int rank = (int)json_array_size(extents);
  const int64_t bytes = integer(recorded, "elem_bytes");
  int64_t extent[CUTT_MAX_RANK];
  int order[CUTT_MAX_RANK];
  assert_true(rank > 0 && rank <= CUTT_MAX_RANK && json_array_size(perm) == (size_t)rank);
  assert_true(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  for (int i = 0; i < rank; i++) {
    extent[i] = json_integer_value(json_array_get(extents, (size_t)i));
    order[i] = (int)json_integer_value(json_array_get(perm, (size_t)i));
  }
  const test_problem problem = test_packed(types[bytes], rank, extent, order);
  const cuttProblem_t view = test_problem_view(&problem);
  assert_success(cutt_canonicalize(&view, canonical));
}

/* The seconds that were measured for a candidate; 0: it was not timed. *fastest: of all that were. In an old record all go down
 * the rows and prefetch into L1. */
static double measured(const json_t *candidates, size_t columns, const cutt_candidate *candidate, double *fastest) {
  const int64_t wanted[COLUMNS - 1] = {candidate->m,
                                       candidate->k,
                                       candidate->split_m,
                                       candidate->split_k,
                                       candidate->threads,
                                       candidate->param[CUTT_CPU_PARAM_KERNEL],
                                       candidate->param[CUTT_CPU_PARAM_VECTOR],
                                       candidate->param[CUTT_CPU_PARAM_NON_TEMPORAL],
                                       candidate->param[CUTT_CPU_PARAM_STEP],
                                       candidate->param[CUTT_CPU_PARAM_WALK],
                                       candidate->param[CUTT_CPU_PARAM_PREFETCH]};
  double found = 0;
  *fastest = INFINITY;
  for (size_t i = 0; i < json_array_size(candidates); i++) {
    const json_t *row = json_array_get(candidates, i);
    assert_int_equal(json_array_size(row), columns);
    const double seconds = 1e-6 * json_number_value(json_array_get(row, columns - 1));
    assert_true(seconds > 0);
    *fastest = fmin(*fastest, seconds);
    bool same = true;
    for (size_t j = 0; j < COLUMNS - 1; j++) {
      same = same && wanted[j] == (j < columns - 1 ? json_integer_value(json_array_get(row, j)) : 0);
    }
    if (same) found = seconds;
  }
  return found;
}

/* A record, and how far the choice among what was timed may be from the fastest: in the worst case, and in the (geometric)
 * mean. The choice is the first of the list that was timed. */
static void hold(const char *name, cutt_cpu_core core, size_t problems, double most_worst, double most_mean) {
  char path[1024];
  json_error_t error;
  double worst = 0, logs = 0;
  size_t judged = 0;
  snprintf(path, sizeof path, "%s/recorded-%s.json", folder, name);
  json_t *record = json_load_file(path, 0, &error);
  if (!record) fail_msg("%s: %s", path, error.text);
  const json_t *list = json_object_get(record, "problems");
  const size_t columns = json_array_size(json_object_get(record, "columns"));
  assert_true(columns == COLUMNS || columns == OLD_COLUMNS);
  assert_int_equal(json_array_size(list), problems);
  const cutt_cpu_machine machine = read_machine(record, core);
  for (size_t i = 0; i < problems; i++) {
    const json_t *recorded = json_array_get(list, i);
    cutt_canonical canonical;
    cutt_candidate best[LISTED];
    double fastest, seconds = 0;
    read_problem(recorded, &canonical);
    const int listed = cutt_cpu_enumerate(&machine.base, CUTT_MODEL_IS_OWN, &canonical, 1, best, LISTED);
    for (int j = 0; j < listed && seconds == 0; j++) {
      seconds = measured(json_object_get(recorded, "candidates"), columns, &best[j], &fastest);
    }
    if (seconds == 0) { /* the model has changed, and can't be judged by this */
      print_message("%s, problem %zu: none of %d candidates was timed\n", name, i, listed);
      continue;
    }
    judged++;
    worst = fmax(worst, seconds / fastest);
    logs += log(seconds / fastest);
  }
  if (judged < problems * 9 / 10) fail_msg("%s: %zu of %zu choices were timed: record anew", name, judged, problems);
  const double mean = exp(logs / (double)judged);
  print_message("%s: %zu problems, the choice's time over the fastest's: mean %.3f, worst %.3f\n", name, judged, mean,
                worst);
  json_decref(record);
  if (worst > most_worst || mean > most_mean)
    fail_msg("%s: the choices have become worse than mean %.2f, worst %.2f", name, most_mean, most_worst);
}

/* The bars are what the model does today, and a little: they are no claim that this is good. */
static void choices_on_a_xeon(void **unused) {
  (void)unused;
  hold("xeon", CUTT_CPU_CORE_OTHER, 32, 1.5, 1.08);
}

static void choices_on_zen_4(void **unused) {
  (void)unused;
  hold("zen4", CUTT_CPU_CORE_ZEN, 40, 2.3, 1.13);
}

static void choices_on_zen_5(void **unused) {
  (void)unused;
  hold("zen5", CUTT_CPU_CORE_ZEN5, 36, 1.6, 1.1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(choices_on_a_xeon), cmocka_unit_test(choices_on_zen_4),
                                     cmocka_unit_test(choices_on_zen_5)};
  if (argc != 2) {
    fprintf(stderr, "usage: test_recorded FOLDER\n");
    return 2;
  }
  folder = argv[1];
  return cmocka_run_group_tests_name("recorded", tests, NULL, NULL);
}
