/* What the calls of cutt.h take of the calling thread's stack: at most 16 KB each, with what libc takes for them, so that
 * threads with the smallest stack there is and 16 KB more may call all of them.
 *
 * Each scenario is the life of a plan, of wisdom and so on, and runs in a child process of its own, every call on a thread
 * of its own; the log is on, since it takes stack too. First on a large painted stack, which tells what a call takes; then
 * on small ones, with a page below that can't be touched and memory below that, which must stay as it was. The order of
 * loading matters: the first call of a process is not excused from binding libc's functions, reading /proc/cpuinfo and so
 * on. Loading the CUDA driver is left out (CUTT_CUDA=0): what that takes is the driver's. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/target.h"
#include "host/child.h"
#include "host/stack.h"
#include "runtime/host/machine.h"
#include "store/device_file.h"
#include "support/check.h"

enum { MOST = 16 * 1024, LARGE = 1024 * 1024, CALLS = 64, TEXT_BYTES = 1 << 18 };

/* ------------------------------------------------------------------------------------------------ what is reported */

typedef struct report {
  int count;
  struct {
    char name[80];
    size_t used;
  } call[CALLS];
  char failure[2048]; /* "" when all went well */
} report;

static report *shared; /* with the child that runs a scenario */

/* What the calls of a scenario are about: one at a time in a process. */
static struct {
  const char *scenario;
  size_t stack;
  bool measuring; /* of what a call takes, and not: does it work? */
  cuttResult result;
  char error[1024];

  int64_t extents[CUTT_MAX_RANK], in_strides[CUTT_MAX_RANK], out_strides[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
  double alpha[2], beta[2];
  cuttProblem_t problem;
  cuttOptions_t options;
  size_t in_bytes, out_bytes;       /* 0: too large a problem to be executed */
  unsigned char *in, *out, *second; /* second: as out, for the second of two pairs */

  cuttPlan_t plan;
  cuttPlanInfo_t info;
  cuttWisdom_t wisdom;
  cuttHandle handle, stale;
  int dim[CUTT_MAX_RANK];
  void *memory, *other;
  double seconds[3];
  size_t needed, used, ignored;
  cuttCalibration_t calibration;
  char *text;
  char path[64], device_path[80];
} s;

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(shared->failure, sizeof shared->failure, format, arguments);
  va_end(arguments);
  _exit(1);
}

static void enter(void *data) {
  void (*call)(void) = *(void (**)(void))data;
  call();
  strncpy(s.error, cuttLastError(), sizeof s.error - 1); /* a thread's own */
}

/* Runs one call on a thread of its own. what: "" or what is special about it. */
static void call(const char *name, const char *what, void (*run)(void), cuttResult wanted) {
  s.result = CUTT_UNDEFINED_ERROR;
  /* Where a crash happened is read off the report. */
  snprintf(shared->failure, sizeof shared->failure, "%s%s, on a stack of %zu bytes", name, what, s.stack);
  const stack_marks marks = stack_run(s.stack, enter, &run);
  if (!marks.ran) give_up("a thread with a stack of %zu bytes could not be made", s.stack);
  if (!marks.intact) give_up("%s%s wrote below a stack of %zu bytes", name, what, s.stack);
  if (s.result != wanted) {
    give_up("%s%s gave %s on a stack of %zu bytes, not %s: %s", name, what, cuttResultName(s.result), s.stack,
            cuttResultName(wanted), s.error);
  }
  if (s.measuring && shared->count < CALLS) {
    snprintf(shared->call[shared->count].name, sizeof shared->call->name, "%s%s", name, what);
    shared->call[shared->count++].used = marks.used;
  }
  shared->failure[0] = 0;
}

/* The name of the function says what is called: plan_create is one of cuttPlanCreate. */
#define CALL(name, run, wanted) call(#name, "", run, wanted)
#define CALL_WITH(name, what, run, wanted) call(#name, ", " what, run, wanted)

/* ------------------------------------------------------------------------------------------------ the calls */

