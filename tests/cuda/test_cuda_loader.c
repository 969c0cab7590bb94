/* How the driver is found, and what is said when it isn't: one process for each case, since a process looks once.
 *   test_cuda_loader usable|unusable WORD...   with WORD... in what is said about the CUDA backend
 *   test_cuda_loader foreign                   a plan of the CPU where the program itself has brought the driver */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cutt.h"

static int failures;

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "loader: %s; last error: %s\n", what, cuttLastError());
  ++failures;
}

static cuttProblem_t problem(void) {
  static const int64_t extents[] = {3, 4};
  static const int perm[] = {1, 0};
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  p.rank = 2;
  p.type = CUTT_BYTES_4;
  p.extents = extents;
  p.perm = perm;
  return p;
}

static void check(int usable, char **words) {
  static char text[8192];
  expect(!cuttDevicesDescribe(CUTT_TEXT, text, sizeof text, NULL), "devices are not described");
  char *cpu = strstr(text, "\ncpu:");
  expect(cpu != NULL, "the CPU is not described");
  if (cpu) *cpu = 0;
  expect(!strstr(text, "cuda: usable") == !usable, text);
  for (; *words; ++words) {
    if (strstr(text, *words)) continue;
    fprintf(stderr, "loader: \"%s\" is not in what is said:\n%s\n", *words, text);
    ++failures;
  }
  const cuttProblem_t p = problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan = NULL;
  cuttPlanInfo_t info;
  info.struct_size = sizeof info;
  expect(!cuttPlanCreate(&plan, &p, &options) && !cuttPlanGetInfo(plan, &info), "there is no plan");
  expect(plan && info.backend == (usable ? CUTT_BACKEND_CUDA : CUTT_BACKEND_CPU), "the plan is for another backend");
  cuttPlanDestroy(plan);
  options.backend = CUTT_BACKEND_CUDA;
  const cuttResult result = cuttPlanCreate(&plan, &p, &options);
  expect(result == (usable ? CUTT_SUCCESS : CUTT_INVALID_DEVICE), "a plan for the GPU is not what it should be");
  cuttPlanDestroy(plan);
}

/* The driver comes into the process after the library, by the program's own hand, and knows an address. */
static void check_foreign(void) {
  const cuttProblem_t p = problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  float *in = malloc(48), *out = malloc(48);
  cuttPlan_t before = NULL, after = NULL;
  expect(in && out && !cuttPlanCreate(&before, &p, &options), "there is no plan");
  expect(!dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), "the driver was loaded for a plan of the CPU");
  memset(in, 1, 48);
  expect(!cuttPlanExecute(before, in, out, NULL), "the plan is not executed");
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  expect(driver != NULL, "there is no driver");
  if (!driver) return;
  int (*init)(unsigned) = NULL, (*retain)(void **, int) = NULL, (*push)(void *) = NULL;
  int (*allocate)(unsigned long long *, size_t) = NULL, (*release)(unsigned long long) = NULL;
  void *symbols[] = {dlsym(driver, "cuInit"), dlsym(driver, "cuDevicePrimaryCtxRetain"),
                     dlsym(driver, "cuCtxPushCurrent_v2"), dlsym(driver, "cuMemAlloc_v2"),
                     dlsym(driver, "cuMemFree_v2")};
  memcpy(&init, &symbols[0], sizeof init);
  memcpy(&retain, &symbols[1], sizeof retain);
  memcpy(&push, &symbols[2], sizeof push);
  memcpy(&allocate, &symbols[3], sizeof allocate);
  memcpy(&release, &symbols[4], sizeof release);
  /* Not initialised yet, it knows nothing, and that is no reason to refuse. */
  expect(!cuttPlanCreate(&after, &p, &options), "there is no second plan");
  expect(!cuttPlanExecute(after, in, out, NULL), "the second plan is not executed");
  void *context = NULL;
  unsigned long long memory = 0;
  expect(!init(0) && !retain(&context, 0) && !push(context) && !allocate(&memory, 48), "there is no device memory");
  expect(cuttPlanExecute(after, (void *)(uintptr_t)memory, out, NULL) == CUTT_INVALID_PARAMETER &&
             strstr(cuttLastError(), "in is") && strstr(cuttLastError(), "CUTT_BACKEND_CUDA"),
         "device memory is taken for the processor's");
  expect(cuttPlanExecute(before, in, (void *)(uintptr_t)memory, NULL) == CUTT_INVALID_PARAMETER,
         "device memory is taken for the processor's by the older plan");
  expect(!cuttPlanExecute(after, in, out, NULL), "the second plan is not executed any more");
  release(memory);
  cuttPlanDestroy(before);
  cuttPlanDestroy(after);
  free(in);
  free(out);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  if (!strcmp(argv[1], "foreign")) {
    check_foreign();
  } else {
    check(!strcmp(argv[1], "usable"), argv + 2);
  }
  if (!failures) printf("loader: as it should be\n");
  return failures != 0;
}
