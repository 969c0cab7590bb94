/* The language that the kernels are written in: the part of CUDA C that is also C.
 *
 * Under nvcc these names are CUDA's own; elsewhere they come from the test emulator (tests/simt/simt.h, on the include
 * path of the tests alone), which runs the same files on a machine without a GPU and counts what they do. So a kernel
 * touches memory only through the functions below: global memory by pointer, shared memory by its byte offset in the
 * block's dynamic shared memory.
 *
 *   KERNEL(name, threads, blocks)(parameters)  a kernel, its largest block, and the blocks that must fit on an SM
 *   DEVICE type f(...)                         a function of a kernel
 *   CONSTANT(type)                             the type of a parameter that is a struct, read in place
 *   UNROLL(n)                                  before a loop
 *   thread_index() thread_count() block_index()
 *   cycle_count()                              the SM's clock, modulo 2^32; accesses to memory stay on their side of it
 *   barrier()                                  of all threads of a block
 *   shuffle_xor(v, lanes)                      of whole warps: v of the thread whose lane differs in these bits
 *   global_load1..16(p) global_store1..16(p, v)  naturally aligned; the number is the bytes
 *   global_load16_if(there, p, v)              the same of 16 bytes where `there`, else v: without a branch, which would have each of several
 *                                              loads waited for
 *   global_load_line2..16(p)                   the rest of its line of 128 bytes will be wanted soon: L2 may fetch it
 *   global_load_address(p)                     the address in global memory that lies there, in 8 bytes
 *   global_at(address)                         a pointer to global memory from a number
 *   shared_load1..16(at) shared_store1..16(at, v)
 *   at_turn(n)                                 nothing, but to the emulator: which turn of a loop it is, from 1, whose
 *                                              accesses some lanes leave out; 0 before the loop and behind it
 *   shared_may_be_blank(from, end)             nothing, but to the emulator: what lies there may be loaded though nothing has been
 *                                              written to it, and is then not in use
 *   multiply_high(a, b)                        the upper 32 bits of a 32 x 32 bit product
 *   multiply_add_float, multiply_add_double(a, b, c)   a b + c, rounded once
 *   rotate_left(v, bits)                       of 32 bits; bits modulo 32
 *   permute_bytes(a, b, which)                 four of the eight bytes of a (0 to 3) and b (4 to 7), a digit of which for each
 *   half_to_float, float_to_half, bfloat_to_float, float_to_bfloat   rounding to nearest even
 *
 * What not every generation of GPUs has is in headers of its own: a source that does not include them is compiled once for several
 * generations (cmake/CuttCuda.cmake). */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_DEVICE_H
#define CUTT_RUNTIME_CUDA_KERNELS_DEVICE_H

#if defined(__CUDACC_RTC__) || !defined(__CUDACC__)
#include <stdint.h>
#else
#include <cstdint>
#endif

/* 8 and 16 bytes that are moved as one. */
typedef struct __attribute__((aligned(8))) word2 {
  uint32_t x, y;
} word2;
typedef struct __attribute__((aligned(16))) word4 {
  uint32_t x, y, z, w;
} word4;

#if defined(__CUDACC__)

#define KERNEL(name, threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks) name
#define DEVICE static __device__ __forceinline__
#define CONSTANT(type) const __grid_constant__ type
#define PRAGMA_TEXT(text) _Pragma(#text)
#define UNROLL(n) PRAGMA_TEXT(unroll n)

#define at_turn(n) ((void)0)
#define shared_may_be_blank(from, end) ((void)0)

extern __shared__ word4 cutt_shared_memory[];

DEVICE uint32_t thread_index(void) { return threadIdx.x; }
DEVICE uint32_t thread_count(void) { return blockDim.x; }
DEVICE uint32_t block_index(void) { return blockIdx.x; }
DEVICE void barrier(void) { __syncthreads(); }
DEVICE uint32_t shuffle_xor(uint32_t v, uint32_t lanes) { return __shfl_xor_sync(0xffffffffu, v, (int)lanes); }
DEVICE uint32_t cycle_count(void) {
  uint32_t cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
  return cycles;
}