static void plan_create(void) { s.result = cuttPlanCreate(&s.plan, &s.problem, &s.options); }
static void plan_execute(void) { s.result = cuttPlanExecute(s.plan, s.in, s.out, NULL); }
static void plan_execute_batch(void) {
  s.result = cuttPlanExecuteBatch(s.plan, 2, (const void *[]){s.in, s.in}, (void *[]){s.out, s.second}, NULL);
}
static void plans_execute(void) {
  s.result = cuttPlansExecute(2, (cuttPlan_t[]){s.plan, s.plan}, (const void *[]){s.in, s.in},
                              (void *[]){s.out, s.second}, NULL);
}
static void plan_destroy(void) { s.result = cuttPlanDestroy(s.plan); }
static void plan_time(void) { s.result = cuttPlanTime(s.plan, s.in, s.out, NULL, 2, s.seconds); }
static void plan_info(void) { s.result = cuttPlanGetInfo(s.plan, &s.info); }
static void permute(void) { s.result = cuttPermute(&s.problem, &s.options, s.in, s.out, NULL); }

static void describe_text(void) { s.result = cuttPlanDescribe(s.plan, CUTT_TEXT, s.text, TEXT_BYTES, &s.needed); }
static void describe_json(void) { s.result = cuttPlanDescribe(s.plan, CUTT_JSON, s.text, TEXT_BYTES, &s.needed); }
static void draw_text(void) { s.result = cuttPlanDraw(s.plan, CUTT_DRAW_TEXT, s.text, TEXT_BYTES, &s.needed); }
static void draw_svg(void) { s.result = cuttPlanDraw(s.plan, CUTT_DRAW_SVG, s.text, TEXT_BYTES, &s.needed); }
static void devices_text(void) { s.result = cuttDevicesDescribe(CUTT_TEXT, s.text, TEXT_BYTES, &s.needed); }
static void devices_json(void) { s.result = cuttDevicesDescribe(CUTT_JSON, s.text, TEXT_BYTES, &s.needed); }
static void calibrate_text(void) { s.result = cuttCalibrate(&s.calibration, CUTT_TEXT, s.text, TEXT_BYTES, &s.needed); }
static void calibrate_json(void) { s.result = cuttCalibrate(&s.calibration, CUTT_JSON, s.text, TEXT_BYTES, &s.needed); }

static void initialize(void) {
  cuttInitialize();
  s.result = CUTT_SUCCESS;
}
static void finalize(void) {
  cuttFinalize();
  s.result = CUTT_SUCCESS;
}
static void handle_plan(void) {
  s.result = cuttPlan(&s.handle, s.problem.rank, s.dim, s.perm, (size_t)s.problem.type, NULL);
}
static void handle_measure(void) {
  s.result = cuttPlanMeasure(&s.handle, s.problem.rank, s.dim, s.perm, (size_t)s.problem.type, NULL, s.in, s.out);
}
static void handle_execute(void) { s.result = cuttExecute(s.handle, s.in, s.out); }
static void handle_execute_scaled(void) {
  static const double alpha = 2, beta = 1;
  s.result = cuttExecuteScaled(s.handle, s.in, s.out, &alpha, &beta);
}
static void handle_destroy(void) { s.result = cuttDestroy(s.handle); }

static void memory_allocate(void) { s.result = cuttMemoryAllocate(CUTT_BACKEND_CPU, 1 << 20, &s.memory); }
static void memory_copy(void) { s.result = cuttMemoryCopy(CUTT_BACKEND_CPU, s.memory, s.other, 1 << 20); }
static void memory_free(void) { s.result = cuttMemoryFree(CUTT_BACKEND_CPU, s.memory); }
static void copy_time(void) {
  s.result = cuttCopyTime(CUTT_BACKEND_CPU, s.memory, s.other, 1 << 20, NULL, 2, s.seconds);
}

static void wisdom_create(void) { s.result = cuttWisdomCreate(&s.wisdom); }
static void wisdom_load(void) { s.result = cuttWisdomLoad(s.wisdom, s.path, &s.used, &s.ignored); }
static void wisdom_save(void) { s.result = cuttWisdomSave(s.wisdom, s.path); }
static void wisdom_destroy(void) { s.result = cuttWisdomDestroy(s.wisdom); }

static void version(void) { s.result = cuttVersion() > 0 ? CUTT_SUCCESS : CUTT_UNDEFINED_ERROR; }
static void result_name(void) { s.result = *cuttResultName((cuttResult)77) ? CUTT_SUCCESS : CUTT_UNDEFINED_ERROR; }
static void last_error(void) { s.result = cuttLastError() ? CUTT_SUCCESS : CUTT_UNDEFINED_ERROR; }

