/* The kernels' language (src/runtime/cuda/kernels/device.h) under the emulator: a kernel compiled as C is a function that one
 * fiber per thread runs. Every access to memory and every meeting of threads is a call that carries its site (a number of
 * its own for each place in the source, by which the accesses of a warp's lanes find each other) and the function's name
 * (for messages). What the calls check and count is in simt.c and counts.c; how a launch is asked for in launch.h. */
#ifndef CUTT_TESTS_SIMT_H
#define CUTT_TESTS_SIMT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define KERNEL(name, threads, blocks)                                                                                  \
  extern const uint32_t name##_most_threads;                                                                           \
  const uint32_t name##_most_threads = (threads);                                                                      \
  void name
#define DEVICE static inline __attribute__((unused))
#define CONSTANT(type) const type
#define UNROLL(n)

/* Where in the launch the calling thread is. */
typedef struct simt_position {
  uint32_t thread, threads, block;
  bool async, bulk;
  uint32_t cycles; /* its clock: a cycle for each time that it is read */
} simt_position;
extern simt_position simt_now;

DEVICE uint32_t thread_index(void) { return simt_now.thread; }
DEVICE uint32_t thread_count(void) { return simt_now.threads; }
DEVICE uint32_t block_index(void) { return simt_now.block; }
DEVICE bool has_async(void) { return simt_now.async; }
DEVICE bool has_bulk(void) { return simt_now.bulk; }
DEVICE uint32_t cycle_count(void) { return simt_now.cycles++; }

/* ------------------------------------------------------------------------------------------- memory and meetings */

#define SIMT_SITE __COUNTER__, __func__

#define SIMT_MEMORY(bytes, type)                                                                                       \
  type simt_global_load##bytes(unsigned site, const char *function, const void *p);                                    \
  void simt_global_store##bytes(unsigned site, const char *function, void *p, type v);                                 \
  type simt_shared_load##bytes(unsigned site, const char *function, uint32_t at);                                      \
  void simt_shared_store##bytes(unsigned site, const char *function, uint32_t at, type v);
SIMT_MEMORY(1, uint8_t)
SIMT_MEMORY(2, uint16_t)
SIMT_MEMORY(4, uint32_t)
SIMT_MEMORY(8, word2)
SIMT_MEMORY(16, word4)
#undef SIMT_MEMORY

#define global_load1(...) simt_global_load1(SIMT_SITE, __VA_ARGS__)
#define global_load2(...) simt_global_load2(SIMT_SITE, __VA_ARGS__)
#define global_load4(...) simt_global_load4(SIMT_SITE, __VA_ARGS__)
#define global_load8(...) simt_global_load8(SIMT_SITE, __VA_ARGS__)
#define global_load16(...) simt_global_load16(SIMT_SITE, __VA_ARGS__)
#define global_load16_if(there, p, v) ((there) ? global_load16(p) : (v))
#define global_store1(...) simt_global_store1(SIMT_SITE, __VA_ARGS__)
#define global_store2(...) simt_global_store2(SIMT_SITE, __VA_ARGS__)
#define global_store4(...) simt_global_store4(SIMT_SITE, __VA_ARGS__)
#define global_store8(...) simt_global_store8(SIMT_SITE, __VA_ARGS__)
#define global_store16(...) simt_global_store16(SIMT_SITE, __VA_ARGS__)
#define shared_load1(...) simt_shared_load1(SIMT_SITE, __VA_ARGS__)
#define shared_load2(...) simt_shared_load2(SIMT_SITE, __VA_ARGS__)
#define shared_load4(...) simt_shared_load4(SIMT_SITE, __VA_ARGS__)
#define shared_load8(...) simt_shared_load8(SIMT_SITE, __VA_ARGS__)
#define shared_load16(...) simt_shared_load16(SIMT_SITE, __VA_ARGS__)
#define shared_store1(...) simt_shared_store1(SIMT_SITE, __VA_ARGS__)
#define shared_store2(...) simt_shared_store2(SIMT_SITE, __VA_ARGS__)
#define shared_store4(...) simt_shared_store4(SIMT_SITE, __VA_ARGS__)
#define shared_store8(...) simt_shared_store8(SIMT_SITE, __VA_ARGS__)
#define shared_store16(...) simt_shared_store16(SIMT_SITE, __VA_ARGS__)

#define global_load_line2(...) simt_global_load2(SIMT_SITE, __VA_ARGS__)
#define global_load_line4(...) simt_global_load4(SIMT_SITE, __VA_ARGS__)
#define global_load_line8(...) simt_global_load8(SIMT_SITE, __VA_ARGS__)
#define global_load_line16(...) simt_global_load16(SIMT_SITE, __VA_ARGS__)

DEVICE const unsigned char *simt_address(word2 v) {
  return (const unsigned char *)(uintptr_t)((uint64_t)v.y << 32 | v.x);
}
#define global_load_address(...) simt_address(global_load8(__VA_ARGS__))
DEVICE unsigned char *global_at(uint64_t address) { return (unsigned char *)(uintptr_t)address; }