#define DEVICE_MEMORY(bytes, type)                                                                                     \
  DEVICE type global_load##bytes(const void *p) { return *(const type *)p; }                                           \
  DEVICE void global_store##bytes(void *p, type v) { *(type *)p = v; }                                                 \
  DEVICE type shared_load##bytes(uint32_t at) { return *(const type *)((const char *)cutt_shared_memory + at); }       \
  DEVICE void shared_store##bytes(uint32_t at, type v) { *(type *)((char *)cutt_shared_memory + at) = v; }
DEVICE_MEMORY(1, uint8_t)
DEVICE_MEMORY(2, uint16_t)
DEVICE_MEMORY(4, uint32_t)
DEVICE_MEMORY(8, word2)
DEVICE_MEMORY(16, word4)
#undef DEVICE_MEMORY

DEVICE word4 global_load16_if(bool there, const void *p, word4 v) {
  asm volatile("{\n .reg .pred there;\n setp.ne.u32 there, %5, 0;\n @there ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
               : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
               : "l"(p), "r"((uint32_t)there)
               : "memory");
  return v;
}

#if __CUDA_ARCH__ >= 750
DEVICE uint16_t global_load_line2(const void *p) {
  uint16_t v;
  asm volatile("ld.global.L2::128B.u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory");
  return v;
}
DEVICE uint32_t global_load_line4(const void *p) {
  uint32_t v;
  asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
DEVICE word2 global_load_line8(const void *p) {
  word2 v;
  asm volatile("ld.global.L2::128B.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p) : "memory");
  return v;
}
DEVICE word4 global_load_line16(const void *p) {
  word4 v;
  asm volatile("ld.global.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p)
               : "memory");
  return v;
}
#else
DEVICE uint16_t global_load_line2(const void *p) { return global_load2(p); }
DEVICE uint32_t global_load_line4(const void *p) { return global_load4(p); }
DEVICE word2 global_load_line8(const void *p) { return global_load8(p); }
DEVICE word4 global_load_line16(const void *p) { return global_load16(p); }
#endif

/* By itself, since the compiler does not know where the address leads, and may load it once for each use of it. */
DEVICE const unsigned char *global_load_address(const void *p) {
  const unsigned char *address;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(address) : "l"(p) : "memory");
  return address;
}

/* Of a pointer that is made in any other way, the compiler does not know that it is of global memory. */
DEVICE unsigned char *global_at(uint64_t address) { return (unsigned char *)__cvta_global_to_generic(address); }

DEVICE uint32_t multiply_high(uint32_t a, uint32_t b) { return __umulhi(a, b); }
DEVICE float multiply_add_float(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEVICE double multiply_add_double(double a, double b, double c) { return __fma_rn(a, b, c); }
DEVICE uint32_t rotate_left(uint32_t v, uint32_t bits) { return __funnelshift_l(v, v, bits); }
DEVICE uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t which) { return __byte_perm(a, b, which); }

DEVICE float half_to_float(uint16_t v) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v));
  return f;
}
DEVICE uint16_t float_to_half(float f) {
  uint16_t v;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(v) : "f"(f));
  return v;
}
DEVICE float bfloat_to_float(uint16_t v) { return __uint_as_float((uint32_t)v << 16); }
DEVICE uint16_t float_to_bfloat(float f) {
  const uint32_t bits = __float_as_uint(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u); /* a NaN stays one */
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

DEVICE float bits_to_float(uint32_t v) { return __uint_as_float(v); }
DEVICE uint32_t float_to_bits(float f) { return __float_as_uint(f); }
DEVICE double bits_to_double(word2 v) { return __hiloint2double((int)v.y, (int)v.x); }
DEVICE word2 double_to_bits(double d) {
  const word2 v = {(uint32_t)__double2loint(d), (uint32_t)__double2hiint(d)};
  return v;
}

#else
#include "simt/simt.h"
#endif

#endif
