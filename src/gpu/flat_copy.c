/* From runs that go from global to global memory to the parameters of a kernel of flat_copy.cu or flat_step.cu (flat_copy.h). */
#include "gpu/flat_copy.h"

#include "base/number.h"
#include "gpu/divisor.h"

/* With alpha, op and beta: for an element, or a word of narrow ones, for 16 bytes, and for a narrow one alone. */
static cutt_kernel sum_kernel(cuttType_t type, uint32_t width) {
#define OF_TYPE(type)                                                                                                  \
  { CUTT_KERNEL_flat_sum_##type, CUTT_KERNEL_flat_sum_##type##v, CUTT_KERNEL_flat_sum_##type }
#define OF_NARROW(type)                                                                                                \
  { CUTT_KERNEL_flat_sum_##type, CUTT_KERNEL_flat_sum_##type##v, CUTT_KERNEL_flat_sum_##type##s }
  static const cutt_kernel kernels[][3] = {
      [0] = OF_NARROW(f16),
      [CUTT_BF16 - CUTT_F16] = OF_NARROW(bf16),
      [CUTT_F32 - CUTT_F16] = OF_TYPE(f32),
      [CUTT_F64 - CUTT_F16] = OF_TYPE(f64),
      [CUTT_C32 - CUTT_F16] = OF_TYPE(c32),
      [CUTT_C64 - CUTT_F16] = {CUTT_KERNEL_flat_sum_c64v, CUTT_KERNEL_flat_sum_c64v, CUTT_KERNEL_flat_sum_c64v},
      [CUTT_I32 - CUTT_F16] = OF_TYPE(i32),
      [CUTT_I64 - CUTT_F16] = OF_TYPE(i64)};
#undef OF_TYPE
#undef OF_NARROW
  return kernels[type - CUTT_F16][width >= 16 ? 1 : width < 4 ? 2 : 0];
}

/* Pieces of a run of so many accesses, of a warp each, which makes up to *each times as many as it has lanes: 0 where more than an
 * eighth of the lanes would be left over. *each is made to fit. */
static uint32_t pieces_of(uint32_t run, uint32_t *each) {
  for (uint32_t times = *each; times > 0 && times * 2 >= *each; --times) {
    const uint32_t most = times * CUTT_FLAT_LANES, pieces = (run + most - 1) / most;
    if ((uint64_t)pieces * most * 7 > (uint64_t)run * 8) continue;
    *each = times;
    return pieces;
  }
  return 0;
}

/* Of runs with gaps an access is an element; of those that are backwards, or of one element, 16 bytes, or 4, where these divide all
 * runs of the output and their beginnings, and in the former case those of the input. 0: elements are not aligned. */
static uint32_t step_width(const cutt_canonical *c, const cutt_gpu_access *access, int64_t run_bytes) {
  const cutt_mode *mode = cutt_gpu_run_mode(c);
  const uint32_t w = (uint32_t)c->elem_bytes, both = smaller(access->in_align, access->out_align);
  if (both < w) return 0;
  if (mode->out_stride != 1 || (mode->in_stride != 0 && mode->in_stride != -1)) return w;
  const uint64_t align = mode->in_stride == 0 ? access->out_align : both;
  const uint32_t width = (uint32_t)cutt_gpu_power(align | (uint64_t)run_bytes);
  return width >= 16 ? 16 : width >= 4 && w < 4 ? 4 : w;
}

static cutt_kernel step_kernel(const cutt_canonical *c, uint32_t width) {
  static const cutt_kernel steps[] = {CUTT_KERNEL_flat_step_1, CUTT_KERNEL_flat_step_2, CUTT_KERNEL_flat_step_4,
                                      CUTT_KERNEL_flat_step_8, CUTT_KERNEL_flat_step_16};
  static const cutt_kernel words[] = {CUTT_KERNEL_flat_fill_1, CUTT_KERNEL_flat_fill_2};
  static const cutt_kernel vectors[] = {CUTT_KERNEL_flat_fill_1v, CUTT_KERNEL_flat_fill_2v, CUTT_KERNEL_flat_fill_4v,
                                        CUTT_KERNEL_flat_fill_8v};
  const int element = __builtin_ctz((uint32_t)c->elem_bytes);
  if (width == (uint32_t)c->elem_bytes) return steps[element];
  if (cutt_gpu_run_mode(c)->in_stride == 0) return width == 16 ? vectors[element] : words[element];
  return width == 16 ? CUTT_KERNEL_flat_back_16 : CUTT_KERNEL_flat_back_4;
}

static uint32_t turn_of(uint32_t w) {
  return w == 1 ? CUTT_FLAT_TURN_1 : w == 2 ? CUTT_FLAT_TURN_2 : w == 4 ? CUTT_FLAT_TURN_4 : CUTT_FLAT_TURN_8;
}

bool cutt_gpu_flat_copy_choose(const cutt_canonical *c, const cutt_gpu_access *access, uint32_t threads,
                               cutt_gpu_flat *f) {
  static const cutt_kernel plain[] = {CUTT_KERNEL_flat_copy_1, CUTT_KERNEL_flat_copy_2, CUTT_KERNEL_flat_copy_4,
                                      CUTT_KERNEL_flat_copy_8, CUTT_KERNEL_flat_copy_16};
  enum { FEW = 256 }; /* blocks, with which some SMs have nothing to do: then a thread has fewer accesses */
  const cutt_mode *mode = cutt_gpu_run_mode(c);
  const int64_t run_bytes = mode->extent * c->elem_bytes, bytes = c->volume * c->elem_bytes;
  const bool plain_runs = cutt_gpu_plain_runs(c);
  uint32_t width = plain_runs ? (uint32_t)cutt_gpu_power(access->in_align | access->out_align | (uint64_t)run_bytes)
                              : step_width(c, access, run_bytes);
  if (width == 0) return false;
  if (c->scale.active && width < 16) width = smaller(width, larger(4, (uint32_t)c->base_bytes));
  if ((c->scale.active && width < (uint32_t)c->base_bytes) || bytes / width > INT32_MAX) return false;
  const uint32_t accesses = (uint32_t)(bytes / width);
  uint32_t each = width <= 4 ? CUTT_FLAT_NARROW : CUTT_FLAT_COPIES;
  while (each > 1 && accesses < each * threads * FEW) each /= 2;
  const uint32_t run = (uint32_t)(run_bytes / width), pieces = pieces_of(run, &each);
  *f = (cutt_gpu_flat){.kernel = c->scale.active ? sum_kernel(c->scale.type, width)
                                 : plain_runs    ? plain[__builtin_ctz(width)]
                                                 : step_kernel(c, width),
                       .load = width,
                       .store = width,
                       .group = 1,
                       .copies = accesses,
                       .each = each,
                       .run = run,
                       .pieces = accesses / run * pieces,
                       .run_in = (int32_t)(mode->in_stride * (int64_t)width),
                       .run_out = (int32_t)(mode->out_stride * (int64_t)width)};
  if (width > (uint32_t)c->elem_bytes && mode->in_stride < 0) { /* an access has the elements from its last one on */
    f->in_first = c->elem_bytes - (int32_t)width;
    f->turn = turn_of((uint32_t)c->elem_bytes);
  }
  return true;
}

void cutt_gpu_flat_copy_fill(const cutt_canonical *c, const cutt_gpu_flat *f, cutt_flat_args *args) {
  const bool pieces = f->pieces > 0;
  args->rows = pieces ? f->pieces : f->copies;
  args->each = f->each;
  args->run = pieces ? f->run : 0;
  args->run_in = f->run_in;
  args->run_out = f->run_out;
  args->turn = f->turn;
  args->loads.along = cutt_divide_by(pieces ? f->pieces / (f->copies / f->run) : f->run);
  for (int i = 0; i < CUTT_FLAT_GRID; ++i) args->grid[i] = (cutt_flat_digit){.extent = {1, 1, 0}}; /* none */
  for (int i = 1; i < c->rank; ++i) {
    const cutt_mode *mode = &c->mode[c->out_order[i]];
    args->grid[args->grid_modes++] = (cutt_flat_digit){.extent = cutt_divide_by((uint32_t)mode->extent),
                                                       .in = (int32_t)(mode->in_stride * c->elem_bytes),
                                                       .out = (int32_t)(mode->out_stride * c->elem_bytes)};
  }
}