/* ------------------------------------------------------------------------------------------------ problems */

/* A packed one. dim may be NULL: rank extents of 2 but two of 1; and perm: the order reversed. */
static void set_problem(cuttType_t type, int rank, const int *dim, const int *perm) {
  s.problem = (cuttProblem_t)CUTT_PROBLEM_INIT;
  s.options = (cuttOptions_t)CUTT_OPTIONS_INIT;
  s.problem.rank = rank;
  s.problem.type = type;
  s.problem.extents = s.extents;
  s.problem.perm = s.perm;
  size_t volume = 1;
  for (int i = 0; i < rank; i++) {
    s.dim[i] = dim ? dim[i] : i == 5 || i == 40 ? 1 : 2;
    s.extents[i] = s.dim[i];
    s.perm[i] = perm ? perm[i] : rank - 1 - i;
    volume *= (size_t)s.dim[i];
  }
  s.in_bytes = s.out_bytes = volume > 1u << 26 ? 0 : volume * test_type_bytes(type);
}

static void set_small(void) { set_problem(CUTT_F64, 3, (const int[]){2, 3, 4}, (const int[]){2, 1, 0}); }

/* 40 MB: stored past the caches, runs carried from tile to tile, more than one thread. */
static void set_large(void) { set_problem(CUTT_BYTES_8, 3, (const int[]){171, 173, 169}, (const int[]){2, 1, 0}); }

/* Narrow modes: a gather or windows. */
static void set_narrow(void) {
  set_problem(CUTT_BYTES_2, 6, (const int[]){5, 3, 7, 61, 33, 29}, (const int[]){4, 1, 0, 5, 2, 3});
}

static void set_rank_64(void) { set_problem(CUTT_BYTES_1, 64, NULL, NULL); }

/* Runs are staged and scaled. */
static void set_scaled(void) {
  set_problem(CUTT_C64, 4, (const int[]){40, 31, 35, 33}, (const int[]){3, 0, 2, 1});
  s.alpha[0] = 2, s.alpha[1] = -1;
  s.beta[0] = 0.5, s.beta[1] = 3;
  s.problem.alpha = s.alpha;
  s.problem.beta = s.beta;
  s.problem.conjugate = 1;
}

/* Strides on both sides, the output's such that only a search shows that no elements meet. */
static void set_strided(void) {
  set_problem(CUTT_F32, 4, (const int[]){3, 2, 17, 40}, (const int[]){1, 0, 3, 2});
  const int64_t in[] = {2, 7, 15, 300}, out[] = {3, 2, 9, 400};
  memcpy(s.in_strides, in, sizeof in);
  memcpy(s.out_strides, out, sizeof out);
  s.problem.in_strides = s.in_strides;
  s.problem.out_strides = s.out_strides;
  s.in_bytes = s.out_bytes = 1 << 16;
}

/* An output of rank 64 whose elements meet, which only the search finds out; and the error tells of all modes. */
static void set_overlapping(void) {
  set_rank_64();
  for (int i = 0; i < 64; i++) s.out_strides[i] = i < 31 ? INT64_C(2) << i : (INT64_C(1) << (i - 31)) * 3;
  s.problem.out_strides = s.out_strides;
}

static void open_buffers(void) {
  const size_t in = s.in_bytes ? s.in_bytes : 1, out = s.out_bytes ? s.out_bytes : 1;
  s.in = calloc(1, in);
  s.out = calloc(1, out);
  s.second = calloc(1, out);
  if (!s.in || !s.out || !s.second) give_up("out of memory");
}

/* ------------------------------------------------------------------------------------------------ scenarios */

