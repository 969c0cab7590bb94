/* See driver.h. Nothing is ever unloaded: a process that has used the driver can't do without it. */
#include "gpu/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

gpu_driver gpu;

static bool nothing(const char *why, const char *what) {
  printf("skipped: no GPU to test on: %s%s\n", why, what);
  return false;
}

static bool load(void *library, const char *symbol, void *member) {
  void *found = dlsym(library, symbol);
  memcpy(member, &found, sizeof found); /* ISO C can't convert it; copying the bits is POSIX's own advice */
  return found != NULL || nothing("the driver lacks ", symbol);
}

bool gpu_open(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nothing("libcuda.so.1 can't be loaded", "");
#define LOAD(member, symbol, parameters)                                                                               \
  if (!load(library, #symbol, &gpu.member)) return false;
  GPU_FUNCTIONS(LOAD)
#undef LOAD
  const char *text = "it does not say why";
  gpu_result result = gpu.init(0);
  if (!result) result = gpu.device_get(&gpu.device, 0);
  if (!result) result = gpu.primary_retain(&gpu.primary, gpu.device);
  if (!result) result = gpu.context_set(gpu.primary);
  if (result) {
    gpu.error_string(result, &text);
    return nothing("the driver refuses: ", text);
  }
  const int64_t extents[1] = {2};
  const int perm[1] = {0};
  const test_problem problem = test_packed(CUTT_BYTES_4, 1, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  cuttPlan_t plan;
  const cuttResult made = cuttPlanCreate(&plan, &view, &options);
  if (made == CUTT_INVALID_DEVICE) return nothing("", cuttLastError());
  cuttPlanDestroy(plan);
  return true; /* any other failure is for the tests to find */
}

void gpu_check_at(gpu_result result, const char *call, const char *file, int line) {
  if (!result) return;
  const char *text = NULL;
  gpu.error_string(result, &text);
  print_error("%s gave %d: %s\n", call, result, text ? text : "unknown");
  _fail(file, line);
}

gpu_address gpu_allocate(size_t bytes) {
  gpu_address memory = 0;
  gpu_check(gpu.allocate(&memory, bytes));
  return memory;
}

void gpu_release(gpu_address memory) { gpu_check(gpu.release(memory)); }

cuttPlan_t gpu_plan(const test_problem *problem) {
  const cuttProblem_t view = test_problem_view(problem);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  cuttPlan_t plan = NULL;
  assert_success(cuttPlanCreate(&plan, &view, &options));
  return plan;
}

size_t gpu_bytes(const test_problem *problem) { return (size_t)test_volume(problem) * test_type_bytes(problem->type); }
