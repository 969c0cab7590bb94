/* A small caller of cutt.h, compiled once as C99 and once as C++ (header_c99.c, header_cxx.cc): every macro is expanded,
 * every type named, and both interfaces used. TEST_HEADER names the function (by the build); it returns 0 when all is well. */

/* cuttOptions_t as it is laid out whether or not CUTT_EXPERIMENTAL is defined. */
typedef struct options_layout {
  size_t struct_size;
  cuttBackend_t backend;
  int threads;
  cuttChoice_t choice;
  double measure_seconds;
  const void *measure_in;
  void *measure_out;
  cuttWisdom_t wisdom;
  cudaStream_t measure_stream;
  int experimental[2];
  const char *device;
  int trust_pointers;
} options_layout;

int TEST_HEADER(void) {
  int dim[2] = {2, 3};
  int swapped[2] = {1, 0};
  const int64_t extents[2] = {2, 3};
  float in[6] = {0, 1, 2, 3, 4, 5}, out[6] = {9, 9, 9, 9, 9, 9};
  const float alpha = 2.0f;
  cuttHandle handle = 0;
  cudaStream_t stream = 0;
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan = NULL;
  cuttPlanInfo_t info;
  cuttWisdom_t wisdom = NULL;
  size_t needed = 0;
  void *memory = NULL;
  double seconds = -1;

  if (cuttPlan(&handle, 2, dim, swapped, sizeof(float), stream) != CUTT_SUCCESS) return 1;
  if (cuttExecute(handle, in, out) != CUTT_SUCCESS) return 2;
  if (cuttDestroy(handle) != CUTT_SUCCESS) return 3;
  if (out[0] != 0 || out[1] != 2 || out[2] != 4 || out[3] != 1 || out[4] != 3 || out[5] != 5) return 4;

  problem.rank = 2;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = swapped;
  problem.alpha = &alpha;
  options.backend = CUTT_BACKEND_CPU;
  options.choice = CUTT_PREDICT;
  if (cuttPlanCreate(&plan, &problem, &options) != CUTT_SUCCESS) return 5;
  if (cuttPlanExecute(plan, in, out, NULL) != CUTT_SUCCESS) return 6;
  if (out[1] != 4 || out[5] != 10) return 7;
  info.struct_size = sizeof info;
  if (cuttPlanGetInfo(plan, &info) != CUTT_SUCCESS || info.backend != CUTT_BACKEND_CPU) return 8;
  if (cuttPlanDescribe(plan, CUTT_TEXT, NULL, 0, &needed) != CUTT_SUCCESS || needed == 0) return 9;
  if (cuttPlanDestroy(plan) != CUTT_SUCCESS) return 10;
  if (cuttDevicesDescribe(CUTT_JSON, NULL, 0, &needed) != CUTT_SUCCESS || needed == 0) return 11;
  if (cuttWisdomCreate(&wisdom) != CUTT_SUCCESS || cuttWisdomDestroy(wisdom) != CUTT_SUCCESS) return 12;
  if (cuttPermute(&problem, NULL, in, out, 0) != CUTT_SUCCESS) return 13;
  if (cuttMemoryAllocate(CUTT_BACKEND_CPU, sizeof in, &memory) != CUTT_SUCCESS) return 14;
  if (cuttMemoryCopy(CUTT_BACKEND_CPU, memory, in, sizeof in) != CUTT_SUCCESS) return 15;
  if (cuttCopyTime(CUTT_BACKEND_CPU, out, memory, sizeof in, stream, 1, &seconds) != CUTT_SUCCESS) return 16;
  if (out[5] != 5 || cuttMemoryFree(CUTT_BACKEND_CPU, memory) != CUTT_SUCCESS) return 17;
  options.measure_stream = stream;
  if (cuttPlanCreate(&plan, &problem, &options) != CUTT_SUCCESS) return 18;
  if (cuttPlanTime(plan, in, out, stream, 1, &seconds) != CUTT_SUCCESS || seconds < 0) return 19;
  if (cuttPlanDestroy(plan) != CUTT_SUCCESS || CUTT_BACKEND_CUDA == CUTT_BACKEND_CPU) return 20;
  {
    cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
    cuttContractionOptions_t contraction_options = CUTT_CONTRACTION_OPTIONS_INIT;
    cuttContractionPlan_t contraction_plan = NULL;
    cuttContractionInfo_t contraction_info;
    contraction_info.struct_size = sizeof contraction_info;
    contraction.pattern = "ab,bc->ac";
    contraction_options.workspace_limit = CUTT_NO_LIMIT;
    if (cuttContractionPlanCreate(&contraction_plan, &contraction, &contraction_options) == CUTT_SUCCESS) return 21;
    if (cuttContractionGetInfo(contraction_plan, &contraction_info) != CUTT_INVALID_PLAN) return 22;
    if (cuttContractionPlanDestroy(contraction_plan) != CUTT_SUCCESS) return 23;
    if (cuttContractionDestroy(contraction_plan) != CUTT_SUCCESS) return 24;
  }
  {
    cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
    cuttDistProblem_t redistribution = CUTT_DIST_PROBLEM_INIT;
    cuttDistOptions_t dist_options = CUTT_DIST_OPTIONS_INIT;
    cuttDistPlan_t dist_plan = NULL;
    cuttDistComm_t comm = NULL;
    int64_t count = -1;
    layout.modes = 2;
    layout.extents = extents;
    redistribution.type = CUTT_F32;
    redistribution.from = redistribution.to = &layout;
    dist_options.direct = CUTT_DIST_DIRECT_NEVER;
    if (cuttDistLocalCount(&layout, 0, &count) != CUTT_SUCCESS || count != 6) return 32;
    if (cuttDistCommThreads(1, &comm) != CUTT_SUCCESS) return 33;
    if (cuttDistPlanCreate(&dist_plan, comm, &redistribution, &dist_options) != CUTT_SUCCESS) return 34;
    if (cuttDistPlanExecute(dist_plan, in, out, stream) != CUTT_SUCCESS || out[5] != 5) return 35;
    if (cuttDistPlanDestroy(dist_plan) != CUTT_SUCCESS || cuttDistCommDestroy(comm) != CUTT_SUCCESS) return 36;
  }
  if (sizeof(cuttOptions_t) != sizeof(options_layout)) return 25;
  if (offsetof(cuttOptions_t, device) != offsetof(options_layout, device)) return 26;
  {
    enum cuttResult_t by_tag = CUTT_SUCCESS;
    const cuttResult_t by_name = by_tag;
    const cuttResult first_name = by_name;
    if (first_name != CUTT_SUCCESS) return 27;
  }
#ifdef CUTT_EXPERIMENTAL
  {
    cuttCalibration_t calibration = CUTT_CALIBRATION_INIT;
    options.candidate = 1;
    options.model = CUTT_MODEL;
    if (cuttPlanCreate(&plan, &problem, &options) != CUTT_SUCCESS) return 28;
    if (cuttPlanDraw(plan, CUTT_DRAW_TEXT, NULL, 0, &needed) != CUTT_SUCCESS || needed == 0) return 29;
    if (cuttPlanDestroy(plan) != CUTT_SUCCESS) return 30;
    calibration.seconds = -1;
    if (cuttCalibrate(&calibration, CUTT_TEXT, NULL, 0, &needed) != CUTT_INVALID_PARAMETER) return 31;
  }
#endif
  return 0;
}