/* All that can be done with a plan. */
static void life_of_plan(void) {
  open_buffers();
  const bool runs = s.in_bytes > 0 && !s.options.device;
  CALL(cuttPlanCreate, plan_create, CUTT_SUCCESS);
  CALL(cuttPlanGetInfo, plan_info, CUTT_SUCCESS);
  CALL_WITH(cuttPlanDescribe, "text", describe_text, CUTT_SUCCESS);
  CALL_WITH(cuttPlanDescribe, "JSON", describe_json, CUTT_SUCCESS);
  CALL_WITH(cuttPlanDraw, "text", draw_text, CUTT_SUCCESS);
  CALL_WITH(cuttPlanDraw, "SVG", draw_svg, CUTT_SUCCESS);
  if (runs) {
    CALL(cuttPlanExecute, plan_execute, CUTT_SUCCESS);
    CALL(cuttPlanExecuteBatch, plan_execute_batch, CUTT_SUCCESS);
    CALL(cuttPlansExecute, plans_execute, CUTT_SUCCESS);
    CALL(cuttPlanTime, plan_time, CUTT_SUCCESS);
    CALL(cuttPermute, permute, CUTT_SUCCESS);
  } else if (s.options.device) {
    CALL_WITH(cuttPlanExecute, "refused", plan_execute, CUTT_INVALID_DEVICE);
  }
  CALL(cuttPlanDestroy, plan_destroy, CUTT_SUCCESS);
}

static void small(void) {
  set_small();
  life_of_plan();
}

static void large(void) {
  set_large();
  s.options.threads = 3;
  life_of_plan();
}

static void narrow(void) {
  set_narrow();
  s.options.candidate = 2;
  life_of_plan();
}

static void rank_64(void) {
  set_rank_64();
  life_of_plan();
}

static void scaled(void) {
  set_scaled();
  life_of_plan();
}

static void strided(void) {
  set_strided();
  life_of_plan();
}

static void measured(void) {
  set_scaled();
  s.options.choice = CUTT_MEASURE;
  s.options.measure_seconds = 0.05;
  life_of_plan();
}

static void described_by_name(void) {
  set_problem(CUTT_BYTES_1, 28, NULL, NULL);
  s.options.device = "h200";
  life_of_plan();
  set_narrow();
  s.options.device = "v100";
  life_of_plan();
}

static void described_by_paper(void) {
  set_narrow();
  s.options.device = "k20x";
  s.options.model = CUTT_MODEL_PAPER;
  life_of_plan();
}

static void described_by_file(void) {
  set_narrow();
  s.options.device = s.device_path;
  if (cutt_device_file_write(s.device_path, &cutt_cpu_schema, "cpu-x", &cutt_host_machine_get()->base, NULL)) {
    give_up("%s", cuttLastError());
  }
  life_of_plan();
}

static void refused(void) {
  open_buffers();
  set_overlapping();
  CALL_WITH(cuttPlanCreate, "elements meet", plan_create, CUTT_INVALID_PARAMETER);
  set_small();
  s.perm[1] = 2;
  CALL_WITH(cuttPlanCreate, "perm is none", plan_create, CUTT_INVALID_PARAMETER);
  set_small();
  s.options.device = "no-such-device";
  CALL_WITH(cuttPlanCreate, "no device of the name", plan_create, CUTT_INVALID_PARAMETER);
  s.options.device = "/no/such.device";
  CALL_WITH(cuttPlanCreate, "no device file", plan_create, CUTT_INVALID_PARAMETER);
  set_small();
  s.options.candidate = 100;
  CALL_WITH(cuttPlanCreate, "no such candidate", plan_create, CUTT_INVALID_PARAMETER);
  s.plan = NULL;
  CALL_WITH(cuttPlanExecute, "no plan", plan_execute, CUTT_INVALID_PLAN);
}

static void handles(void) {
  set_problem(CUTT_BYTES_8, 4, (const int[]){17, 40, 35, 33}, (const int[]){3, 0, 2, 1});
  open_buffers();
  CALL(cuttInitialize, initialize, CUTT_SUCCESS);
  for (int i = 0; i < 2; i++) {
    CALL(cuttPlan, handle_plan, CUTT_SUCCESS);
    CALL(cuttExecute, handle_execute, CUTT_SUCCESS);
    CALL_WITH(cuttPlan, "a problem that has a plan", handle_plan, CUTT_SUCCESS);
    CALL(cuttDestroy, handle_destroy, CUTT_SUCCESS);
    CALL_WITH(cuttExecuteScaled, "planned", handle_execute_scaled, CUTT_SUCCESS);
    CALL_WITH(cuttExecuteScaled, "kept", handle_execute_scaled, CUTT_SUCCESS);
    CALL(cuttDestroy, handle_destroy, CUTT_SUCCESS);
    CALL_WITH(cuttExecute, "no handle", handle_execute, CUTT_INVALID_PLAN);
  }
  CALL(cuttPlanMeasure, handle_measure, CUTT_SUCCESS);
  CALL(cuttDestroy, handle_destroy, CUTT_SUCCESS);
  CALL(cuttFinalize, finalize, CUTT_SUCCESS);
}

