/* The environment: a variable that is set to nothing is not set, and a device file that is asked for is used or refused.
 *
 * The library reads some of it once in a process, so each case is a process of its own, and this one calls nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cutt_contract.h"
#include "support/check.h"

/* What a child found: its exit status. */
enum { DONE, PERMUTATION, CONTRACTION, DEVICES, NO_BLAS };

static cuttResult transpose(int64_t columns, int64_t rows, const char *device, cuttPlan_t *plan) {
  const int64_t extents[2] = {columns, rows};
  const int perm[2] = {1, 0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 2;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = device ? CUTT_BACKEND_AUTO : CUTT_BACKEND_CPU;
  options.device = device;
  return cuttPlanCreate(plan, &problem, &options);
}

static cuttResult permute(const char *device, double *in, double *out) {
  cuttPlan_t plan = NULL;
  cuttResult result = transpose(3, 4, device, &plan);
  if (!result && !device) result = cuttPlanExecute(plan, in, out, NULL);
  cuttPlanDestroy(plan);
  return result;
}

static cuttResult contract(double *in, double *out) {
  const int64_t extents[2] = {3, 3};
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = "ij,jk->ik";
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = contraction.result_rank = 2;
  contraction.left_extents = contraction.right_extents = extents;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  return cuttContract(&contraction, &options, in, in, out, NULL);
}

static int everything_works(void) {
  double in[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, out[12] = {0};
  if (permute(NULL, in, out) || out[1] != 4) return PERMUTATION;
  const cuttResult result = contract(in, out);
  if (result == CUTT_INVALID_DEVICE && strstr(cuttLastError(), "no library multiplies")) return NO_BLAS;
  if (result || out[0] != 1 * 1 + 4 * 2 + 7 * 3) return CONTRACTION;
  return DONE;
}

static bool says(const char *text) {
  return strstr(text, "CUTT_CALIBRATION is '/no/such/file'") && strstr(text, "No such file") &&
         strstr(text, "0 for none");
}

static int nothing_is_planned(void) {
  static char text[16384];
  double in[12] = {0}, out[12] = {0};
  if (permute(NULL, in, out) != CUTT_INVALID_PARAMETER || !says(cuttLastError())) return PERMUTATION;
  if (permute("h200", in, out)) return PERMUTATION; /* a device that is described has a file of its own, or none */
  const cuttResult result = contract(in, out);
  const bool no_blas = result == CUTT_INVALID_DEVICE;
  if (!no_blas && (result != CUTT_INVALID_PARAMETER || !says(cuttLastError()))) return CONTRACTION;
  for (int format = CUTT_TEXT; format <= CUTT_JSON; format++)
    if (cuttDevicesDescribe((cuttFormat_t)format, text, sizeof text, NULL) || !says(text)) return DEVICES;
  return DONE;
}

static int in_child(int (*run)(void), const char *name, const char *value) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (name) setenv(name, value, 1);
    const int found = run();
    if (found != DONE && found != NO_BLAS) fprintf(stderr, "%s='%s': %s\n", name, value, cuttLastError());
    _exit(found);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void empty_is_unset(void **unused) {
  (void)unused;
  static const char *const names[] = {"CUTT_CPU_ISA",    "CUTT_CPU_CORE", "CUTT_CALIBRATION", "CUTT_LOG",
                                      "CUTT_CUDA",       "CUTT_CBLAS",    "CUTT_CUBLAS",      "XDG_DATA_HOME",
                                      "OMP_NUM_THREADS", "HOME"};
  const int usual = in_child(everything_works, NULL, NULL);
  assert_true(usual == DONE || usual == NO_BLAS);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_int_equal(in_child(everything_works, names[i], ""), usual);
}

static void calibration_that_is_missing(void **unused) {
  (void)unused;
  assert_int_equal(in_child(nothing_is_planned, "CUTT_CALIBRATION", "/no/such/file"), DONE);
}

/* Other parameters predict other times; a family that is not known is refused. */
static double predicted(void) {
  cuttPlan_t plan;
  if (transpose(4000, 4000, NULL, &plan)) return 0;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  cuttPlanGetInfo(plan, &info);
  cuttPlanDestroy(plan);
  return info.predicted_seconds;
}

static int *microseconds; /* by each family */

static int xeon_predicts(void) {
  microseconds[0] = (int)(1e6 * predicted());
  return microseconds[0] > 0 ? DONE : PERMUTATION;
}

static int zen_predicts(void) {
  microseconds[1] = (int)(1e6 * predicted());
  return microseconds[1] > 0 ? DONE : PERMUTATION;
}

static int zen5_predicts(void) {
  microseconds[2] = (int)(1e6 * predicted());
  return microseconds[2] > 0 ? DONE : PERMUTATION;
}

static int core_is_refused(void) {
  return !(predicted() > 0) && strstr(cuttLastError(), "CUTT_CPU_CORE") &&
                 strstr(cuttLastError(), "xeon, zen, zen3 and zen5")
             ? DONE
             : PERMUTATION;
}

/* Words that are none of a variable's are refused, with the name, the value and what is allowed; by calls that plan and those that do not. */
static const char *const word[][3] = {{"CUTT_CUDA", "maybe", "0 or off"},
                                      {"CUTT_CUDA", "OFF", "1 or on"},
                                      {"CUTT_LOG", "xx", "none, error, warn, info or debug"}};
static int which;

static bool names_word(void) {
  const char *said = cuttLastError();
  return strstr(said, word[which][0]) && strstr(said, word[which][1]) && strstr(said, word[which][2]);
}

static int word_is_refused(void) {
  double in[12] = {0}, out[12] = {0};
  void *memory = NULL;
  if (permute(NULL, in, out) != CUTT_INVALID_PARAMETER || !names_word()) return PERMUTATION;
  if (contract(in, out) != CUTT_INVALID_PARAMETER || !names_word()) return CONTRACTION;
  return cuttMemoryAllocate(CUTT_BACKEND_AUTO, 8, &memory) == CUTT_INVALID_PARAMETER && names_word() ? DONE : DEVICES;
}

static void words(void **unused) {
  (void)unused;
  static const char *const good[][2] = {
      {"CUTT_CUDA", "0"}, {"CUTT_CUDA", "off"}, {"CUTT_CUDA", "1"}, {"CUTT_CUDA", "on"}, {"CUTT_LOG", "none"}};
  const int usual = in_child(everything_works, NULL, NULL);
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i)
    assert_int_equal(in_child(everything_works, good[i][0], good[i][1]), usual);
  for (which = 0; which < (int)(sizeof word / sizeof *word); ++which)
    assert_int_equal(in_child(word_is_refused, word[which][0], word[which][1]), DONE);
}

static void families_of_cores(void **unused) {
  (void)unused;
  microseconds = mmap(NULL, 3 * sizeof *microseconds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(microseconds != MAP_FAILED);
  setenv("CUTT_CALIBRATION", "0", 1);
  assert_int_equal(in_child(xeon_predicts, "CUTT_CPU_CORE", "xeon"), DONE);
  assert_int_equal(in_child(zen_predicts, "CUTT_CPU_CORE", "zen"), DONE);
  assert_int_equal(in_child(zen5_predicts, "CUTT_CPU_CORE", "zen5"), DONE);
  assert_int_not_equal(microseconds[0], microseconds[1]);
  assert_int_not_equal(microseconds[0], microseconds[2]);
  assert_int_not_equal(microseconds[1], microseconds[2]);
  assert_int_equal(in_child(core_is_refused, "CUTT_CPU_CORE", "abacus"), DONE);
  unsetenv("CUTT_CALIBRATION");
  munmap(microseconds, 3 * sizeof *microseconds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_is_unset),
      cmocka_unit_test(calibration_that_is_missing),
      cmocka_unit_test(families_of_cores),
      cmocka_unit_test(words),
  };
  return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
