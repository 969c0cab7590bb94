/* Planning is a function of the problem, the options and the target: what the environment says later, and what this machine
 * can execute, changes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/clock.h"
#include "cpu/dispatch.h"
#include "cpu/target.h"
#include "host/child.h"
#include "runtime/host/isa.h"
#include "runtime/host/machine.h"
#include "store/device_file.h"
#include "support/check.h"
#include "support/wisdom.h"

/* What an OpenMP would say: the library asks it where the program has one. */
static int openmp_threads = 2;
int omp_get_max_threads(void);
int omp_get_max_threads(void) { return openmp_threads; }

enum { PROBLEMS = 4, ELEMENT_SIZES = 5 };

static cuttPlan_t plan_of(int number, cuttType_t type, const char *device) {
  static const int64_t extents[PROBLEMS][4] = {
      {1000, 1100, 1, 1}, {64, 32, 48, 40}, {7, 300, 5, 200}, {256, 4, 256, 16}};
  static const int perm[PROBLEMS][4] = {{1, 0, 2, 3}, {3, 2, 1, 0}, {2, 1, 0, 3}, {1, 0, 3, 2}};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 4;
  problem.type = type;
  problem.extents = extents[number];
  problem.perm = perm[number];
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.device = device;
  cuttPlan_t plan = NULL;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  return plan;
}

static char *description_of(cuttPlan_t plan, cuttFormat_t format) {
  size_t needed = 0;
  assert_success(cuttPlanDescribe(plan, format, NULL, 0, &needed));
  char *text = malloc(needed);
  assert_non_null(text);
  assert_success(cuttPlanDescribe(plan, format, text, needed, NULL));
  return text;
}

static const cuttType_t types[ELEMENT_SIZES] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};

/* Made under one environment and described under another. */
static void assert_as_created(int number, cuttType_t type, const char *isa, int threads, const char *isa_later,
                              int threads_later, const char *device) {
  setenv("CUTT_CPU_ISA", isa, 1);
  openmp_threads = threads;
  cuttPlan_t plan = plan_of(number, type, device);
  char *before = description_of(plan, CUTT_JSON);
  setenv("CUTT_CPU_ISA", isa_later, 1);
  setenv("OMP_NUM_THREADS", "3", 1);
  openmp_threads = threads_later;
  char *after = description_of(plan, CUTT_JSON);
  assert_string_equal(before, after);
  free(before);
  free(after);
  assert_success(cuttPlanDestroy(plan));
  unsetenv("OMP_NUM_THREADS");
  unsetenv("CUTT_CPU_ISA");
}

static void for_each_change(const char *device) {
  const char *why;
  for (const cutt_isa *from = cutt_isa_all; from->name; ++from) {
    if (!cutt_isa_usable(from, &why)) continue;
    for (const cutt_isa *to = cutt_isa_all; to->name; ++to) {
      if (!cutt_isa_usable(to, &why)) continue;
      for (int number = 0; number < PROBLEMS; ++number) {
        for (int i = 0; i < ELEMENT_SIZES; ++i) {
          assert_as_created(number, types[i], from->name, 2, to->name, 5, device);
        }
      }
    }
  }
}

static void describes_what_was_created(void **state) {
  (void)state;
  for_each_change(NULL);
}

/* A candidate is counted in the list that the plan shows. */
static void candidates_are_those_of_the_list(void **state) {
  (void)state;
  openmp_threads = 4;
  cuttPlan_t plan = plan_of(1, CUTT_F32, NULL);
  openmp_threads = 1;
  char *list = description_of(plan, CUTT_JSON);
  assert_non_null(strstr(list, "\"threads\":4"));
  free(list);
  assert_success(cuttPlanDestroy(plan));
}

/* A machine with registers of 64 bytes and seven threads, whatever this one has. */
static void write_machine(int vector_bytes) {
  cutt_cpu_machine machine = *cutt_host_machine_get();
  machine.vector_bytes = vector_bytes;
  machine.threads = 7;
  machine.l2_bytes = 1 << 20;
  machine.l3_bytes = 32 << 20;
  machine.stream_bytes = 4 << 20;
  assert_success(cutt_device_file_write(wisdom_path, &cutt_cpu_schema, "cpu-another", &machine.base, NULL));
}