static void wisdom(void) {
  unlink(s.path);
  set_narrow();
  open_buffers();
  CALL_WITH(cuttWisdomSave, "none", wisdom_save, CUTT_INVALID_PARAMETER);
  CALL(cuttWisdomCreate, wisdom_create, CUTT_SUCCESS);
  s.options.wisdom = s.wisdom;
  s.options.choice = CUTT_MEASURE;
  s.options.measure_seconds = 0.02;
  CALL_WITH(cuttPlanCreate, "measured for wisdom", plan_create, CUTT_SUCCESS);
  CALL(cuttPlanDestroy, plan_destroy, CUTT_SUCCESS);
  CALL_WITH(cuttPlanCreate, "by wisdom", plan_create, CUTT_SUCCESS);
  CALL(cuttPlanDestroy, plan_destroy, CUTT_SUCCESS);
  s.options.choice = CUTT_PREDICT;
  set_rank_64();
  s.options.wisdom = s.wisdom;
  CALL_WITH(cuttPlanCreate, "wisdom has none", plan_create, CUTT_SUCCESS);
  CALL(cuttPlanDestroy, plan_destroy, CUTT_SUCCESS);
  CALL_WITH(cuttWisdomLoad, "no file", wisdom_load, CUTT_INVALID_PARAMETER);
  CALL(cuttWisdomSave, wisdom_save, CUTT_SUCCESS);
  CALL_WITH(cuttWisdomSave, "over a file", wisdom_save, CUTT_SUCCESS);
  FILE *file = fopen(s.path, "a");
  if (!file) give_up("%s can't be written", s.path);
  for (int i = 0; i < 20000; i++) fputc('x', file); /* a line longer than any entry */
  fputs("\n0123456789abcdef 100 other\n", file);
  fclose(file);
  CALL_WITH(cuttWisdomLoad, "merging, damaged", wisdom_load, CUTT_SUCCESS);
  CALL(cuttWisdomDestroy, wisdom_destroy, CUTT_SUCCESS);
}

static void memory(void) {
  s.other = calloc(1, 1 << 20);
  if (!s.other) give_up("out of memory");
  CALL(cuttMemoryAllocate, memory_allocate, CUTT_SUCCESS);
  CALL(cuttMemoryCopy, memory_copy, CUTT_SUCCESS);
  CALL(cuttCopyTime, copy_time, CUTT_SUCCESS);
  CALL(cuttMemoryFree, memory_free, CUTT_SUCCESS);
}

static void devices(void) {
  CALL_WITH(cuttDevicesDescribe, "text", devices_text, CUTT_SUCCESS);
  CALL_WITH(cuttDevicesDescribe, "JSON", devices_json, CUTT_SUCCESS);
  CALL(cuttVersion, version, CUTT_SUCCESS);
  CALL(cuttResultName, result_name, CUTT_SUCCESS);
  CALL(cuttLastError, last_error, CUTT_SUCCESS);
}

static int progress(void *data, double done, const char *what) {
  (void)done;
  (void)what;
  return *(int *)data;
}

/* A file of the device at hand is read when the process first plans for it. */
static void calibrate(void) {
  int stop = 0;
  s.calibration = (cuttCalibration_t)CUTT_CALIBRATION_INIT;
  s.calibration.backend = CUTT_BACKEND_CPU;
  s.calibration.path = s.device_path;
  s.calibration.seconds = 0.3;
  s.calibration.progress = progress;
  s.calibration.data = &stop;
  setenv("CUTT_CALIBRATION", s.device_path, 1);
  CALL_WITH(cuttCalibrate, "text", calibrate_text, CUTT_SUCCESS);
  CALL_WITH(cuttCalibrate, "JSON", calibrate_json, CUTT_SUCCESS);
  stop = 1;
  CALL_WITH(cuttCalibrate, "stopped", calibrate_text, CUTT_INTERNAL_ERROR);
}

static void calibrated(void) {
  setenv("CUTT_CALIBRATION", s.device_path, 1);
  set_small();
  life_of_plan();
}

