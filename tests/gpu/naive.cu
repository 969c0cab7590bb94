/* The plain definition on the GPU (naive.h). Each kernel goes through all there is, in steps of the grid. */
#include "naive.h"

static __device__ int64_t thread() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ int64_t threads() { return (int64_t)gridDim.x * blockDim.x; }

extern "C" __global__ void naive_fill_both(const __grid_constant__ naive_problem p) {
  for (int64_t at = thread() * 16; at < p.in.bytes; at += threads() * 16) naive_fill16(&p, &p.in, at);
  for (int64_t at = thread() * 16; at < p.out.bytes; at += threads() * 16) naive_fill16(&p, &p.out, at);
}

extern "C" __global__ void naive_check_all(const __grid_constant__ naive_problem p, unsigned long long *found) {
  for (int64_t i = thread(); i < p.volume; i += threads()) {
    if (!naive_check(&p, (uint32_t)i)) atomicMin(found, (unsigned long long)i);
  }
}

extern "C" __global__ void naive_untouched_both(const __grid_constant__ naive_problem p, unsigned long long *found) {
  for (int64_t at = thread() * 16; at < p.out.bytes; at += threads() * 16) {
    if (!naive_untouched16(&p, &p.out, at)) atomicMin(found, (unsigned long long)(NAIVE_ELSEWHERE + at));
  }
  for (int64_t at = thread() * 16; at < p.in.bytes; at += threads() * 16) {
    if (!naive_untouched16(&p, &p.in, at)) atomicMin(found, (unsigned long long)(NAIVE_IN_INPUT + at));
  }
}