static void machines_are_planned_for_without_them(void **state) {
  (void)state;
  write_machine(64);
  for_each_change(wisdom_path);
  cuttPlan_t plan = plan_of(0, CUTT_BYTES_4, wisdom_path);
  char *text = description_of(plan, CUTT_JSON);
  assert_non_null(strstr(text, "\"vector_bytes\":64"));
  assert_non_null(strstr(text, "\"threads\":7"));
  assert_non_null(strstr(text, "\"executable\":false"));
  free(text);
  free(description_of(plan, CUTT_TEXT));
  size_t needed = 0;
  assert_success(cuttPlanDraw(plan, CUTT_DRAW_TEXT, NULL, 0, &needed));
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, &needed, &needed, NULL), "described");
  assert_success(cuttPlanDestroy(plan));

  write_machine(16);
  plan = plan_of(0, CUTT_BYTES_4, wisdom_path);
  text = description_of(plan, CUTT_JSON);
  assert_non_null(strstr(text, "\"vector_bytes\":16"));
  assert_null(strstr(text, "\"vector_bytes\":64"));
  free(text);
  assert_success(cuttPlanDestroy(plan));
}

static void a_machine_is_asked_once(void **state) {
  (void)state;
  openmp_threads = 2;
  const cutt_cpu_machine *two = cutt_host_machine_get();
  openmp_threads = 3;
  const cutt_cpu_machine *three = cutt_host_machine_get();
  assert_ptr_not_equal(two, three);
  assert_int_equal(two->threads, 2);
  assert_int_equal(three->threads, 3);
  assert_ptr_equal(three, cutt_host_machine_get());
  openmp_threads = 2;
  assert_ptr_equal(two, cutt_host_machine_get());
}

/* What planning takes an instruction set to have is what its table of kernels has. */
static void kernels_are_as_planned(void **state) {
  (void)state;
  for (const cutt_isa *isa = cutt_isa_all; isa->name; ++isa) {
    const cutt_cpu_tables *tables = cutt_cpu_tables_named(isa->name);
    assert_non_null(tables);
    assert_string_equal(tables->isa, isa->name);
    const cutt_cpu_kernels *all = tables->kernels;
    const cutt_cpu_byte_kernels *bytes = tables->bytes;
    assert_int_equal(bytes->turn != NULL, isa->vector_bytes == 64 && isa->byte_permutes);
    for (int i = 0; i < CUTT_CPU_WIDTHS; ++i) {
      for (int j = 0; j < CUTT_CPU_VECTORS; ++j) {
        assert_int_equal((i ? all->transpose[i][j] : bytes->transpose[j]) != NULL,
                         16 << j <= cutt_cpu_widest(isa->vector_bytes));
      }
      assert_int_equal((i ? all->shift[i] : bytes->shift) != NULL,
                       cutt_cpu_has_shift(isa->vector_bytes, isa->byte_permutes, 1 << i));
      assert_int_equal((i ? all->window[i] : bytes->window) != NULL,
                       cutt_cpu_has_window(isa->vector_bytes, isa->byte_permutes, 1 << i));
    }
  }
  assert_null(cutt_cpu_tables_named("abacus"));
}

#if defined(__x86_64__)
/* The shortest of a few rounds, in seconds: of a permutation that is kept, and of a question that is put to the processor. */
static double shortest(bool asks) {
  const int64_t extents[2] = {4, 8};
  static const int perm[2] = {1, 0};
  static float in[32], out[32];
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 2;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = perm;
  double least = 1;
  for (int round = 0; round < 50; round++) {
    const double start = cutt_clock();
    for (int i = 0; i < 100; i++) {
      unsigned eax, ebx, ecx, edx;
      if (asks)
        assert_true(__get_cpuid(1, &eax, &ebx, &ecx, &edx)); /* asks twice */
      else
        assert_success(cuttPermute(&problem, NULL, in, out, NULL));
    }
    const double each = (cutt_clock() - start) / 100;
    if (each < least) least = each;
  }
  return least;
}
#endif

/* A virtual machine's processor takes microseconds for each question: as long as a small permutation takes several times. */
static void a_processor_is_not_asked_again(void **state) {
  (void)state;
#if defined(__x86_64__)
  const double question = shortest(true);
  if (question < 3e-6 || test_sanitized()) skip();
  const double kept = shortest(false);
  if (kept > question)
    fail_msg("a kept permutation takes %.2f us, questions to the processor %.2f", 1e6 * kept, 1e6 * question);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(describes_what_was_created),
      cmocka_unit_test(candidates_are_those_of_the_list),
      cmocka_unit_test(machines_are_planned_for_without_them),
      cmocka_unit_test(a_machine_is_asked_once),
      cmocka_unit_test(kernels_are_as_planned),
      cmocka_unit_test(a_processor_is_not_asked_again),
  };
  return cmocka_run_group_tests_name("planning", tests, wisdom_open_folder, wisdom_close_folder);
}