static const struct {
  const char *name;
  void (*run)(void);
} scenarios[] = {{"2 x 3 x 4 doubles", small},
                 {"40 MB on 3 threads", large},
                 {"narrow modes", narrow},
                 {"rank 64", rank_64},
                 {"alpha and beta", scaled},
                 {"strided", strided},
                 {"measured", measured},
                 {"described by name", described_by_name},
                 {"described, by the paper's model", described_by_paper},
                 {"described by a file", described_by_file},
                 {"refused", refused},
                 {"handles", handles},
                 {"wisdom", wisdom},
                 {"memory", memory},
                 {"devices", devices},
                 {"calibration", calibrate},
                 {"with the file that calibration wrote", calibrated}};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* ------------------------------------------------------------------------------------------------ the tests */

/* Runs a scenario in a child. Returns whether all of it went well; if not, the report says what did not. */
static bool run_scenario(int number, size_t stack, bool measuring) {
  memset(shared, 0, sizeof *shared);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(2);
    setenv("CUTT_LOG", "debug", 1);
    alarm(120);
    s.stack = stack;
    s.measuring = measuring;
    s.info.struct_size = sizeof s.info;
    s.text = malloc(TEXT_BYTES);
    if (!s.text) _exit(2);
    scenarios[number].run();
    _exit(0);
  }
  int status = 0;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  print_error("%s: %s%s%s\n", scenarios[number].name, shared->failure, WIFSIGNALED(status) ? ": " : "",
              WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
  return false;
}

/* The names of the functions that were measured, each between spaces. */
static char measured_names[8192] = " ";

static void calls_take_little(void **unused) {
  (void)unused;
  if (test_sanitized()) skip();
  int failures = 0;
  for (int i = 0; i < SCENARIOS; i++) {
    if (!run_scenario(i, LARGE, true)) failures++;
    for (int j = 0; j < shared->count; j++) {
      const char *name = shared->call[j].name;
      const size_t used = shared->call[j].used, length = strcspn(name, ",");
      printf("%6zu bytes: %s (%s)\n", used, name, scenarios[i].name);
      if (used > MOST) {
        print_error("%s: %s takes %zu bytes of the stack\n", scenarios[i].name, name, used);
        failures++;
      }
      const size_t end = strlen(measured_names);
      if (end + length + 2 < sizeof measured_names) {
        snprintf(measured_names + end, sizeof measured_names - end, "%.*s ", (int)length, name);
      }
    }
  }
  assert_int_equal(failures, 0);
}

/* Every function that the header declares. */
static void all_calls_are_measured(void **unused) {
  (void)unused;
  if (test_sanitized()) skip();
  FILE *file = fopen(TEST_HEADER, "r");
  assert_non_null(file);
  char line[512];
  int count = 0, missing = 0;
  while (fgets(line, sizeof line, file)) {
    char *open = strchr(line, '(');
    if (strncmp(line, "CUTT_API ", 9) != 0 || !open) continue;
    *open = 0;
    char *name = open;
    while (name > line && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
    char word[sizeof line + 2];
    snprintf(word, sizeof word, " %s ", name);
    count++;
    if (strstr(measured_names, word)) continue;
    print_error("%s is not measured\n", name);
    missing++;
  }
  fclose(file);
  assert_true(count > 20);
  assert_int_equal(missing, 0);
}

static void small_stacks_are_enough(void **unused) {
  (void)unused;
  if (test_sanitized()) skip();
  const size_t sizes[] = {stack_smallest() + MOST, 48 * 1024, 64 * 1024, 96 * 1024};
  int failures = 0;
  for (int i = 0; i < SCENARIOS; i++) {
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
      if (sizes[j] >= sizes[0] && !run_scenario(i, sizes[j], false)) failures++;
    }
  }
  assert_int_equal(failures, 0);
}

int main(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char folder[] = "/tmp/cutt-stack-XXXXXX";
  if (shared == MAP_FAILED || !mkdtemp(folder)) return 1;
  snprintf(s.path, sizeof s.path, "%s/wisdom", folder);
  snprintf(s.device_path, sizeof s.device_path, "%s/cpu.device", folder);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_take_little),
      cmocka_unit_test(all_calls_are_measured),
      cmocka_unit_test(small_stacks_are_enough),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(s.path);
  unlink(s.device_path);
  rmdir(folder);
  return failed;
}