/* near is a hint to a cache that the emulator does not have. */
void simt_async_copy(unsigned site, const char *function, uint32_t bytes, uint32_t at, const void *p, bool near);
void simt_async_copy_part(unsigned site, const char *function, uint32_t at, const void *p, uint32_t n);
void simt_async_commit(void);
void simt_async_wait(uint32_t pending);
#define async_copy4(...) simt_async_copy(SIMT_SITE, 4, __VA_ARGS__)
#define async_copy8(...) simt_async_copy(SIMT_SITE, 8, __VA_ARGS__)
#define async_copy16(...) simt_async_copy(SIMT_SITE, 16, __VA_ARGS__)
#define async_copy4_part(...) simt_async_copy_part(SIMT_SITE, __VA_ARGS__)
#define async_copy16_line(at, p) simt_async_copy(SIMT_SITE, 16, at, p, false)
#define async_copy16_if(there, ...)                                                                                    \
  do {                                                                                                                 \
    if (there) simt_async_copy(SIMT_SITE, 16, __VA_ARGS__, false);                                                     \
  } while (0)
/* Counted as nothing: no lane of a warp loads or stores. A thread's own wait is what its copies land at, and others see them behind the
 * barrier that follows. */
void simt_bulk_copy(const char *function, uint32_t at, uint32_t to, const void *p, uint32_t bytes);
#define bulk_begin(at) shared_store8(at, ((word2){0, 0}))
#define bulk_copy(...) simt_bulk_copy(__func__, __VA_ARGS__)
#define bulk_commit(at) ((void)(at), simt_async_commit())
#define bulk_wait(at, odd) ((void)(at), (void)(odd), simt_async_wait(0))
#define bulk_after_stores() ((void)0)
#define async_commit() simt_async_commit()
#define async_wait(pending) simt_async_wait(pending)

void simt_wait_for_earlier(void);
#define wait_for_earlier(next) ((void)(next), simt_wait_for_earlier())

void simt_turn(uint32_t number);
#define at_turn(n) simt_turn(n)
void simt_shared_may_be_blank(uint32_t from, uint32_t end);
#define shared_may_be_blank(from, end) simt_shared_may_be_blank(from, end)

void simt_barrier(unsigned site, const char *function);
uint32_t simt_shuffle_xor(unsigned site, const char *function, uint32_t v, uint32_t lanes);
uint32_t simt_ballot(unsigned site, const char *function, bool vote);
void simt_multiply_add_matrix(unsigned site, const char *function, double *sum, const double *a, double b);
#define barrier() simt_barrier(SIMT_SITE)
/* Of whole warps: the value of the lane whose number differs in the bits of lanes; a bit for each lane that votes. */
#define shuffle_xor(v, lanes) simt_shuffle_xor(SIMT_SITE, v, lanes)
#define ballot(vote) simt_ballot(SIMT_SITE, vote)
#define multiply_add_matrix(...) simt_multiply_add_matrix(SIMT_SITE, __VA_ARGS__)

/* ------------------------------------------------------------------------------------------------- arithmetic */

DEVICE uint32_t multiply_high(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
DEVICE float multiply_add_float(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE double multiply_add_double(double a, double b, double c) { return fma(a, b, c); }
DEVICE uint32_t rotate_left(uint32_t v, uint32_t bits) { return v << (bits & 31) | v >> (-bits & 31); }
DEVICE uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t which) {
  const uint64_t both = (uint64_t)b << 32 | a;
  uint32_t v = 0;
  for (int i = 0; i < 4; ++i) v |= (uint32_t)(both >> (which >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return v;
}

DEVICE float bits_to_float(uint32_t v) {
  float f;
  memcpy(&f, &v, sizeof f);
  return f;
}
DEVICE uint32_t float_to_bits(float f) {
  uint32_t v;
  memcpy(&v, &f, sizeof v);
  return v;
}
DEVICE double bits_to_double(word2 v) {
  const uint64_t bits = (uint64_t)v.y << 32 | v.x;
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}
DEVICE word2 double_to_bits(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  const word2 v = {(uint32_t)bits, (uint32_t)(bits >> 32)};
  return v;
}

DEVICE float half_to_float(uint16_t v) {
  const uint32_t sign = (uint32_t)(v & 0x8000u) << 16, exponent = v >> 10 & 0x1fu, fraction = v & 0x3ffu;
  if (exponent == 0x1f) return bits_to_float(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) return bits_to_float(sign | float_to_bits((float)fraction * 0x1p-24f));
  return bits_to_float(sign | (exponent + 112) << 23 | fraction << 13);
}
DEVICE uint16_t float_to_half(float f) {
  const uint32_t bits = float_to_bits(f), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* halfway from the largest to 2^16, and beyond */
  /* Below the normal halves the sum's last bit is 2^-24, so that the addition rounds. */
  if (magnitude < 0x38800000u) return (uint16_t)(sign | (float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000u));
  return (uint16_t)(sign | (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13);
}
DEVICE float bfloat_to_float(uint16_t v) { return bits_to_float((uint32_t)v << 16); }
DEVICE uint16_t float_to_bfloat(float f) {
  const uint32_t bits = float_to_bits(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u); /* a NaN stays one */
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#endif
