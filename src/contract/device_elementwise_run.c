/* Preparing and starting an elementwise operation on a GPU (device_elementwise.h). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/device_elementwise.h"
#include "contract/rates.h"
#include "gpu/kernels/combine_list.h"
#include "plan/services.h"

typedef struct cuttElementwiseStruct plan_t;

#define NARROW_IMAGE(name) "combine",
#define WIDE_IMAGE(name) "combine_wide",
#define LINE_IMAGE(name) "combine_line",
#define NAME(name) "cutt_" #name,
static const char *const images[] = {CUTT_COMBINE_KERNELS(NARROW_IMAGE) CUTT_COMBINE_WIDE_KERNELS(WIDE_IMAGE)
                                         CUTT_COMBINE_LINE_KERNELS(LINE_IMAGE)};
static const char *const names[] = {CUTT_COMBINE_KERNELS(NAME) CUTT_COMBINE_WIDE_KERNELS(NAME)
                                        CUTT_COMBINE_LINE_KERNELS(NAME)};
static const cutt_kernel_list combine_kernels = {(int)(sizeof names / sizeof *names), images, names};

static void set_scalar(const plan_t *p, int operand, cutt_combine_scalar *scalar) {
  const unsigned char *from = p->scale[operand];
  float single[2] = {0, 0};
  int32_t narrow = 0;
  switch (p->type->type) {
    case CUTT_I32:
      memcpy(&narrow, from, sizeof narrow);
      scalar->whole = narrow;
      break;
    case CUTT_I64:
      memcpy(&scalar->whole, from, sizeof scalar->whole);
      break;
    case CUTT_F64:
    case CUTT_C64:
      memcpy(scalar->number, from, (size_t)p->type->scalar_bytes);
      break;
    default:
      memcpy(single, from, (size_t)p->type->scalar_bytes);
      scalar->number[0] = (double)single[0];
      scalar->number[1] = (double)single[1];
  }
  scalar->mixed = scalar->number[1] != 0 || scalar->number[1] != scalar->number[1];
}

/* What a launch computes. */
static void set_numbers(const plan_t *p, cutt_combine_args *args) {
  args->three = p->operands == 3;
  for (int i = 0; i < 2; ++i) args->op[i] = (uint32_t)p->op[i];
  for (int k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
    args->scaled[k] = p->scaled[k];
    args->flip[k] = p->conjugate[k] ? UINT32_C(1) << 31 : 0;
    if (p->scaled[k]) set_scalar(p, k, &args->scale[k]);
  }
  args->plain = 1;
  for (int k = 0; k < p->operands; ++k)
    if (args->use[k] != CUTT_COMBINE_TURNED || p->scaled[k] || p->conjugate[k]) args->plain = 0;
}

cuttResult cutt_device_elementwise_make(plan_t *p, const cutt_combine_device *on, const cutt_runtime *runtime) {
  cutt_device_elementwise *device = p->device = calloc(1, sizeof *device);
  if (!device) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *device);
  if (!cutt_device_elementwise_lay_out(p, on, false, &device->narrow))
    return cutt_error(CUTT_INVALID_PARAMETER, "the result has too many tiles for a GPU: 2^31 or more");
  device->has_wide = cutt_device_elementwise_lay_out(p, on, true, &device->wide);
  set_numbers(p, &device->narrow.args);
  if (device->has_wide) set_numbers(p, &device->wide.args);
  return runtime->kernels_find(&combine_kernels, &device->kernels);
}

cuttResult cutt_device_elementwise_prepare(plan_t *p) {
  const cutt_combine_device on = {.multiprocessors = cutt_device_property(p->backend, "sms"),
                                  .sm_shared = cutt_device_property(p->backend, "sm_shared"),
                                  .block_shared = cutt_device_property(p->backend, "block_shared")};
  const cuttResult result = cutt_device_elementwise_make(p, &on, p->backend->runtime);
  return result ? result : cutt_device_permuted_prepare(p, p->device->pass);
}

void cutt_device_elementwise_release(plan_t *p) {
  if (!p->device) return;
  for (int i = 0; i < 2; ++i) cuttPlanDestroy(p->device->pass[i].plan);
  free(p->device);
  p->device = NULL;
}

cuttResult cutt_device_elementwise_start(const plan_t *p, const cutt_runtime *runtime,
                                         void *const tensor[CUTT_MOST_TENSORS], cudaStream_t stream) {
  const cutt_device_elementwise *device = p->device;
  const unsigned char *at[CUTT_MOST_TENSORS];
  bool wide = device->has_wide, aligned = true;
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
    const int from = tensor[t] ? t : CUTT_RESULT; /* what is not read has some address */
    at[t] = (const unsigned char *)tensor[from] + p->origin[from];
    const int operand = t == CUTT_THIRD ? 2 : t;
    const bool single = t != CUTT_RESULT && device->wide.args.use[operand] == CUTT_COMBINE_SINGLE;
    if (!single && (uintptr_t)at[t] % 16) wide = aligned = false;
  }
  /* Where addresses are not aligned, kernels of permutations access elements one by one, and those of tiles windows. */
  const bool windows = device->narrow.args.walk[1].window || device->narrow.args.walk[2].window;
  const bool tiles = !aligned && windows && p->type->bytes > 2 && !device->pass[1].plan;
  if (device->pass[0].plan && !tiles) return cutt_device_permuted_start(p, at, stream);
  const cutt_combine_launch *launch = wide ? &device->wide : &device->narrow;
  void *parameters[] = {(void *)&at[CUTT_LEFT], (void *)&at[CUTT_RESULT], (void *)(uintptr_t)&launch->args,
                        (void *)&at[CUTT_RIGHT], (void *)&at[CUTT_THIRD]};
  return runtime->launch(device->kernels, launch->kernel, &launch->grid, parameters, stream);
}

cuttResult cutt_device_elementwise_run(const plan_t *p, void *const tensor[CUTT_MOST_TENSORS], cudaStream_t stream) {
  return cutt_device_elementwise_start(p, p->backend->runtime, tensor, stream);
}
